"""The command `spotproof graph`: what it accepts, what it prints and how it ends."""

import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from spotproof_gke.cli import main
from tests.picture import stacks


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "state.json").write_text(json.dumps(stacks.SAFE), encoding="utf-8")
    return "state.json"


def test_svg_goes_to_standard_output(state: str, capsys) -> None:
    assert main(["graph", state]) == 0
    assert ElementTree.fromstring(capsys.readouterr().out).get("width") == "960"


def test_narrow_is_one_column(state: str, capsys) -> None:
    assert main(["graph", state, "--narrow"]) == 0
    assert ElementTree.fromstring(capsys.readouterr().out).get("width") == "380"


def test_mermaid(state: str, capsys) -> None:
    assert main(["graph", state, "--format", "mermaid"]) == 0
    assert capsys.readouterr().out.startswith("flowchart LR\n")


def test_a_file_is_written_and_its_content_told(state: str, tmp_path: Path, capsys) -> None:
    assert main(["graph", state, "--output", "stack.svg"]) == 0

    out = capsys.readouterr().out
    assert out.startswith("stack.svg: Stack live: 1 cluster with node pools (1 on-demand, 1 Spot)")
    ElementTree.fromstring((tmp_path / "stack.svg").read_text(encoding="utf-8"))


def test_json_has_what_the_picture_shows(state: str, capsys) -> None:
    assert main(["graph", state, "--json"]) == 0

    report = json.loads(capsys.readouterr().out)
    assert report["version"] == 1
    (cluster,) = report["clusters"]
    assert [lane["kind"] for lane in cluster["lanes"]] == ["on-demand", "Spot"]
    assert {each["name"]: each["verdict"] for each in report["buckets"]}["far"] == "mismatch"


def test_standard_input(state: str, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    content = json.dumps(stacks.plan(stacks.cluster(), stacks.pool("new"))).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    assert main(["graph", "-"]) == 0
    assert "as the preview plans it" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Missing argument"),
        (["nowhere.json"], "nowhere.json: No such file or directory; name a file"),
        (["state.json", "--format", "png"], "png"),
        (["state.json", "--format", "mermaid", "--narrow"], "--narrow is for SVG"),
        (["state.json", "--json", "--output", "x"], "leave --output and --narrow out"),
        (["state.json", "--output", "no/such/folder/x.svg"], "name a file that can be written"),
        (["broken.json"], "broken JSON"),
        (["other.json"], "neither a plan nor a state; expected what `pulumi preview --json`"),
        (["two.json"], "2 documents; expected one"),
    ],
)
def test_a_mistake_is_said_in_one_line(
    state: str, tmp_path: Path, arguments: list[str], words: str, capsys
) -> None:
    files: dict[str, Any] = {"broken.json": "{", "other.json": '{"a": 1}', "two.json": "{}{}"}
    for name, content in files.items():
        (tmp_path / name).write_text(content)

    assert main(["graph", *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("spotproof graph: ")
    assert err.count("\n") == 1
    assert words in err
