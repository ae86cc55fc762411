"""The first hour with the project, typed as the README shows it, in a clone of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.drill.scenes import ALWAYS, SCENES
from sandbox.setup_venv import REQUIREMENTS
from spotproof_gke.stack_state.processes import commands
from tests.clone import borrow_packages
from tests.docs.newcomer import ADDRESS, Shell, follow, published
from tests.docs.pages import block

FETCH = [f"git clone {ADDRESS}", "cd spotproof"]
BREAK = "$ cat >> infra/__main__.py <<'END'"
MEND = '$ perl -pi -e \'s/"US"/"NORTHAMERICA-NORTHEAST2"/\' infra/__main__.py'
PROMISES = [*(scene.promise.says for scene in SCENES), ALWAYS.says]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    opened = Shell(tmp_path, published(tmp_path), timeout_seconds=1500)
    yield opened
    opened.close()


@pytest.mark.engine
def test_a_newcomer_gets_what_the_readme_shows(shell: Shell, tmp_path: Path) -> None:
    clone = tmp_path / "spotproof"
    begin = block("README.md", f"$ {FETCH[0]}").commands()
    assert [command.text for command in begin[:2]] == FETCH
    follow(shell, begin[:2])
    borrow_packages(clone)

    seen = follow(shell, begin[2:])
    follow(shell, block("README.md", BREAK).commands())
    follow(shell, block("README.md", MEND).commands())

    assert (clone / ".venv" / "asked").read_text().endswith(f"-r {REQUIREMENTS}")
    assert shell.type("git status --short") == ""
    assert all(says in " ".join(seen.split()) for says in PROMISES)
    assert not (clone / ".spotproof" / "drill").exists()
    assert not [words for _, words in commands() if any(str(clone) in word for word in words)]
