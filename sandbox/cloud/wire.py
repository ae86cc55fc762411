"""Values on the wire: protobuf structs to plain Python and back, with unknowns and secrets."""

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf import struct_pb2

UNKNOWN_TEXT = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"


class Unknown:
    """A value that is not known before the update."""

    def __repr__(self) -> str:
        return "unknown"

    def __deepcopy__(self, memo: object) -> "Unknown":
        return self


UNKNOWN: Final = Unknown()


def unmarshal(struct: struct_pb2.Struct) -> tuple[dict[str, Any], frozenset[str]]:
    """The properties as plain values, and the names of those that hold a secret anywhere."""
    values, secrets = {}, set()
    for name, value in struct.fields.items():
        values[name], secret = _read(value)
        if secret:
            secrets.add(name)
    return values, frozenset(secrets)


def plain(struct: struct_pb2.Struct) -> dict[str, Any]:
    """The properties as plain values; who asks does not care for secrets."""
    return unmarshal(struct)[0]


def _read(value: struct_pb2.Value) -> tuple[Any, bool]:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        fields = value.struct_value.fields
        if _SIGNATURE in fields and fields[_SIGNATURE].string_value == _SECRET:
            return _read(fields["value"])[0], True
        read, secrets = unmarshal(value.struct_value)
        return read, bool(secrets)
    if kind == "list_value":
        items = [_read(item) for item in value.list_value.values]
        return [item for item, _ in items], any(secret for _, secret in items)
    if kind == "number_value":
        number = value.number_value
        return (int(number) if number.is_integer() else number), False
    if kind == "string_value":
        text = value.string_value
        return (UNKNOWN if text == UNKNOWN_TEXT else text), False
    return (value.bool_value if kind == "bool_value" else None), False


def marshal(
    properties: Mapping[str, Any], secrets: frozenset[str] = frozenset()
) -> struct_pb2.Struct:
    """A struct of `properties`; those named in `secrets` are marked, absent ones left out."""
    struct = struct_pb2.Struct()
    for name, value in properties.items():
        if value is None:
            continue
        if name in secrets:
            wrapped = struct.fields[name].struct_value
            wrapped.fields[_SIGNATURE].string_value = _SECRET
            _write(wrapped.fields["value"], value)
        else:
            _write(struct.fields[name], value)
    return struct


def _write(target: struct_pb2.Value, value: Any) -> None:
    if value is UNKNOWN:
        target.string_value = UNKNOWN_TEXT
    elif value is None:
        target.null_value = struct_pb2.NULL_VALUE
    elif isinstance(value, bool):
        target.bool_value = value
    elif isinstance(value, (int, float)):
        target.number_value = value
    elif isinstance(value, str):
        target.string_value = value
    elif isinstance(value, Mapping):
        target.struct_value.SetInParent()
        for name, item in value.items():
            if item is not None:
                _write(target.struct_value.fields[name], item)
    else:
        target.list_value.SetInParent()
        for item in value:
            _write(target.list_value.values.add(), item)


def has_unknown(value: Any) -> bool:
    """Whether `value` is unknown, or holds something unknown."""
    if isinstance(value, Mapping):
        return any(has_unknown(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return any(has_unknown(item) for item in value)
    return value is UNKNOWN
