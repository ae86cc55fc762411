"""Check: what the provider refuses in a program's inputs, and what it fills in."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sandbox.cloud.naming import DEFAULTS, kept_name
from sandbox.cloud.problems import Refusal, did_you_mean
from sandbox.cloud.schema import Field
from sandbox.cloud.validate import found_wrong
from sandbox.cloud.wire import UNKNOWN

if TYPE_CHECKING:
    from sandbox.cloud.types.base import Kind


@dataclass(frozen=True)
class Place:
    """Where a value is: `path` without indices, `at` with them, `tf` as Terraform writes it."""

    path: str = ""
    at: str = ""
    tf: str = ""

    def of(self, field: Field) -> "Place":
        """The property `field` of the object at this place."""
        return self.child(field.name, field.tf)

    def child(self, name: str, tf: str) -> "Place":
        """The property of this name."""
        return Place(_dot(self.path, name), _dot(self.at, name), _dot(self.tf, tf))

    def only(self) -> "Place":
        """The one object of a block."""
        return Place(self.path, self.at, f"{self.tf}.0")

    def item(self, index: int) -> "Place":
        """The object of this index."""
        return Place(self.path, f"{self.at}[{index}]", f"{self.tf}.{index}")


def _dot(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


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
    inputs = _coerce_object(resource.fields, news, Place(), refusals)
    made_up = _name(kind, inputs, olds, name)
    if kind.named_by and not inputs.get(kind.named_by):
        field = resource.fields[kind.named_by]
        inputs.pop(field.name, None)
        refusals.append(_required(field, Place().of(field)))
    for field, place in _missing(resource.fields, inputs, Place()):
        refusals.append(_required(field, place))
    refusals += _conflicts(kind, inputs)
    refusals += _combinations(kind, inputs)
    refusals += _empty_blocks(kind, inputs)
    refusals += _validate(kind, inputs)
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


def walk(
    fields: dict[str, Field], values: dict[str, Any], place: Place | None = None
) -> Iterator[tuple[Place, Field, Any]]:
    """Every property that is set, blocks before what is in them."""
    place = place or Place()
    for name, value in values.items():
        field = fields.get(name)
        if field is None or value is None:
            continue
        here = place.of(field)
        yield here, field, value
        if field.kind == "block" and isinstance(value, dict):
            yield from walk(field.fields, value, here.only())
        elif field.kind == "blocks" and isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, dict):
                    yield from walk(field.fields, item, here.item(index))


def _coerce_object(
    fields: dict[str, Field], values: dict[str, Any], place: Place, refusals: list[Refusal]
) -> dict[str, Any]:
    coerced = {}
    for name, value in values.items():
        if value is None or name.startswith("__"):
            continue
        field = fields.get(name)
        if field is None or field.output:
            at = _dot(place.at, name)
            what = "is set by the server only" if field else "is not known"
            inputs = [known for known, each in fields.items() if not each.output]
            hint = did_you_mean(name, inputs) if field is None else "leave it out"
            reason = f'Invalid or unknown key. "{name}" {what}; {hint}'
            refusals.append(Refusal(at, reason.rstrip("?") + ("?" if "mean" in hint else "")))
            continue
        coerced[name] = _coerce(field, value, place.of(field), refusals)
    return coerced


def _coerce(field: Field, value: Any, place: Place, refusals: list[Refusal]) -> Any:
    if value is UNKNOWN:
        return value
    if field.kind == "block":
        # Before version 5 of the SDK a single block was a list; the provider still takes one item.
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, dict):
            return _coerce_object(field.fields, value, place.only(), refusals)
    elif field.kind in ("blocks", "list"):
        if isinstance(value, list):
            return [_coerce_item(field, v, place.item(i), refusals) for i, v in enumerate(value)]
    elif field.kind == "map":
        if isinstance(value, dict):
            return {
                key: _coerce_scalar(field.element, item, place.child(key, key), refusals)
                for key, item in value.items()
                if item is not None
            }
    else:
        return _coerce_scalar(field.kind, value, place, refusals)
    wanted = {"block": "object", "map": "object"}.get(field.kind, "[]")
    refusals.append(_wrong_type(wanted, value, place))
    return UNKNOWN


def _coerce_item(field: Field, value: Any, place: Place, refusals: list[Refusal]) -> Any:
    if value is UNKNOWN:
        return value
    if field.kind == "list":
        return _coerce_scalar(field.element, value, place, refusals)
    if isinstance(value, dict):
        return _coerce_object(field.fields, value, place, refusals)
    refusals.append(_wrong_type("object", value, place))
    return UNKNOWN


def _coerce_scalar(kind: str, value: Any, place: Place, refusals: list[Refusal]) -> Any:
    """The value in the property's type; text and numbers pass for each other."""
    if value is UNKNOWN:
        return value
    if kind == "string" and isinstance(value, (str, bool, int, float)):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if kind == "bool" and (isinstance(value, bool) or value in ("true", "false")):
        return value in (True, "true")
    if kind in ("int", "float") and not isinstance(value, (bool, dict, list)):
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = float("nan")
        if kind == "float" and number == number:
            return number
        if number.is_integer():
            return int(number)
    wanted = {"int": "integer", "float": "number"}.get(kind, kind)
    refusals.append(_wrong_type(wanted, value, place))
    return UNKNOWN


def _wrong_type(wanted: str, value: Any, place: Place) -> Refusal:
    got = {bool: "bool", int: "number", float: "number", str: "string", dict: "object"}
    name = got.get(type(value), "[]")
    return Refusal(place.at, f"expected {wanted} type, got {_shown(value)} of type {name}")


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, (str, int, float, bool)) else "a value"


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


def _default(
    kind: "Kind", fields: dict[str, Field], values: dict[str, Any], path: str, given: set[str]
) -> None:
    """Fill in defaults, and note which, except where they would conflict with what is given."""
    filled = []
    for field in fields.values():
        here = _dot(path, field.name)
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
