"""What a message of the queue holds: 1 to 10 items of work, each with a key of the business."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

FORMAT = 1
"""Version of the format, in each message and in its attribute `spotproof-format`."""

MOST_ITEMS = 10
"""The most items in one message: what is lost when its worker is taken away."""

MOST_KEY_BYTES = 256
"""The longest key in UTF-8: quoted threefold it still fits into an object's name."""

MOST_MESSAGE_BYTES = 9_000_000
"""The largest payload that is published; Pub/Sub itself takes 10 MB with all attributes."""


class Undecodable(ValueError):
    """A message that no retry can mend: not of the format that `publish` writes."""


@dataclass(frozen=True)
class Item:
    """One piece of work.

    Attributes:
        key: names the result; the same work has the same key whenever it is published.
        value: what the work needs to know, anything that JSON holds.
    """

    key: str
    value: Any = None


def key_problem(key: object) -> str | None:
    """Why a key cannot be used, or None."""
    if not isinstance(key, str):
        return f"a key is text, not {type(key).__name__}"
    if not key:
        return "a key has at least one character"
    if "\0" in key:
        return f"key {key!r}: a database takes no NUL character in text"
    try:
        size = len(key.encode())
    except UnicodeEncodeError:
        return f"key {key!r} is not valid Unicode"
    if size > MOST_KEY_BYTES:
        return f"key {key[:40]!r}... has {size} bytes; at most {MOST_KEY_BYTES} (see stable_key)"
    return None


def stable_key(text: str) -> str:
    """A key for any text: the text itself where it fits, else its start and its SHA-256."""
    text = text.encode(errors="backslashreplace").decode().replace("\0", "\\0")
    if not key_problem(text):
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{text.encode()[:160].decode(errors='ignore')}~{digest}" if text else digest


def encode(items: Sequence[Item]) -> bytes:
    """The payload of a message.

    Raises:
        ValueError: there are none or more than 10 items, a key cannot be used or appears twice,
            a value is not JSON, or the payload is larger than 9 MB; all problems at once.
    """
    problems = _problems([item.key for item in items])
    try:
        payload = json.dumps(
            {"format": FORMAT, "items": [{"key": i.key, "value": i.value} for i in items]},
            separators=(",", ":"),
            allow_nan=False,
        ).encode()
    except (TypeError, ValueError) as error:
        problems.append(f"a value that is not JSON: {error}")
        payload = b""
    if len(payload) > MOST_MESSAGE_BYTES:
        problems.append(f"{len(payload)} bytes; at most {MOST_MESSAGE_BYTES}: publish a reference")
    if problems:
        raise ValueError("message cannot be published: " + "; ".join(problems))
    return payload


def decode(payload: bytes) -> tuple[Item, ...]:
    """The items of a message.

    Raises:
        Undecodable: the payload is not of the format; says where, without the payload's text.
    """
    try:
        found = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise Undecodable(f"the payload is not JSON ({type(error).__name__})") from None
    if not isinstance(found, dict):
        raise Undecodable(f"the payload is a JSON {type(found).__name__}, not an object")
    message = cast(dict[str, Any], found)
    if message.get("format") != FORMAT:
        raise Undecodable(
            f"format {str(message.get('format'))[:20]!r}; this worker reads format {FORMAT}"
        )
    entries = message.get("items")
    if not isinstance(entries, list):
        raise Undecodable("no list `items`")
    items = [_item(at, entry) for at, entry in enumerate(cast(list[Any], entries))]
    problems = _problems([item.key for item in items])
    if problems:
        raise Undecodable("; ".join(problems))
    return tuple(items)


def _item(at: int, entry: Any) -> Item:
    if not isinstance(entry, dict) or "key" not in entry:
        raise Undecodable(f"item {at} is not an object with a `key`")
    fields = cast(dict[str, Any], entry)
    return Item(fields["key"], fields.get("value"))


def _problems(keys: Sequence[object]) -> list[str]:
    problems = [problem for key in keys if (problem := key_problem(key))]
    if not 1 <= len(keys) <= MOST_ITEMS:
        problems.append(f"{len(keys)} items; a message holds 1 to {MOST_ITEMS}")
    if not problems and len(set(keys)) < len(keys):
        problems.append("a key appears twice")
    return problems
