"""docs/how-to/audit.md shows what the command prints."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from spotproof_gke.audit.catalogue import ENTRIES, LIVE_ONLY
from spotproof_gke.audit.kubectl import CUSTOM_KINDS, KINDS
from spotproof_gke.audit.reading import FOUND, NOT_AUDITED, NOTHING_FOUND
from tests.audit import examples
from tests.docs.transcripts import blocks_of, make_program, rewrite, transcript

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/how-to/audit.md"
TEXT = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
BLOCKS = blocks_of(PAGE)

_KUBECTL = """#!{python}
import json, sys
from pathlib import Path

objects = json.loads(Path({dump!r}).read_text())["items"]
verb, kinds = [each for each in sys.argv[1:] if not each.startswith("-")][:2]
assert verb == "get"
wanted = [kind.partition(".")[0] for kind in kinds.split(",")]
found = [each for each in objects if each["kind"].lower() + "s" in wanted]
print(json.dumps({{"apiVersion": "v1", "kind": "List", "items": found}}))
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment whose kubectl and pulumi answer with the examples of the page."""
    (tmp_path / "dump").write_text(json.dumps(examples.shown_cluster()))
    (tmp_path / "state").write_text(json.dumps(examples.shown_state()))
    programs = {
        "kubectl": _KUBECTL.format(python=sys.executable, dump=str(tmp_path / "dump")),
        "pulumi": f'#!/bin/sh\ntest "$*" = "stack export --stack prod" && cat {tmp_path}/state\n',
        "spotproof": f'#!/bin/sh\nexec {sys.executable} -m spotproof_gke.cli "$@"\n',
    }
    folder = tmp_path / "bin"
    for name, text in programs.items():
        make_program(folder / name, text)
    path = f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin"
    return {"PATH": path, "PYTHONPATH": str(ROOT / "gke"), "LANG": "C.UTF-8"}


def test_page_shows_every_source() -> None:
    assert len(BLOCKS) >= 3
    whole = "".join(BLOCKS)
    for words in ("spotproof audit\n", "cluster.json", "pulumi stack export"):
        assert words in whole


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_example_prints_what_the_page_shows(
    number: int, tmp_path: Path, environment: dict[str, str]
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    for earlier in BLOCKS[:number]:
        transcript(earlier, folder, environment)

    assert transcript(BLOCKS[number], folder, environment) == BLOCKS[number]


def test_page_explains_the_exit_codes() -> None:
    rows = re.findall(r"^\| (\d) \| (.+?) \|$", TEXT, flags=re.M)

    assert [int(code) for code, _ in rows] == [NOTHING_FOUND, FOUND, NOT_AUDITED]


def test_page_lists_every_rule_and_severity() -> None:
    for entry in ENTRIES:
        link = f"](#{entry.name})" if entry.name in LIVE_ONLY else f"](../policies/{entry.name}.md)"
        row = rf"^\| {entry.severity.value} \| \[`{entry.name}`{re.escape(link)} \|"
        assert re.search(row, TEXT, flags=re.M), entry.name


def test_page_explains_rules_that_no_policy_holds() -> None:
    for name in LIVE_ONLY:
        assert f"\n### {name}\n" in TEXT


def test_page_lists_what_is_asked_of_a_cluster() -> None:
    for kind in (*KINDS, *CUSTOM_KINDS):
        assert f"`{kind}`" in TEXT


def main() -> None:
    """Write the outputs that the examples have now into the page."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        made = environment.__wrapped__(base)  # type: ignore[attr-defined]
        rewrite(PAGE, base, made)


if __name__ == "__main__":
    main()
