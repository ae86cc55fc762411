"""docs/how-to/draw-a-stack.md shows what the command prints."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from tests.docs.transcripts import ROOT, blocks_of, make_program, rewrite, transcript
from tests.picture import stacks

PAGE = ROOT / "docs/how-to/draw-a-stack.md"
BLOCKS = blocks_of(PAGE)
_PULUMI = """#!/bin/sh
case "$*" in
"stack export --stack prod") cat {folder}/state ;;
"preview --stack prod --json --show-sames") cat {folder}/plan ;;
*) exit 9 ;;
esac
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment whose pulumi answers with a stack."""
    return make_environment(tmp_path_factory.mktemp("graph"))


def make_environment(folder: Path) -> dict[str, str]:
    resources = stacks.SAFE["deployment"]["resources"]
    for name, content in {"state": stacks.SAFE, "plan": stacks.plan(*resources)}.items():
        text = json.dumps(content).replace("urn:pulumi:live::", "urn:pulumi:prod::")
        (folder / name).write_text(text)
    make_program(folder / "bin/pulumi", _PULUMI.format(folder=folder))
    command = f'#!/bin/sh\nexec {sys.executable} -m spotproof_gke.cli "$@"\n'
    make_program(folder / "bin/spotproof", command)
    path = f"{folder / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin"
    return {"PATH": path, "PYTHONPATH": str(ROOT / "gke"), "LANG": "C.UTF-8"}


def test_the_examples_print_what_the_page_shows(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    for block in BLOCKS:
        assert transcript(block, tmp_path, environment) == block
    assert {"stack.svg", "stack-narrow.svg", "plan.svg"} <= {f.name for f in tmp_path.iterdir()}


def test_a_page_takes_both_forms_as_the_example_says() -> None:
    text = PAGE.read_text(encoding="utf-8")
    (example,) = re.findall(r"^```html\n(.*?)^```$", text, flags=re.M | re.S)

    assert '<source media="(max-width: 600px)" srcset="stack-narrow.svg">' in example
    assert 'src="stack.svg"' in example
    assert "--output stack.svg" in text
    assert "--output stack-narrow.svg" in text


def main() -> None:
    """Write the outputs that the examples have now into the page."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        rewrite(PAGE, Path(name), make_environment(Path(name)))


if __name__ == "__main__":
    main()
