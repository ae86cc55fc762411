"""Reads the events of a run out of files: JSON lines, as programs and pods write them.

A pod's log holds other lines too, and a process that is killed leaves its last line torn, which
the next life goes on with. Both are told apart and noted, none is an error.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import cast

from spotproof_gke.problems import Problem, raise_if_any

STANDARD_INPUT = "-"

_START = '{"time"'
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Event:
    """One event as it was read.

    Attributes:
        name: What happened, for example `save_finished`.
        time: Seconds since 1970.
        run: The name of the run, None when the line has none.
        pid: The process.
        source: File and line, for messages.
        fields: What else the line says.
    """

    name: str
    time: float
    run: str | None
    pid: int | None
    source: str
    fields: Mapping[str, object]

    def number(self, key: str) -> float | None:
        """The field `key` if it is a finite number of 0 or more."""
        return _number(self.fields.get(key))

    def text(self, key: str) -> str | None:
        """The field `key` if it is a text."""
        value = self.fields.get(key)
        return value if isinstance(value, str) else None


@dataclass
class Reading:
    """The events of all files in the order of their lines, and what to know about the files."""

    events: list[list[Event]] = field(default_factory=list[list[Event]])
    """One list for each file."""
    notes: list[str] = field(default_factory=list[str])

    def of_run(self, run: str | None) -> "Reading":
        """The events of one run.

        Args:
            run: Its name; None when the files hold one run only.

        Raises:
            ProblemsError: for a run that is not in the files, none or several to choose from.
        """
        counts = Counter(event.run for events in self.events for event in events)
        names = sorted(name for name in counts if name is not None)
        raise_if_any("events", _run_problems(run, names, counts.total()))
        if run is None:
            return self
        kept = [[event for event in events if event.run == run] for events in self.events]
        return Reading([events for events in kept if events], list(self.notes))


def _run_problems(run: str | None, names: Sequence[str], count: int) -> list[Problem]:
    known = ", ".join(names) or "no named run"
    if not count:
        return [
            Problem(
                "EVENTS",
                None,
                "there is no event in any of the files",
                "name the logs of a program that uses spotproof_runtime",
            )
        ]
    if run is None and len(names) > 1:
        return [Problem("--run", None, f"the files hold several runs ({known})", "choose one")]
    if run is not None and run not in names:
        return [Problem("--run", run, f"the files do not hold it, but {known}", "choose another")]
    return []


def read_files(paths: Sequence[str]) -> Reading:
    """Reads event files; `-` is standard input.

    Raises:
        ProblemsError: naming every file that can't be read.
    """
    reading = Reading()
    problems: list[Problem] = []
    for path in paths:
        try:
            if path == STANDARD_INPUT:
                _read(reading, "standard input", sys.stdin)
            else:
                with Path(path).open(encoding="utf-8", errors="replace") as lines:
                    _read(reading, path, lines)
        except (OSError, ValueError) as error:
            why = (error.strerror if isinstance(error, OSError) else None) or str(error)
            problems.append(
                Problem(path, None, f"can't be read: {why}", "name a file of JSON lines")
            )
    raise_if_any("event files", problems)
    return reading


def _read(reading: Reading, name: str, lines: Iterable[str]) -> None:
    events: list[Event] = []
    foreign, torn = 0, list[int]()
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text:
            continue
        found = _parse(text, f"{name}:{number}")
        if found is not None:
            events.append(found)
        elif _START[:4] in text:
            torn.append(number)
        else:
            foreign += 1
    if events:
        reading.events.append(events)
    else:
        reading.notes.append(f"{name} holds no event")
    if torn:
        shown = ", ".join(str(number) for number in torn[:5]) + (", …" if len(torn) > 5 else "")
        plural = "s" if len(torn) > 1 else ""
        reading.notes.append(f"{name}: torn or spoiled event in line{plural} {shown}, left out")
    if foreign and events:
        lines_are = "1 line is no event" if foreign == 1 else f"{foreign} lines are no events"
        reading.notes.append(f"{name}: {lines_are}, left out")


def _parse(text: str, source: str) -> Event | None:
    """The event in a line, also behind the torn beginning of another one or a time stamp."""
    start = text.find("{")
    while start >= 0:
        try:
            found = cast(object, _DECODER.raw_decode(text, start)[0])
        except (ValueError, RecursionError):
            found = None
        event = _event(found, source)
        if event is not None:
            return event
        start = text.find(_START, start + 1)
    return None


def _event(found: object, source: str) -> Event | None:
    if not isinstance(found, dict):
        return None
    fields = cast(dict[str, object], found)
    name, time = fields.pop("event", None), _number(fields.pop("time", None))
    run, pid = fields.pop("run", None), fields.pop("pid", None)
    if not isinstance(name, str) or time is None:
        return None
    return Event(
        name=name,
        time=time,
        run=run if isinstance(run, str) else None,
        pid=pid if isinstance(pid, int) else None,
        source=source,
        fields=fields,
    )


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) and number >= 0 else None
