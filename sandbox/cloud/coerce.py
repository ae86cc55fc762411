"""Inputs in the types of their properties."""

from typing import Any

from sandbox.cloud.places import Place, dot
from sandbox.cloud.problems import Refusal, did_you_mean
from sandbox.cloud.schema import Field
from sandbox.cloud.wire import UNKNOWN


def coerced(
    fields: dict[str, Field], values: dict[str, Any], place: Place, refusals: list[Refusal]
) -> dict[str, Any]:
    """The values in the types of their properties; what is of no fit goes to `refusals`."""
    taken = {}
    for name, value in values.items():
        if value is None or name.startswith("__"):
            continue
        field = fields.get(name)
        if field is None or field.output:
            at = dot(place.at, name)
            what = "is set by the server only" if field else "is not known"
            inputs = [known for known, each in fields.items() if not each.output]
            hint = did_you_mean(name, inputs) if field is None else "leave it out"
            reason = f'Invalid or unknown key. "{name}" {what}; {hint}'
            refusals.append(Refusal(at, reason.rstrip("?") + ("?" if "mean" in hint else "")))
            continue
        taken[name] = _coerce(field, value, place.of(field), refusals)
    return taken


def _coerce(field: Field, value: Any, place: Place, refusals: list[Refusal]) -> Any:
    if value is UNKNOWN:
        return value
    if field.kind == "block":
        # Before version 5 of the SDK a single block was a list; the provider still takes one item.
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, dict):
            return coerced(field.fields, value, place.only(), refusals)
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
        return coerced(field.fields, value, place, refusals)
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
