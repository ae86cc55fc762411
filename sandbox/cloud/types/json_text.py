"""JSON in text: what the provider, which is written in Go, says of text that is none."""

import json
from typing import Any

_OBJECT_KEY = "looking for beginning of object key string"
_REASONS = {
    "Expecting property name enclosed in double quotes": _OBJECT_KEY,
    "Illegal trailing comma before end of object": _OBJECT_KEY,
    "Illegal trailing comma before end of array": "looking for beginning of value",
    "Expecting value": "looking for beginning of value",
    "Expecting ':' delimiter": "after object key",
    "Extra data": "after top-level value",
    "Invalid control character at": "in string literal",
    "Invalid \\escape": "in string escape code",
    "Invalid \\uXXXX escape": "in \\u hexadecimal character escape",
}


def _no_constant(name: str) -> Any:
    raise json.JSONDecodeError("Expecting value", name, 0)


def parse(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: It is no JSON; the message is worded as Go words it.
    """
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise ValueError(_go_error(error)) from None
    except RecursionError:
        raise ValueError("exceeded max depth") from None


def _go_error(error: json.JSONDecodeError) -> str:
    rest = error.doc[error.pos :].lstrip(" \t\r\n")
    if error.msg.startswith("Illegal trailing comma"):
        rest = rest[1:].lstrip(" \t\r\n")
    if not rest or error.msg.startswith("Unterminated string"):
        return "unexpected end of JSON input"
    reason = _REASONS.get(error.msg)
    if reason is None:
        in_array = _innermost(error.doc[: error.pos]) == "["
        reason = "after array element" if in_array else "after object key:value pair"
    character = "'\\''" if rest[0] == "'" else repr(rest[0])
    return f"invalid character {character} {reason}"


def _innermost(text: str) -> str:
    """The bracket that is open at the end of the text."""
    opened: list[str] = []
    in_string = escaped = False
    for char in text:
        if in_string:
            in_string = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            in_string = True
        elif char in "[{":
            opened.append(char)
        elif char in "]}" and opened:
            opened.pop()
    return opened[-1] if opened else ""
