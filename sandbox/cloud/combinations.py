"""What the provider refuses in inputs of the right types: values, counts and combinations."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sandbox.cloud.places import Place, walk
from sandbox.cloud.problems import Refusal
from sandbox.cloud.validate import found_wrong
from sandbox.cloud.wire import UNKNOWN

if TYPE_CHECKING:
    from sandbox.cloud.types.base import Kind


def refused(kind: "Kind", inputs: dict[str, Any]) -> Iterator[Refusal]:
    """Everything that the provider refuses in these inputs."""
    yield from _conflicts(kind, inputs)
    yield from _combinations(kind, inputs)
    yield from _empty_blocks(kind, inputs)
    yield from _validate(kind, inputs)


def _conflicts(kind: "Kind", inputs: dict[str, Any]) -> Iterator[Refusal]:
    places = {p.path: (p, v) for p, _, v in walk(kind.schema.fields, inputs)}
    for path, others in kind.schema.conflicts.items():
        if path not in places:
            continue
        other = next((o for o in others if o in places and places[o][1] is not UNKNOWN), None)
        if other:
            place = places[path][0]
            reason = f'"{place.tf}": conflicts with {places[other][0].tf}'
            yield Refusal(place.at, f"Conflicting configuration arguments. {reason}")


def _combinations(kind: "Kind", inputs: dict[str, Any]) -> Iterator[Refusal]:
    places = {p.path: p for p, _, _ in walk(kind.schema.fields, inputs)}
    for group in kind.schema.exactly_one_of:
        parent = group[0].rpartition(".")[0]
        if parent and parent not in places:
            continue
        above = places[parent].only() if parent else Place()
        members = sorted(
            (above.of(kind.schema.field_at(path)) for path in group), key=lambda place: place.tf
        )
        present = [place for place in members if place.path in places]
        if len(present) == 1:
            continue
        listed = ",".join(place.tf for place in members)
        specified = ",".join(place.tf for place in present)
        for place in members:
            reason = (
                f"only one of `{listed}` can be specified, but `{specified}` were specified."
                if present
                else f"one of `{listed}` must be specified"
            )
            text = f'Invalid combination of arguments. "{place.tf}": {reason}'
            yield Refusal(place.at, text)


def _empty_blocks(kind: "Kind", inputs: dict[str, Any]) -> Iterator[Refusal]:
    """Blocks of which at least one property must be set; defaults would set those that have one."""
    for path, names in kind.limits.at_least_one_of.items():
        block = kind.schema.field_at(path)
        members = [each for each in block.fields.values() if not each.output]
        members = [each for each in members if names is None or each.name in names]
        for place, _, value in walk(kind.schema.fields, inputs):
            if place.path != path or not isinstance(value, dict):
                continue
            places = sorted((place.only().of(each) for each in members), key=lambda each: each.tf)
            if any(each.name in value for each in members):
                continue
            listed = ",".join(each.tf for each in places)
            for each in places:
                text = f'"{each.tf}": one of `{listed}` must be specified'
                yield Refusal(each.at, f"Missing required argument. {text}")


def _validate(kind: "Kind", inputs: dict[str, Any]) -> Iterator[Refusal]:
    for place, field, value in walk(kind.schema.fields, inputs):
        if value is UNKNOWN:
            continue
        if place.path in kind.limits.items:
            low, high = kind.limits.items[place.path]
            yield from _count(place, len(value), low, high)
        validator = kind.checks.get(place.path)
        if validator is None:
            continue
        items = enumerate(value) if field.kind == "list" else [(None, value)]
        for index, item in items:
            here = place if index is None else place.item(index)
            if item is not UNKNOWN:
                for complaint in found_wrong(validator, here.tf, item):
                    yield Refusal(here.at, complaint)


def _count(place: Place, count: int, low: float, high: float) -> Iterator[Refusal]:
    if count > high:
        text = f"{place.tf} supports {high} item maximum, but config has {count} declared."
        yield Refusal(place.at, f"Too many list items. Attribute {text}")
    if count < low:
        text = f"{place.tf} requires {low} item minimum, but config has only {count} declared."
        yield Refusal(place.at, f"Not enough list items. Attribute {text}")
