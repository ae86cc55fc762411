"""docs/how-to/choose-capacity.md shows what the command prints, and the tables are not stale."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
import yaml

from spotproof_gke.cli import main
from spotproof_gke.strategy import Strategy
from tests.unit.advised import judged
from tools import write_docs
from tools.strategy_docs import MARKER, strategies_page, strategies_table

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/how-to/choose-capacity.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```console\n(.*?)^```$", TEXT, flags=re.M | re.S)
COMMAND = re.compile(r"^\$ (?:.*\\\n)*.*\n", flags=re.M)


def transcript(block: str) -> str:
    """A block with the output that its commands have now."""
    found = ""
    for shown in COMMAND.findall(block):
        program, *arguments = shlex.split(shown.removeprefix("$ ").replace("\\\n", ""))
        assert program == "spotproof"
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            main([each for each in arguments if each != "2>&1"])
        found += shown + printed.getvalue()
    return found


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_example_prints_what_the_page_shows(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)

    shown = BLOCKS[number]
    assert transcript(shown) == shown, "run python -m tests.unit.test_advise_docs"


def test_page_shows_each_sort_of_answer() -> None:
    whole = "".join(BLOCKS)
    for words in ("Take Spot.", "Take Flex-start.", "Neither Spot nor flex-start.", "problems"):
        assert words in whole


def test_every_stack_file_that_is_shown_is_right(tmp_path: Path) -> None:
    shown = re.findall(r"^config:\n(?: .*\n)+", TEXT, flags=re.M)

    assert len(shown) >= 3
    for text in shown:
        assert judged(text, tmp_path).project == yaml.safe_load(text)["config"]["gcp:project"]


def test_the_page_of_strategies_is_generated() -> None:
    assert write_docs.pages()[ROOT / "docs/reference/strategies.md"] == strategies_page()


def test_the_table_has_a_row_for_each_strategy_and_fits_between_markers() -> None:
    header, _, *rows = strategies_table().splitlines()
    page = f"# A page\n<!-- generated: {MARKER} -->\nold\n<!-- end -->\n"

    assert len(rows) == len(Strategy)
    assert {line.count(" | ") for line in (header, *rows)} == {2}
    assert header in write_docs.with_tables(page, {MARKER: strategies_table()})


def rewrite() -> None:
    """Write the outputs that the examples have now into the page."""
    text = TEXT
    for block in BLOCKS:
        text = text.replace(block, transcript(block))
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    rewrite()
