"""RFC 3339 times: what the provider, which is written in Go, says of text that is none."""

import calendar
import json
import re

_LAYOUT = "2006-01-02T15:04:05Z07:00"
# What is read one after the other: Go's name of the part, its form, its name and its range.
_PARTS = (
    ("2006", r"\d{4}", "", 0, 9999),
    ("-", "-", "", 0, 0),
    ("01", r"\d{2}", "month", 1, 12),
    ("-", "-", "", 0, 0),
    ("02", r"\d{2}", "", 0, 99),
    ("T", "T", "", 0, 0),
    ("15", r"\d{2}|\d(?!\d)", "hour", 0, 23),
    (":", ":", "", 0, 0),
    ("04", r"\d{2}", "minute", 0, 59),
    (":", ":", "", 0, 0),
    ("05", r"\d{2}([.,]\d+)?", "second", 0, 59),
    ("Z07:00", r"Z|[+-]\d{2}:\d{2}", "", 0, 0),
)


def complaint(text: str) -> str | None:
    """What is wrong with the time, in Go's words; None when nothing is."""
    rest, read = text, []
    for layout, form, name, low, high in _PARTS:
        match = re.match(form, rest, re.ASCII)
        if match is None:
            return (
                f"parsing time {_quoted(text)} as {_quoted(_LAYOUT)}: cannot parse "
                f"{_quoted(rest)} as {_quoted(layout)}"
            )
        found = match.group()
        read.append(found)
        if name and not low <= int(found[:2]) <= high:
            return f"parsing time {_quoted(text)}: {name} out of range"
        rest = rest[len(found) :]
    if rest:
        return f"parsing time {_quoted(text)}: extra text: {_quoted(rest)}"
    year, month, day = int(read[0]), int(read[2]), int(read[4])
    if not 1 <= day <= (calendar.monthrange(year, month)[1] if year else 31):
        return f"parsing time {_quoted(text)}: day out of range"
    return None


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
