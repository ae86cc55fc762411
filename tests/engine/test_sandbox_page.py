"""Pages that use the sandbox: their commands, typed in a clone, print what the pages show."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.clone import borrow_packages
from tests.docs.newcomer import Shell, follow, published
from tests.docs.pages import block

PAGE = "docs/how-to/sandbox.md"
STOCK_OUT = "docs/how-to/stock-out.md"
QUOTA = "docs/how-to/quota.md"
ENVIRONMENT = '$ eval "$(make -s env)"'
CLOUD = "$ .venv/bin/python -m sandbox.cloud show"


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Callable[[], Shell]]:
    """Opens shells in a new clone."""
    source = published(tmp_path)
    borrow_packages(source)
    opened: list[Shell] = []

    def make() -> Shell:
        opened.append(Shell(tmp_path, source, timeout_seconds=900))
        opened[-1].type(f"cd {source}")
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def test_the_page_of_the_sandbox_shows_what_its_commands_print(shell: Callable[[], Shell]) -> None:
    first = shell()
    follow(first, block(PAGE, "$ make up").commands())
    typed = follow(first, block(PAGE, ENVIRONMENT).commands())
    assert '"checkpointBucket": "gs://spotproof-sandbox-sandbox-checkpoints"' in typed

    second = shell()
    looked = follow(second, block(PAGE, CLOUD).commands())
    assert "spotproof-sandbox-sandbox-checkpoints" in looked
    assert "l4" not in second.type(".venv/bin/python -m sandbox.cloud show")

    follow(second, block(PAGE, "$ make rehearse STACK=prod").commands())
    for page in (STOCK_OUT, QUOTA):
        follow(second, block(page, "$ make destroy").commands())
    assert second.type("git status --short") == ""
