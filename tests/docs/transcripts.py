"""Blocks of a page that show commands with their output, and the output that they have now."""

import re
import stat
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMAND_SECONDS = 60

Tidy = Callable[[str], str]
"""Puts into an output what the page shows in the place of what differs between machines."""


def blocks_of(page: Path) -> list[str]:
    """The blocks of a page that show commands."""
    if not page.exists():
        return []
    return re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)


def make_program(file: Path, text: str) -> None:
    """Make a program that a command on a page runs."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


def transcript(
    block: str, folder: Path, environment: Mapping[str, str], tidy: Tidy = lambda text: text
) -> str:
    """A block with the output that its commands have now."""
    script = re.sub(r"\\\n", "", block)
    commands = [line[2:] for line in script.splitlines() if line.startswith("$ ")]
    shown = re.findall(r"^\$ (?:.*\\\n)*.*\n", block, flags=re.M)
    assert len(shown) == len(commands)
    # One shell for all, so that `echo $?` tells of the command before it.
    marked = "".join(f"{each}\ncode=$?; echo '%%'; (exit $code)\n" for each in commands)
    done = subprocess.run(
        ["/bin/sh", "-c", marked],
        capture_output=True,
        text=True,
        cwd=folder,
        env=dict(environment),
        check=False,
        timeout=COMMAND_SECONDS,
    )
    assert not done.stderr
    outputs = tidy(done.stdout).split("%%\n")
    return "".join(a + b for a, b in zip(shown, outputs, strict=False))


def rewrite(
    page: Path, folder: Path, environment: Mapping[str, str], tidy: Tidy = lambda text: text
) -> None:
    """Write the outputs that the commands of a page have now into it."""
    text = page.read_text(encoding="utf-8")
    for block in blocks_of(page):
        text = text.replace(block, transcript(block, folder, environment, tidy))
    page.write_text(text, encoding="utf-8")
