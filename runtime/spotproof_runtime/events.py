"""What happened to a run, as JSON lines: one event a line, with the time and the run."""

import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from spotproof_runtime.patient_lines import PatientLines

Value = str | int | float | bool | None | list[str]
"""What a field of an event may hold; never a secret."""

Listener = Callable[[Mapping[str, Value]], None]
"""Is told each event, the `time`, `event`, `pid` and `run` of its line included."""


class EventLog:
    """Writes events as JSON lines. Never raises: a full disk must not end a training.

    A stream that nobody reads holds up nothing for longer than a quarter of a second: lines then
    wait for the next event, the newest 1000 of them.

    Args:
        stream: where the lines go, standard error unless said otherwise.
        run: name of the run, in every line when given.
        clock: seconds since 1970.
        listeners: who else is told, for example `Metrics`; their errors are passed over.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        run: str | None = None,
        clock: Callable[[], float] = time.time,
        listeners: Sequence[Listener] = (),
    ) -> None:
        self._stream = stream
        self._run = run
        self._clock = clock
        self._listeners = tuple(listeners)
        self._lock = threading.Lock()
        self._lines = PatientLines()

    def record(self, event: str, **fields: Value) -> None:
        """Writes one event.

        Args:
            event: what happened, for example `save_finished`.
            fields: more about it; times end in `_seconds`, sizes in `_bytes`.
        """
        line = {"time": round(self._clock(), 3), "event": event, "pid": os.getpid()}
        if self._run is not None:
            line["run"] = self._run
        line |= fields
        with contextlib.suppress(OSError, ValueError):
            text = json.dumps(line, default=str)
            with self._lock:
                self._lines.add(text)
                self._lines.write(self._stream or sys.stderr)
        for listener in self._listeners:
            with contextlib.suppress(Exception):
                listener(line)

    def record_start(self) -> None:
        """Writes `run_started`, with the seconds since the process began: imports, mostly."""
        self.record("run_started", seconds=round(process_age_seconds(), 3))


def process_age_seconds() -> float:
    """Seconds since this process began; 0 where the system does not tell."""
    try:
        # The name of the program, in brackets, may hold anything.
        after_name = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        began = int(after_name[19]) / os.sysconf("SC_CLK_TCK")
        up = float(Path("/proc/uptime").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return 0.0
    return max(up - began, 0.0)
