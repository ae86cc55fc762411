"""From inputs to states and back: what a plan shows, what an update keeps, what a refresh finds."""

from typing import Any

from sandbox.cloud.schema import Field
from sandbox.cloud.wire import UNKNOWN

Properties = dict[str, Any]


def merge(fields: dict[str, Field], wanted: Properties, old: Properties) -> Properties:
    """The wanted properties; what is left out and computed keeps its value."""
    merged = dict(wanted)
    for name, value in old.items():
        field = fields.get(name)
        if name in merged:
            if field is not None and field.kind == "block" and isinstance(value, dict):
                merged[name] = merge(field.fields, merged[name], value)
        elif field is None or field.computed or field.output:
            merged[name] = value
    return merged


def unknown_within(fields: dict[str, Field], values: Properties) -> Properties:
    """The values of a new resource; in its blocks, what the server fills in is unknown."""
    state = dict(values)
    for name, field in fields.items():
        value = values.get(name)
        if field.kind != "block" or not isinstance(value, dict):
            continue
        inner = unknown_within(field.fields, value)
        for each in field.fields.values():
            if each.name not in inner and (each.computed or each.output):
                inner[each.name] = UNKNOWN
        state[name] = inner
    return state


def inputs_of(fields: dict[str, Field], state: Properties) -> Properties:
    """The inputs that would give this state."""
    found: Properties = {}
    for name, field in fields.items():
        value = state.get(name)
        if field.output or not value or value == field.default:
            continue
        if field.kind == "block":
            value = inputs_of(field.fields, value)
        elif field.kind == "blocks":
            value = [inputs_of(field.fields, item) for item in value]
        found[name] = value
    return found


def refreshed(inputs: Properties, state: Properties) -> Properties:
    """The recorded inputs with the values that a refresh has found."""
    fresh: Properties = {}
    for name, value in inputs.items():
        found = state.get(name)
        if name.startswith("__"):
            fresh[name] = value
        elif isinstance(value, dict) and isinstance(found, dict):
            fresh[name] = refreshed(value, found)
        elif name in state:
            fresh[name] = found
    return fresh


def without_notes(values: Any) -> Any:
    """The values without the provider's own notes on them."""
    if isinstance(values, dict):
        return {k: without_notes(v) for k, v in values.items() if not k.startswith("__")}
    if isinstance(values, list):
        return [without_notes(item) for item in values]
    return values
