"""What pages show as plain text is what there is: README.md, drill.md, game-day.md, messages."""

import re
from pathlib import Path

import pytest

from sandbox.drill.report import Outcome, Report
from sandbox.drill.scenes import ALWAYS, SCENES
from sandbox.drill.watch import COMES_BACK, GOES
from tests.docs.pages import ROOT, block

DRILL = "docs/how-to/drill.md"


def test_the_layout_names_what_there_is() -> None:
    first = "Pulumi.yaml      the project: runtime python, main: infra, stackConfigDir: stacks"
    shown = block("README.md", first).text
    named = dict(re.findall(r"^(\S+) +(.*)$", shown, flags=re.M))

    folders = {f"{one.parent.name}/" for one in ROOT.glob("*/*") if one.is_file()}
    folders -= {f"{one.name}/" for one in ROOT.glob(".*")} | {"dist/"}
    assert folders <= set(named)
    for name, words in named.items():
        assert (ROOT / name).exists(), name
        for inner in re.findall(r"(?<![\w./])([a-z_]+)/", words):
            assert (ROOT / name / inner).is_dir(), f"{name}{inner}"


def test_the_files_of_the_emulated_cloud_are_there() -> None:
    page = ROOT / "sandbox" / "cloud" / "README.md"
    (shown,) = re.findall(r"```text\n(serve\.py .*?)```", page.read_text(encoding="utf-8"), re.S)

    named = set(re.findall(r"(?<![\w./])([\w]+\.py|types/(?=  ))", shown))
    assert {one.name for one in page.parent.glob("*.py")} >= named - {"types/"}
    assert len(named) > 15


def test_the_report_of_the_drill_has_each_promise() -> None:
    shown = block(DRILL, "drill of stack showcase: cluster showcase, 10 node pools").text
    promises = [*(scene.promise for scene in SCENES), ALWAYS]

    said = re.findall(r"^(?:kept|BROKEN) +[\d.]+ s  (.*)$", shown, flags=re.M)
    assert said == [promise.says for promise in promises]
    report = Report("", [Outcome(promise, True, "x", 1.0) for promise in promises])
    assert shown.splitlines()[-1] == report.text().splitlines()[-1]


def test_the_measurement_at_scale_has_the_form_of_the_test() -> None:
    (shown,) = re.findall(
        r"```text\n(1000 pods .*)\n```", (ROOT / DRILL).read_text(encoding="utf-8")
    )
    printed = (ROOT / "tests" / "cluster" / "test_scale.py").read_text(encoding="utf-8")

    for words in re.split(r"[\d.]+", shown.partition(" pods")[2]):
        assert words.strip("(): ") in " ".join(printed.replace('f"', "").replace('"', "").split())


def test_the_report_of_the_game_day_has_its_promises() -> None:
    shown = block("docs/how-to/game-day.md", "kept         5.1 s  The node is taken away").text
    said = re.findall(r"^(?:kept|BROKEN) +[\d.]+ s  (.*)$", shown, flags=re.M)

    assert said[0] == GOES.says
    assert re.fullmatch(rf"Job \S+ {COMES_BACK}", said[1])
    assert f"{len(said)} promises: {len(said)} kept" in shown


SOURCES = "".join(
    path.read_text(encoding="utf-8")
    for folder in ("sandbox", "infra", "components/spotproof", "gke/spotproof_gke", "tests/engine")
    for path in sorted((ROOT / folder).rglob("*.py"))
)
SAID = " ".join(re.sub(r'\bf"|"', " ", SOURCES).split())
OTHERS = {
    "no stack named 'prod' found": "the engine",
    "the stack is currently locked": "the engine",
    "cannot be deleted because it is protected": "the engine",
    "Error 409": "Google",
    "already exists": "Google",
    "containing objects without force_destroy": "the provider",
    "deletion_protection": "the provider",
    "A GPU pod stays `Pending`": "Kubernetes",
}
"""Messages of other programs, which are not in our sources."""


def _messages(page: str, title: str) -> list[str]:
    """What the tables after a title have in backticks in their first column."""
    section = (ROOT / page).read_text(encoding="utf-8").partition(f"\n## {title}\n")[2]
    rows = re.findall(r"^\| (`.*?) \| ", section.partition("\n## ")[0], flags=re.M)
    return [one for row in rows for one in re.findall(r"`([^`]+)`", row)]


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (page, message)
        for page, title in (
            ("README.md", "Troubleshooting"),
            ("docs/how-to/unreachable-cluster.md", "What it says"),
            ("docs/how-to/tear-down.md", "When it is refused"),
        )
        for message in _messages(page, title)
    ],
)
def test_a_message_that_a_page_explains_is_one_that_is_printed(page: str, message: str) -> None:
    parts = re.split(r"…|'\w+'|\b(?:prod|x)\b|STACK|gke-gcloud-auth-plugin", message)

    assert message in OTHERS or all(part.strip() in SAID for part in parts), message


def test_the_tables_of_messages_are_found() -> None:
    assert len(_messages("README.md", "Troubleshooting")) > 10
    assert len(_messages("docs/how-to/unreachable-cluster.md", "What it says")) > 5
    assert Path(ROOT / "docs/how-to/tear-down.md").exists()
