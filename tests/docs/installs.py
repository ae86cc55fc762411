"""Whether what a page installs from a clone is there."""

import re
from itertools import pairwise
from pathlib import Path

from tests.docs.pages import ROOT

_CHECKOUT = ("/path/to/spotproof", ".policy-packs")
"""How pages call a clone of this project in a place of the reader's."""


def in_checkout(path: str, folder: Path) -> Path:
    """Where a path of a page leads, given the folder in which it is typed."""
    for place in _CHECKOUT:
        if path.startswith(place):
            return ROOT / path.removeprefix(place).lstrip("/")
    return folder / path


def pip_problems(words: list[str], folder: Path) -> list[str]:
    """What is wrong with the arguments of pip: packages, extras and files that are not there."""
    if words[0] != "install":
        return [f"pip {words[0]} is not known here"]
    found: list[str] = []
    for before, word in pairwise(words):
        if before == "-r":
            found += [] if (folder / word).is_file() else [f"there is no {word}"]
        elif word.startswith((".", "/")):
            package = in_checkout(word.partition("[")[0], folder)
            extras = re.findall(r"[\w-]+", word.partition("[")[2])
            declared = package / "pyproject.toml"
            text = declared.read_text(encoding="utf-8") if declared.is_file() else ""
            found += [] if text else [f"{word} is no package"]
            found += [
                f"{word}: no extra {one}"
                for one in extras
                if not re.search(rf"^{one} = \[", text, flags=re.M)
            ]
    return found
