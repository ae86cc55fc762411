"""Reads `tests/engine/refusals.yaml`: what is refused, and who else makes the same promise."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

PATH = Path(__file__).parent / "engine" / "refusals.yaml"
_ROW = {"id", "base", "set", "stage", "words"}
STAGES = ("preview", "update")


@dataclass(frozen=True)
class Tie:
    """A constructor or a policy that refuses the same mistake.

    Attributes:
        row: Id of the row.
        of: The component, or the policy's rule.
        set: What is laid over the component's arguments, or over the row's resource.
        words: What the user must read: the rule.
        name: Name of the component, where the mistake is in it.
    """

    row: str
    of: str
    set: dict[str, Any]
    words: tuple[str, ...]
    name: str = ""

    def __str__(self) -> str:
        return "-".join([self.row, self.of, *self.set])


@dataclass(frozen=True)
class Row:
    """One mistake in a plain resource, and the stage and words of its refusal."""

    id: str
    base: str
    set: dict[str, Any]
    stage: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Refusals:
    """The whole file: plain resources by name, arguments of components, rows, and their ties."""

    resources: dict[str, dict[str, Any]]
    components: dict[str, dict[str, Any]]
    rows: tuple[Row, ...]
    constructors: tuple[Tie, ...]
    policies: tuple[Tie, ...]

    def counts(self) -> str:
        """How many rows there are, of which stage, and how many hold elsewhere too."""
        stages = Counter(row.stage for row in self.rows)
        by_stage = ", ".join(f"{stages[stage]} at {stage}" for stage in STAGES)
        constructed = len({tie.row for tie in self.constructors})
        judged = len({tie.row for tie in self.policies})
        return (
            f"{len(self.rows)} rows ({by_stage}), each run against the emulated cloud; "
            f"{constructed} of them against constructors too ({len(self.constructors)} cases), "
            f"{judged} against policies ({len(self.policies)} cases)"
        )


@cache
def load() -> Refusals:
    """The file as it is."""
    return parse(yaml.safe_load(PATH.read_text()))


def parse(content: dict[str, Any]) -> Refusals:
    """The refusals in a file's content.

    Raises:
        ValueError: A key is unknown, missing or unused; the message names row and key.
    """
    sections = {"resources", "components", "constructors", "policies", "rows"}
    _keys("refusals.yaml", content, sections)
    rows = tuple(_row(entry) for entry in content["rows"])
    constructors = tuple(_tie("constructors", entry) for entry in content["constructors"])
    policies = tuple(_tie("policies", entry) for entry in content["policies"])
    ids = Counter(row.id for row in rows)
    twice = [name for name, count in ids.items() if count > 1]
    if twice:
        raise ValueError(f"each id stands once, but these do not: {', '.join(twice)}")
    for tie in (*constructors, *policies):
        if tie.row not in ids:
            raise ValueError(f"{tie}: there is no row {tie.row}")
    resources, components = content["resources"], content["components"]
    used = {row.base for row in rows}
    made = {tie.of for tie in constructors}
    for what, known, wanted in (("resource", resources, used), ("component", components, made)):
        if set(known) != wanted:
            raise ValueError(f"{what} unused or unknown: {sorted(set(known) ^ wanted)}")
    return Refusals(resources, components, rows, constructors, policies)


def _row(entry: dict[str, Any]) -> Row:
    name = str(entry.get("id"))
    _keys(name, entry, _ROW)
    if entry["stage"] not in STAGES:
        raise ValueError(f"{name}.stage: {entry['stage']!r} is none of {', '.join(STAGES)}")
    return Row(**{**entry, "words": _words(name, entry)})


def _tie(section: str, entry: dict[str, Any]) -> Tie:
    where = f"{section}: {entry.get('row')}"
    own = {"set", "name"} if section == "constructors" else {"set"}
    _keys(where, entry, {"row", "of", "words"}, own)
    tie = Tie(**{"set": {}, **entry, "words": _words(where, entry)})
    if section == "constructors" and bool(tie.set) == bool(tie.name):
        raise ValueError(f"{where}: a constructor is given its mistake by `set` or by `name`")
    return tie


def _words(where: str, entry: dict[str, Any]) -> tuple[str, ...]:
    words = entry["words"]
    if not isinstance(words, list) or not words or not all(isinstance(w, str) for w in words):
        raise ValueError(f"{where}.words: {words!r} is no list of texts")
    return tuple(words)


def _keys(where: str, entry: dict[str, Any], needed: set[str], more: Collection[str] = ()) -> None:
    unknown, missing = set(entry) - needed - set(more), needed - set(entry)
    if unknown or missing:
        raise ValueError(f"{where}: unknown keys {sorted(unknown)}, missing {sorted(missing)}")
