"""Names of tables, and the JSON that goes into them."""

import json
import re
from typing import Any

from spotproof_runtime.sinks.protocol import Row, RowRefused

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,49}")

MOST_VERSION = 2**63 - 1
"""The highest version: a signed integer of 64 bits in every database."""


def table_name(table: str, *, with_schema: bool = False) -> tuple[str, ...]:
    """The parts of a table's name: schema, if any, and table.

    Raises:
        ValueError: a part is not 1 to 50 lower-case letters, digits and underscores, not starting
            with a digit: what needs no quotes in any database, with room for `_errors`.
    """
    parts = tuple(table.split("."))
    most = 2 if with_schema else 1
    if len(parts) > most or not all(_NAME.fullmatch(part) for part in parts):
        form = "TABLE or SCHEMA.TABLE" if with_schema else "TABLE"
        raise ValueError(
            f"table {table!r}: write {form}, each of 1 to 50 lower-case letters, digits and "
            "underscores, not starting with a digit"
        )
    return parts


def checked_version(version: int) -> int:
    """The version of a sink's rows.

    Raises:
        ValueError: it is not a whole number from 0 to 2**63 - 1.
    """
    if type(version) is not int or not 0 <= version <= MOST_VERSION:
        raise ValueError(
            f"version {version!r}: a whole number from 0; raise it when the results of new code "
            "or a new model are to replace the old ones"
        )
    return version


def as_json(row: Row) -> str:
    """The row's value as JSON text.

    Raises:
        RowRefused: the value is not JSON: NaN and infinity are not, nor is a NUL character.
    """
    try:
        text = json.dumps(row.value, allow_nan=False, separators=(",", ":"))
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise RowRefused(f"row {row.key!r}: the value is not JSON: {error}") from None
    if "\\u0000" in text and _has_nul(row.value):
        raise RowRefused(f"row {row.key!r}: a database takes no NUL character in text")
    return text


def newest(rows: "list[Row] | tuple[Row, ...]") -> dict[str, Row]:
    """One row per key, ordered by key: two writers then lock rows in one order."""
    return dict(sorted({row.key: row for row in rows}.items()))


def _has_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(_has_nul(each) for pair in value.items() for each in pair)  # pyright: ignore
    if isinstance(value, (list, tuple)):
        return any(_has_nul(each) for each in value)  # pyright: ignore
    return False
