"""`spotproof cost` at the command line."""

import io
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from spotproof_gke.cli import main
from tests.cost import documents
from tests.cost.documents import cluster, pool, preview, state

POOL = pool("workers", "e2-standard-4", autoscaling={"totalMaxNodeCount": 4})


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(preview(cluster(), POOL)))
    return str(path)


def test_report_names_total_quotas_and_sources(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cost", file]) == 0

    out = capsys.readouterr().out
    assert "Estimate of plan.json (preview)" in out
    assert "Total: $73-$504 a month." in out
    assert "CPUS" in out
    assert "catalog (no date, old): https://" in out


def test_json_holds_what_the_text_says(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", file, "--json", "--nodes", "workers=2", "--hours-per-month", "365"]) == 0

    said = json.loads(capsys.readouterr().out)
    assert said["low"] == said["highOfKnown"] == 181
    assert said["unknownCount"] == 0
    assert {"quota": "CPUS", "region": "us-central1", "amount": 8.0}.items() <= next(
        each for each in said["quotas"] if each["quota"] == "CPUS"
    ).items()
    assert all(source["address"].startswith("https://") for source in said["priceSources"])


def test_plan_is_read_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = io.BytesIO(json.dumps(state(cluster())).encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(raw))

    assert main(["cost", "-"]) == 0
    assert "Estimate of standard input (state)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("", [], "0 documents; expected one, what `pulumi preview --json`"),
        ("{", [], "broken JSON (line 1, column 2; was it cut off?); expected what `pulumi preview"),
        ('{"kind": "List"}', [], "neither a plan nor a state; expected what `pulumi preview"),
        ('{"steps": []}', ["--nodes", "workers"], "--nodes 'workers': not a pool and a number"),
        ('{"steps": []}', ["--nodes", "workers=nan"], "--nodes 'workers=nan'"),
        ('{"steps": []}', ["--nodes", "workers=-1"], "--nodes 'workers=-1'"),
        ('{"steps": []}', ["--nodes", "a=1"], "the plan has no pool of this name; leave it out"),
        ('{"steps": []}', ["--region", "mars"], "is no known region"),
        ('{"steps": []}', ["--stored-gib", "inf"], "ordinary numbers"),
        ('{"steps": []}', ["--stack", "prod"], "both a plan and --stack"),
    ],
)
def test_mistakes_are_one_clear_error(
    content: str,
    options: list[str],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "plan.json"
    path.write_text(content)

    assert main(["cost", str(path), *options]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("spotproof cost: ")
    assert said in err


def test_nothing_to_read_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost"]) == 2
    assert "neither a plan nor --stack" in capsys.readouterr().err


_PULUMI = """#!{python}
import sys
assert sys.argv[1:5] == ["stack", "export", "--stack", "prod"], sys.argv
{does}
"""
_WRITES = "open(sys.argv[sys.argv.index('--file') + 1], 'w').write({state!r})"
_FAILS = "sys.exit('error: no stack named prod found')"


@pytest.mark.parametrize(
    ("does", "code", "said"),
    [
        (_WRITES, 0, "Estimate of stack prod (state)"),
        (_FAILS, 2, "--stack prod: pulumi could not export it: no stack named prod found"),
        (None, 2, "--stack prod: pulumi is not on the PATH; install it"),
    ],
    ids=["writes", "fails", "is-not-there"],
)
def test_stack_is_exported_by_pulumi(
    does: str | None,
    code: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if does:
        pulumi = tmp_path / "pulumi"
        what = does.format(state=json.dumps(state(cluster(), POOL)))
        pulumi.write_text(_PULUMI.format(python=sys.executable, does=what))
        pulumi.chmod(pulumi.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path) + os.pathsep + "/nowhere")

    assert main(["cost", "--stack", "prod"]) == code
    both: Any = capsys.readouterr()
    assert said in both.out + both.err


def test_name_of_a_stack_does_nothing_to_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert main(["cost", "--stack", "\x1b[31mprod\n"]) == 2
    assert "--stack ?[31mprod?: pulumi" in capsys.readouterr().err


def test_names_from_outside_do_nothing_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = pool("a\x1b[31m[bold]x", "e2-\x1b[31mstandard-4", nodeCount=1)
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(documents.state(odd)))

    assert main(["cost", str(path)]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "[bold]x" in out
