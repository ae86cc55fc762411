"""`python -m tools.set_version 0.2.0`: gives every package here the same new version.

Without a version it says which one they have, and fails when they differ.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSION = r"\d+\.\d+\.\d+"
IN_PYTHON = rf'^__version__ = "({VERSION})"$'
IN_TOML = rf'^version = "({VERSION})"$'
IN_YAML = rf"^version: ({VERSION})$"
OF_SIBLING = rf'"spotproof-gke==({VERSION})"'
PLACES = (
    ("gke/pyproject.toml", IN_TOML),
    ("gke/spotproof_gke/__init__.py", IN_PYTHON),
    ("components/pyproject.toml", IN_TOML),
    ("components/pyproject.toml", OF_SIBLING),
    ("components/spotproof/__init__.py", IN_PYTHON),
    ("components/PulumiPlugin.yaml", IN_YAML),
    ("runtime/pyproject.toml", IN_TOML),
    ("runtime/pyproject.toml", OF_SIBLING),
    ("policies/interruption_readiness/PulumiPolicy.yaml", IN_YAML),
    ("policies/region_match/PulumiPolicy.yaml", IN_YAML),
    ("policies/spot_isolation/PulumiPolicy.yaml", IN_YAML),
    ("components/schema.json", rf'^  "version": "({VERSION})"$'),
)
"""Where the version stands: a file, and the line whose only group is the version."""

TAGGED = ("README.md", "components/README.md", "docs/**/*.md", "examples/**/*.*ml")
"""Files that may name the version by its tag, `v0.1.0`, or as `Spotproof 0.1.0`."""


class VersionError(Exception):
    """The versions differ, or the new one is none; the text says where and what to do."""


@dataclass(frozen=True)
class Place:
    """One mention of the version."""

    file: Path
    start: int
    end: int
    version: str


def places(root: Path = ROOT) -> list[Place]:
    """Every place where the version must stand.

    Raises:
        VersionError: a place has none.
    """
    found = []
    for name, pattern in PLACES:
        file = root / name
        match = re.search(pattern, file.read_text(encoding="utf-8"), flags=re.M)
        if match is None:
            raise VersionError(f"{name}: no line like {pattern}")
        found.append(Place(file, *match.span(1), match[1]))
    return found


def current(root: Path = ROOT) -> str:
    """The one version of all packages.

    Raises:
        VersionError: they differ.
    """
    found = {place.file.relative_to(root): place.version for place in places(root)}
    if len(set(found.values())) > 1:
        listed = "\n".join(f"  {version}  {file}" for file, version in found.items())
        raise VersionError(f"the packages have different versions:\n{listed}")
    return next(iter(found.values()))


def set_version(version: str, root: Path = ROOT) -> list[Path]:
    """Writes the version everywhere, whatever stood there, and returns the files that changed.

    Raises:
        VersionError: it is not a version, or a place is missing.
    """
    if not re.fullmatch(VERSION, version):
        raise VersionError(f"version {version!r}: give three numbers, such as 0.2.0")
    old = {place.version for place in places(root)}
    changed = []
    for name, pattern in PLACES:
        changed += _rewrite(root / name, re.compile(pattern, flags=re.M), version)
    for file in _tagged(root):
        for each in old:
            tag = re.compile(rf"(?<![\w.-])(?:v|Spotproof )({re.escape(each)})(?!\.?\w)")
            changed += _rewrite(file, tag, version)
    return sorted(set(changed))


def _tagged(root: Path) -> Iterator[Path]:
    for pattern in TAGGED:
        yield from sorted(root.glob(pattern))


def _rewrite(file: Path, pattern: "re.Pattern[str]", version: str) -> list[Path]:
    def replaced(match: "re.Match[str]") -> str:
        group = match.lastindex or 0
        start, end = (at - match.start() for at in match.span(group))
        return match[0][:start] + version + match[0][end:]

    before = file.read_text(encoding="utf-8")
    after = pattern.sub(replaced, before)
    if after == before:
        return []
    file.write_text(after, encoding="utf-8")
    return [file]


def main(arguments: Sequence[str] | None = None) -> int:
    """Sets or shows the version; 1 with one error when it cannot."""
    parser = argparse.ArgumentParser(prog="python -m tools.set_version", description=__doc__)
    parser.add_argument("version", nargs="?", help="the new version, such as 0.2.0")
    try:
        asked = parser.parse_args(arguments).version
        if asked is None:
            print(current())
            return 0
        for file in set_version(asked):
            print(file.relative_to(ROOT))
    except VersionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
