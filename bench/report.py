"""What was measured: a table for people, JSON for programs."""

import datetime
import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.timing import Ratio


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes:
        name: what was measured.
        wall: the ratio of wall times, or None for a figure that is no ratio.
        cpu: the ratio of CPU times of all processes together.
        goal: the most that `seconds` may be, or else `wall`; None where there is no goal.
        seconds: the figure where it is a difference of times.
        value: the figure where it is no ratio, with its unit.
        detail: where it comes from, such as the times behind a ratio.
        samples: how many runs of each side.
        data: all that was measured, for JSON.
    """

    name: str
    samples: int
    wall: Ratio | None = None
    cpu: Ratio | None = None
    goal: float | None = None
    seconds: float | None = None
    value: str = ""
    detail: str = ""
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """`ok`, `MISSED`, or nothing where there is no goal."""
        figure = self.wall.median if self.seconds is None and self.wall else self.seconds
        if self.goal is None or figure is None:
            return ""
        return "ok" if figure <= self.goal else "MISSED"


def table(rows: Sequence[Row]) -> str:
    """The rows, one a line; ratios are medians, with the least and the most in brackets."""
    cells = [("what", "ratio (least to most)", "CPU", "goal", "", "samples", "seconds")]
    cells += [
        (
            row.name,
            row.value or _shown(row),
            f"{row.cpu.median:.2f}" if row.cpu else "",
            _goal(row),
            row.verdict,
            str(row.samples),
            row.detail,
        )
        for row in rows
    ]
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    padded = (zip(line, widths, strict=True) for line in cells)
    return "\n".join("  ".join(f"{c:<{w}}" for c, w in line).rstrip() for line in padded)


def _shown(row: Row) -> str:
    if row.seconds is not None:
        return f"{row.seconds:.1f} s more"
    ratio = row.wall
    return f"{ratio.median:.2f} ({ratio.least:.2f} to {ratio.most:.2f})" if ratio else ""


def _goal(row: Row) -> str:
    if row.goal is None:
        return ""
    return f"<= {row.goal:g} s" if row.seconds is not None else f"<= {row.goal:.2f}"


def machine(engine: str) -> str:
    """Where and when it was measured."""
    today = datetime.date.today().isoformat()
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    python = platform.python_version()
    return (
        f"{today}, {os.cpu_count()} x {_processor()}, {platform.system()} {platform.release()}, "
        f"Python {python}, pulumi {engine}, load before {load}"
    )


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def as_json(rows: Sequence[Row], where: str) -> str:
    """Everything that was measured."""
    content = {
        "machine": where,
        "rows": [asdict(row) | {"verdict": row.verdict} for row in rows],
    }
    return json.dumps(content, indent=2) + "\n"
