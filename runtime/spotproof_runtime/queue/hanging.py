"""Ends a worker that hangs in one batch: its lease would be extended for as long as it lives."""

import faulthandler
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from spotproof_gke.contract import EXIT_ERROR
from spotproof_runtime.events import EventLog
from spotproof_runtime.queue.batch import Batch
from spotproof_runtime.stop import Stop

SETTLE_SECONDS = 10.0
"""How long counting the error and giving the messages back may take: the sink may hang too."""


class HangWatch:
    """A thread that ends the process when a batch takes too long.

    What hangs cannot be told to stop. So the error is counted against the items, that what hangs
    again and again becomes poison, the messages go back, and the process ends with 1, for its pod
    to start it anew. Once the program must end, the notice decides.

    Args:
        limit_seconds: how long one batch may take.
        current: the batch in hand, if any.
        stop: once requested, nothing is ended here.
        events: where it is recorded.
    """

    def __init__(
        self,
        limit_seconds: float,
        current: Callable[[], Batch | None],
        stop: Stop,
        *,
        events: EventLog,
    ) -> None:
        self._limit_seconds = limit_seconds
        self._current = current
        self._stop = stop
        self._events = events
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="hang", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def close(self) -> None:
        """Lets the thread end."""
        self._closed.set()

    def _watch(self) -> None:
        while not self._closed.wait(min(1.0, self._limit_seconds / 4)):
            batch = self._current()
            if self._stop.requested:
                return
            if batch is None or batch.settled:
                continue
            seconds = time.monotonic() - batch.began_at
            if seconds > self._limit_seconds:
                self._end(batch, seconds)

    def _end(self, batch: Batch, seconds: float) -> None:
        self._events.record(
            "message_timed_out", messages=len(batch.messages), seconds=round(seconds, 3)
        )
        with suppress(OSError, ValueError, AttributeError):
            faulthandler.dump_traceback(sys.stderr)
        limit = f"not done within {self._limit_seconds:g} s (message_timeout_seconds)"
        settling = threading.Thread(target=self._settle, args=(batch, limit), daemon=True)
        settling.start()
        settling.join(SETTLE_SECONDS)
        os._exit(EXIT_ERROR)

    def _settle(self, batch: Batch, limit: str) -> None:
        try:
            batch.fail(TimeoutError(limit))
        finally:
            if not batch.settled:
                batch.give_back(limit)
