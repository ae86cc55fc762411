"""Check: what the provider refuses in a program's inputs, and what it fills in."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from sandbox.cloud.coerce import coerced
from sandbox.cloud.combinations import refused
from sandbox.cloud.naming import DEFAULTS, kept_name
from sandbox.cloud.places import Place, dot, walk
from sandbox.cloud.problems import Refusal
from sandbox.cloud.schema import Field

if TYPE_CHECKING:
    from sandbox.cloud.types.base import Kind


def check(
    kind: "Kind",
    news: dict[str, Any],
    olds: dict[str, Any],
    name: Callable[[str], str | None],
) -> tuple[dict[str, Any], list[Refusal]]:
    """The inputs as the provider takes them, and everything that it refuses.

    `name` makes up a name for the property given, or says None where automatic names are off.
    """
    resource = kind.schema
    refusals: list[Refusal] = []
    inputs = coerced(resource.fields, news, Place(), refusals)
    made_up = _name(kind, inputs, olds, name)
    if kind.named_by and not inputs.get(kind.named_by):
        field = resource.fields[kind.named_by]
        inputs.pop(field.name, None)
        refusals.append(_required(field, Place().of(field)))
    for field, place in _missing(resource.fields, inputs, Place()):
        refusals.append(_required(field, place))
    refusals += refused(kind, inputs)
    given = {place.path for place, _, _ in walk(resource.fields, inputs)}
    _default(kind, resource.fields, inputs, "", given)
    if made_up:
        inputs[DEFAULTS] = sorted([*inputs.get(DEFAULTS, []), made_up])
    return inputs, refusals


def _required(field: Field, place: Place) -> Refusal:
    reason = f'The argument "{field.tf}" is required, but no definition was found.'
    return Refusal(place.at, f"Missing required argument. {reason}")


def _name(
    kind: "Kind",
    inputs: dict[str, Any],
    olds: dict[str, Any],
    name: Callable[[str], str | None],
) -> str:
    prop = kind.named_by
    if not prop or prop in inputs:
        return ""
    value = kept_name(olds, prop) or name(prop)
    if not value:
        return ""
    inputs[prop] = value
    return prop


def _missing(
    fields: dict[str, Field], values: dict[str, Any], place: Place
) -> Iterator[tuple[Field, Place]]:
    for field in fields.values():
        if field.required and values.get(field.name) is None:
            yield field, place.of(field)
    for name, value in values.items():
        field = fields.get(name)
        if field is None:
            continue
        here = place.of(field)
        if field.kind == "block" and isinstance(value, dict):
            yield from _missing(field.fields, value, here.only())
        elif field.kind == "blocks" and isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, dict):
                    yield from _missing(field.fields, item, here.item(index))


def _default(
    kind: "Kind", fields: dict[str, Field], values: dict[str, Any], path: str, given: set[str]
) -> None:
    """Fill in defaults, and note which, except where they would conflict with what is given."""
    filled = []
    for field in fields.values():
        here = dot(path, field.name)
        if field.default is not None and values.get(field.name) is None:
            if not any(other in given for other in kind.schema.conflicts.get(here, [])):
                values[field.name] = field.default
                filled.append(field.name)
            continue
        value = values.get(field.name)
        for item in value if isinstance(value, list) else [value]:
            if field.fields and isinstance(item, dict):
                _default(kind, field.fields, item, here, given)
    values[DEFAULTS] = filled
