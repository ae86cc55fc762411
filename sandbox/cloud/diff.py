"""Diff: what a new program wants changed in the recorded state, as the provider sees it."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sandbox.cloud.schema import Field
from sandbox.cloud.wire import UNKNOWN, has_unknown

Same = Callable[[str, Any, Any], bool]
"""Whether two values at a path (without indices) say the same to the server."""


@dataclass(frozen=True)
class Change:
    """One difference: where it is, `add`, `delete` or `update`, and whether it replaces."""

    path: str
    kind: str
    replaces: bool = False

    @property
    def top(self) -> str:
        """The top-level property."""
        return re.split(r"[.\[]", self.path, maxsplit=1)[0]


def diff(
    fields: dict[str, Field], old: dict[str, Any], new: dict[str, Any], same: Same
) -> list[Change]:
    """The changes from the state `old` to the inputs `new`."""
    return list(_objects(fields, old, new, "", "", same))


def _objects(
    fields: dict[str, Field],
    old: dict[str, Any],
    new: dict[str, Any],
    path: str,
    at: str,
    same: Same,
) -> Iterator[Change]:
    for name, field in fields.items():
        if field.output:
            continue
        here = f"{path}.{name}" if path else name
        there = f"{at}.{name}" if at else name
        yield from _values(field, old.get(name), new.get(name), here, there, same)


def _values(field: Field, old: Any, new: Any, path: str, at: str, same: Same) -> Iterator[Change]:
    if new is None and field.computed:
        return
    if new is None:
        new = field.default  # a default that Check left out, for its conflicts, still counts here
    if new is UNKNOWN or old is UNKNOWN:
        if new is not old:
            yield Change(at, "update", field.replaces)
        return
    if same(path, old, new):
        return
    if field.kind == "block":
        yield from _blocks(field, old, new, path, at, same)
    elif field.kind in ("list", "blocks"):
        yield from _lists(field, old or [], new or [], path, at, same)
    elif field.kind == "map":
        yield from _maps(field, old or {}, new or {}, at)
    elif (old or new) and old != new:
        yield Change(at, _kind(old, new), field.replaces)


def _kind(old: Any, new: Any) -> str:
    if old is None or old == [] or old == {}:
        return "add"
    return "delete" if new is None or new == [] or new == {} else "update"


def _blocks(field: Field, old: Any, new: Any, path: str, at: str, same: Same) -> Iterator[Change]:
    if old is None and new is None:
        return
    if old is None or new is None:
        replaces = field.replaces or _holds_replacing(field.fields, old or new or {})
        yield Change(at, _kind(old, new), replaces)
        return
    yield from _objects(field.fields, old, new, path, at, same)


def _holds_replacing(fields: dict[str, Field], values: dict[str, Any]) -> bool:
    for name, value in values.items():
        field = fields.get(name)
        if field is None or field.output or not value:
            continue
        if field.replaces:
            return True
        items = value if isinstance(value, list) else [value]
        if any(isinstance(item, dict) and _holds_replacing(field.fields, item) for item in items):
            return True
    return False


def _lists(
    field: Field, old: list[Any], new: list[Any], path: str, at: str, same: Same
) -> Iterator[Change]:
    if not old and not new:
        return
    if not old or not new:
        given = [item for item in [*old, *new] if isinstance(item, dict)]
        replaces = field.replaces or any(_holds_replacing(field.fields, item) for item in given)
        yield Change(at, "add" if not old else "delete", replaces)
        return
    pairs = _by_equality(field, old, new, path, same) if field.set else _by_position(old, new)
    for index, before, after in pairs:
        here = f"{at}[{index}]"
        if field.kind == "blocks" and before is not None and after is not None:
            yield from _objects(field.fields, before, after, path, here, same)
        elif before != after:
            replaces = field.replaces
            if field.kind == "blocks":
                replaces = replaces or _holds_replacing(field.fields, before or after or {})
            yield Change(here, _kind(before, after), replaces)


Pairs = list[tuple[int, Any, Any]]


def _by_position(old: list[Any], new: list[Any]) -> Pairs:
    length = max(len(old), len(new))
    return [
        (i, old[i] if i < len(old) else None, new[i] if i < len(new) else None)
        for i in range(length)
    ]


def _by_equality(field: Field, old: list[Any], new: list[Any], path: str, same: Same) -> Pairs:
    """Members of a set: equal ones are left out, the others are paired in their order."""

    def equal(before: Any, after: Any) -> bool:
        if field.kind == "list":
            return before == after or same(path, before, after)
        if has_unknown(after):
            return False
        return not list(_objects(field.fields, before, after, path, "", same))

    left = list(enumerate(old))
    added = []
    for index, item in enumerate(new):
        match = next((pair for pair in left if equal(pair[1], item)), None)
        if match:
            left.remove(match)
        else:
            added.append((index, item))
    pairs: Pairs = []
    while added or left:
        before = left.pop(0) if left else None
        after = added.pop(0) if added else None
        index = after[0] if after else before[0] if before else 0
        pairs.append((index, before and before[1], after and after[1]))
    return pairs


def _maps(field: Field, old: dict[str, Any], new: dict[str, Any], at: str) -> Iterator[Change]:
    if not old and not new:
        return
    for key in sorted(set(old) | set(new)):
        if old.get(key) != new.get(key):
            yield Change(f"{at}{key_path(key)}", _kind(old.get(key), new.get(key)), field.replaces)


def key_path(key: str) -> str:
    """A map's key as the engine writes it in a path."""
    return f".{key}" if re.fullmatch(r"[A-Za-z0-9_$]+", key) else f"[{json.dumps(key)}]"
