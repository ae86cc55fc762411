"""What an audit has read, in the forms in which rules look at it."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from spotproof_gke.rules.finding import Resource
from spotproof_gke.rules.reading import UNKNOWN

_DEEPEST = 100


class InputError(ValueError):
    """What was given cannot be audited; the text says why and what to do."""


@dataclass(frozen=True)
class Source:
    """Something that was read.

    Attributes:
        name: What it is called in the report.
        kind: `cluster`, `dump` or `state`.
        read: How many objects or resources of each kind were judged.
        ignored: How many of each kind say nothing that a rule asks for.
    """

    name: str
    kind: str
    read: Counter[str] = field(default_factory=Counter)
    ignored: Counter[str] = field(default_factory=Counter)


@dataclass
class Evidence:
    """All that was read, and what could not be.

    Attributes:
        sources: What was read.
        live: Objects of a cluster as they are, nodes and pods among them.
        declared: Resources of states as their programs declare them: inputs.
        settled: Resources of states as they are in the cloud: outputs.
        origins: The source of each resource, by URN.
        notes: What could not be read or judged, for the reader.
    """

    sources: list[Source] = field(default_factory=list)
    live: list[Resource] = field(default_factory=list)
    declared: list[Resource] = field(default_factory=list)
    settled: list[Resource] = field(default_factory=list)
    origins: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def printable(text: str) -> str:
    """A name from outside on one line: without what a terminal would obey, and not too long."""
    return "".join(char if char.isprintable() else "?" for char in text[:253])


def plain(value: Any) -> Any:
    """`value` with `UNKNOWN` in the place of anything nested deeper than in any real object."""
    return _cut(value, 0) if _is_too_deep(value) else value


def _is_too_deep(value: Any) -> bool:
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(_DEEPEST):
        level = [
            each
            for holder in level
            for each in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(each, (dict, list))
        ]
        if not level:
            return False
    return True


def _cut(value: Any, depth: int) -> Any:
    if isinstance(value, (dict, list)) and depth > _DEEPEST:
        return UNKNOWN
    if isinstance(value, dict):
        return {key: _cut(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list):
        return [_cut(each, depth + 1) for each in value]
    return value
