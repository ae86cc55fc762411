"""Every fenced block of every page is run, judged, or parsed; none is only there."""

import ast
import subprocess
from functools import cache
from pathlib import Path

import pytest

from sandbox.engine import lookup
from tests.docs.accounts import SHOWN_BY
from tests.docs.commands import folder_after, problems
from tests.docs.pages import ROOT, Block, blocks, inline_commands, pages

SHELLS = ("console", "sh")
JUDGED = ("python", "yaml", "json")
"""Languages whose blocks tests/unit/test_docs.py takes wherever they stand."""


def shown_by(block: Block) -> str | None:
    """The test that shows a block to be right, where it is called by its name."""
    named = SHOWN_BY.get(block.page, {})
    return next((test for first, test in named.items() if block.first.startswith(first)), None)


PARSED = [one for one in blocks() if one.language in SHELLS and not shown_by(one)]


@pytest.mark.parametrize("block", blocks(), ids=lambda one: one.id)
def test_somebody_accounts_for_each_block(block: Block) -> None:
    assert block.language, "name its language after the fence: text, if it is none"
    if shown_by(block) or block.language in JUDGED:
        return
    assert block.language in SHELLS, f"add it to SHOWN_BY, with the test for it: {block.first}"
    shows = [command.text for command in block.commands() if command.output]
    assert not shows, f"output is shown, so a test has to run it: {shows}"
    assert block.commands(), "a command begins with `$ `"


@pytest.mark.parametrize("page", pages(), ids=lambda one: str(one.relative_to(ROOT)))
def test_no_block_escapes_notice(page: Path) -> None:
    """Every fence opens or closes a block that was found, and code stands in fences."""
    lines = page.read_text(encoding="utf-8").splitlines()
    found = [one for one in blocks() if one.page == str(page.relative_to(ROOT))]

    fences = [line for line in lines if line.lstrip().startswith(("```", "~~~"))]
    assert len(fences) == 2 * len(found)
    after_blank = zip(["", *lines], lines, strict=False)
    inside = {line.strip() for one in found for line in one.text.splitlines()}
    indented = [
        b for a, b in after_blank if not a and b.startswith("    ") and b.strip() not in inside
    ]
    assert not indented, "put code into a fence, and not behind four blanks"


@cache
def _names_in(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(
    ("page", "first", "test"),
    [(page, first, test) for page, named in SHOWN_BY.items() for first, test in named.items()],
)
def test_the_test_that_shows_a_block_is_there_and_reads_its_page(
    page: str, first: str, test: str
) -> None:
    file, _, name = test.partition("::")

    assert [one for one in blocks() if one.page == page and one.first.startswith(first)]
    assert name in _names_in(ROOT / file)
    assert Path(page).name in (ROOT / file).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def help_of(tmp_path_factory: pytest.TempPathFactory):
    """Asks the engine for its help, once for each command."""
    environment = {"HOME": str(tmp_path_factory.mktemp("home")), "PATH": "/usr/bin:/bin"}
    environment |= {"PULUMI_SKIP_UPDATE_CHECK": "true"}

    engine = lookup().pulumi

    @cache
    def ask(words: tuple[str, ...]) -> str:
        done = subprocess.run(
            [engine, *words, "--help"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.stdout

    return ask


@pytest.mark.engine
@pytest.mark.parametrize("block", PARSED, ids=lambda one: one.id)
def test_what_a_command_names_exists(block: Block, help_of) -> None:
    folder = ROOT
    for command in block.commands():
        assert problems(command.text, help_of, folder) == []
        folder = folder_after(command.text, folder)


@pytest.mark.engine
@pytest.mark.parametrize(("page", "text"), inline_commands())
def test_a_command_in_a_sentence_can_be_typed(page: str, text: str, help_of) -> None:
    assert problems(text, help_of) == [], page


@pytest.mark.engine
@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("make rehaerse", "there is no target rehaerse"),
        ("make up STACK=production", "there is no stack production"),
        ("make up STAKC=prod", "make knows no STAKC"),
        ("make policy STACK=prod LEVELS=production", "there are no levels production"),
        ("make up STACK=prod ARGS=--expect-no-change", "there is no flag --expect-no-change"),
        ("make recover STACK=prod ARGS='--adpot x'", "there is no flag --adpot"),
        ("pulumi stack outptu", "pulumi stack takes no outptu"),
        ("pulumi preview --polcy-pack x", "there is no flag --polcy-pack"),
        ("pulumi preview --policy-pack policies/region", "there is no policy pack"),
        ("X=1 pulumi up -s prod && make dreck", "there is no target dreck"),
        ('eval "$(pulumi stacks)"', "takes no stacks"),
        ("spotproof audti", "spotproof knows no audti"),
        ("spotproof audit --jsno", "there is no flag --jsno"),
        ("python -m sandbox.dril", "there is no module sandbox.dril"),
        ("python -m sandbox.drill --cluster mine --whatch", "there is no flag --whatch"),
        ("python -m sandbox.cloud drfit resize workers 5", "invalid choice: 'drfit'"),
        ("pip install ./gek", "is no package"),
        ("pip install './gke[polcy]'", "no extra polcy"),
        ("cd runtim", "there is no folder runtim"),
        ("kubectl get pods --field-selecter x", "no flag --field-selecter"),
        ("terraform apply", "is in no table"),
    ],
)
def test_a_command_that_cannot_be_typed_is_told(command: str, problem: str, help_of) -> None:
    found = " ".join(problems(command, help_of))

    assert problem in found
