"""What happened to a run, as JSON lines: one event a line, with the time and the run."""

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TextIO

Value = str | int | float | bool | None | list[str]
"""What a field of an event may hold; never a secret."""


class EventLog:
    """Writes events as JSON lines. Never raises: a full disk must not end a training.

    Args:
        stream: where the lines go, standard error unless said otherwise.
        run: name of the run, in every line when given.
        clock: seconds since 1970.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        run: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._stream = stream
        self._run = run
        self._clock = clock
        self._lock = threading.Lock()

    def record(self, event: str, **fields: Value) -> None:
        """Writes one event.

        Args:
            event: what happened, for example `save_finished`.
            fields: more about it; times end in `_seconds`, sizes in `_bytes`.
        """
        line = {"time": round(self._clock(), 3), "event": event, "pid": os.getpid()}
        if self._run is not None:
            line["run"] = self._run
        try:
            text = json.dumps(line | fields, default=str)
            with self._lock:
                print(text, file=self._stream or sys.stderr, flush=True)
        except (OSError, ValueError):
            return
