"""Reads `tests/engine/refusals.yaml`: what is refused, and who else makes the same promise."""

from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

PATH = Path(__file__).parent / "engine" / "refusals.yaml"
_ROW = {"id", "base", "set", "stage", "words"}
_TIES = {"constructors", "policies"}
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
    constructors: tuple[Tie, ...] = ()
    policies: tuple[Tie, ...] = ()


@dataclass(frozen=True)
class Refusals:
    """The whole file: plain resources by name, arguments of components, and the rows."""

    resources: dict[str, dict[str, Any]]
    components: dict[str, dict[str, Any]]
    rows: tuple[Row, ...]

    @property
    def constructors(self) -> list[Tie]:
        return [tie for row in self.rows for tie in row.constructors]

    @property
    def policies(self) -> list[Tie]:
        return [tie for row in self.rows for tie in row.policies]

    def counts(self) -> str:
        """How many rows there are, of which stage, and how many hold elsewhere too."""
        stages = Counter(row.stage for row in self.rows)
        by_stage = ", ".join(f"{stages[stage]} at {stage}" for stage in STAGES)
        constructed = sum(bool(row.constructors) for row in self.rows)
        judged = sum(bool(row.policies) for row in self.rows)
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
    _keys("refusals.yaml", content, {"resources", "components", "rows"})
    rows = tuple(_row(entry) for entry in content["rows"])
    twice = [name for name, count in Counter(row.id for row in rows).items() if count > 1]
    if twice:
        raise ValueError(f"each id stands once, but these do not: {', '.join(twice)}")
    resources, components = content["resources"], content["components"]
    used = {row.base for row in rows}
    made = {tie.of for row in rows for tie in row.constructors}
    for what, known, wanted in (("resource", resources, used), ("component", components, made)):
        if set(known) != wanted:
            raise ValueError(f"{what} unused or unknown: {sorted(set(known) ^ wanted)}")
    return Refusals(resources, components, rows)


def _row(entry: dict[str, Any]) -> Row:
    name = str(entry.get("id"))
    _keys(name, entry, _ROW, _TIES)
    if entry["stage"] not in STAGES:
        raise ValueError(f"{name}.stage: {entry['stage']!r} is none of {', '.join(STAGES)}")
    ties = {key: tuple(_tie(name, key, each) for each in entry.get(key, ())) for key in _TIES}
    return Row(**{**entry, **ties, "words": _words(name, entry)})


def _tie(row: str, key: str, entry: dict[str, Any]) -> Tie:
    where = f"{row}.{key}"
    own = {"set", "name"} if key == "constructors" else {"set"}
    _keys(where, entry, {"of", "words"}, own)
    tie = Tie(row, entry["of"], entry.get("set", {}), _words(where, entry), entry.get("name", ""))
    if key == "constructors" and bool(tie.set) == bool(tie.name):
        raise ValueError(f"{where}: a constructor is given its mistake by `set` or by `name`")
    return tie


def _words(where: str, entry: dict[str, Any]) -> tuple[str, ...]:
    words = entry["words"]
    if not isinstance(words, list) or not words or not all(isinstance(w, str) for w in words):
        raise ValueError(f"{where}.words: {words!r} is no list of texts")
    return tuple(words)


def _keys(
    where: str, entry: dict[str, Any], needed: set[str], more: set[str] = frozenset()
) -> None:  # type: ignore[assignment]
    unknown, missing = set(entry) - needed - more, needed - set(entry)
    if unknown or missing:
        raise ValueError(f"{where}: unknown keys {sorted(unknown)}, missing {sorted(missing)}")
