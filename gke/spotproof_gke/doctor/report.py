"""The rows of an examination as text, and as JSON."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from enum import Enum
from typing import Any

from rich.console import Console
from rich.text import Text

from spotproof_gke.doctor.row import Area, Row, Status

FORMAT_VERSION = 1
"""Version of the JSON form; it changes when a key goes or means something else."""

_STYLES = {Status.OK: "green", Status.MISSING: "bold red", Status.UNKNOWN: "yellow"}


def print_rows(rows: Sequence[Row], console: Console) -> None:
    """Print the rows by area, and how many there are of each status.

    Lines are not broken, so that a command can be copied.
    """
    for area in Area:
        of_area = [row for row in rows if row.area is area]
        if of_area:
            console.print(Text(area.value.capitalize(), style="bold"), soft_wrap=True)
        for row in of_area:
            console.print(_lines(row), soft_wrap=True)
    console.print(Text(_summary(rows)), soft_wrap=True)


def _lines(row: Row) -> Text:
    text = Text.assemble(
        "  ", (f"{row.status.value:<9}", _STYLES[row.status]), f"{row.name}: {row.found}"
    )
    if row.status is not Status.OK:
        text.append(f"\n{'':<11}why  {row.why}\n{'':<11}fix  {row.fix}")
    return text


def _summary(rows: Sequence[Row]) -> str:
    count = Counter(row.status for row in rows)
    found = ", ".join(f"{count[each]} {each.value}" for each in Status if count[each])
    return f"{found}."


def as_json(rows: Sequence[Row]) -> dict[str, Any]:
    """The rows for a program; keys as the attributes of `Row`."""
    count = Counter(row.status for row in rows)
    return {
        "version": FORMAT_VERSION,
        "rows": [
            {k: v.value if isinstance(v, Enum) else v for k, v in asdict(row).items()}
            for row in rows
        ],
        "summary": {each.value: count[each] for each in Status},
    }
