"""Events of made-up runs, as lines of a file."""

import io
import json
from pathlib import Path

from spotproof_runtime import EventLog


class Lines:
    """Writes events at times of one's choice, with the real `EventLog`."""

    def __init__(self, run: str | None = "run-42", start: float = 1_700_000_000.0) -> None:
        self.start = start
        self.now = 0.0
        self.stream = io.StringIO()
        self._log = EventLog(self.stream, run=run, clock=lambda: self.start + self.now)

    def at(self, now: float, event: str, **fields: object) -> "Lines":
        """Writes `event` as of `now` seconds after the start."""
        self.now = now
        self._log.record(event, **fields)  # type: ignore[arg-type]
        return self

    def raw(self, text: str) -> "Lines":
        """Writes what is no event of ours."""
        self.stream.write(text)
        return self

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    def file(self, path: Path) -> str:
        """Writes all lines to `path`; returns its name."""
        path.write_text(self.text, encoding="utf-8")
        return str(path)


def as_process(text: str, pid: int) -> str:
    """The same lines as if another process had written them."""
    lines = [json.loads(line) | {"pid": pid} for line in text.splitlines()]
    return "".join(json.dumps(line) + "\n" for line in lines)


def first_life(lines: Lines, begin: float = 0.0) -> Lines:
    """100 s: 5 to start, 5 to restore nothing, 5 to warm up, then steps of 1 s and a save of 5 s.

    Killed without notice at step 75, with step 50 saved.
    """
    return (
        lines.at(begin + 5, "run_started", seconds=5.0)
        .at(begin + 10, "restored", step=0, seconds=5.0, skipped=[])
        .at(begin + 35, "progress", step=20, steps=20, seconds=20.0)
        .at(begin + 65, "progress", step=50, steps=30, seconds=30.0)
        .at(begin + 65, "save_started", step=50)
        .at(begin + 75, "save_finished", step=50, blocking_seconds=5, total_seconds=10, bytes=10**6)
        .at(begin + 95, "progress", step=75, steps=25, seconds=30.0)
    )


def second_life(lines: Lines, begin: float = 155.0) -> Lines:
    """65 s from step 50 on; a save of 4 s on SIGTERM lands at step 90, 6 s after the notice."""
    return (
        lines.at(begin + 5, "run_started", seconds=5.0)
        .at(begin + 15, "restored", step=50, seconds=10.0, skipped=[])
        .at(begin + 55, "progress", step=88, steps=38, seconds=38.0)
        .at(begin + 55, "notice", remaining_seconds=13.0, reason="SIGTERM")
        .at(begin + 57, "save_started", step=90)
        .at(begin + 61, "save_finished", step=90, blocking_seconds=4, total_seconds=4, bytes=10**6)
        .at(begin + 61, "interrupted", outcome="saved", step=90, lost_steps=0, seconds=4.0)
    )


def last_life(lines: Lines, begin: float = 300.0) -> Lines:
    """30 s from step 90 to 100, all done."""
    return (
        lines.at(begin + 5, "run_started", seconds=5.0)
        .at(begin + 15, "restored", step=90, seconds=10.0, skipped=[])
        .at(begin + 25, "progress", step=100, steps=10, seconds=10.0)
        .at(begin + 30, "run_finished", step=100)
    )
