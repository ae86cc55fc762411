"""Tells of the first notice, once: those who wait, callbacks, and the record."""

import contextlib
import threading
from collections.abc import Callable

from spotproof_runtime.events import EventLog


class Announcement:
    """Wakes waiting threads and runs callbacks, each in a thread of its own.

    One that blocks holds up neither the others nor the watch over the deadline.

    Args:
        events: where the errors of callbacks are recorded.
    """

    def __init__(self, events: EventLog) -> None:
        self._events = events
        self._told = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self._record: threading.Thread | None = None

    @property
    def made(self) -> bool:
        """Whether it was told."""
        return self._told.is_set()

    def wait(self, seconds: float) -> None:
        """Waits until it is told, at most for `seconds`."""
        self._told.wait(max(min(seconds, threading.TIMEOUT_MAX), 0))

    def add(self, callback: Callable[[], None]) -> None:
        """Runs `callback` when it is told, at once if it was."""
        with self._lock:
            if not self.made:
                self._callbacks.append(callback)
                return
        self._start(callback)

    def make(self, record: Callable[[], None]) -> None:
        """Tells it, by one thread at a time; never call it in a signal handler.

        Args:
            record: writes it down.
        """
        with self._lock:
            if self.made:
                return
            self._told.set()
            callbacks, self._callbacks = self._callbacks, []
        self._record = self._start(record)
        for callback in callbacks:
            self._start(callback)

    def finish(self, seconds: float) -> None:
        """Waits until it is written down, at most for `seconds`."""
        if self._record is not None:
            self._record.join(seconds)

    def renew(self) -> None:
        """Makes the locks usable in a forked child, where the threads that held them are gone."""
        told = self.made
        self._told, self._lock, self._record = threading.Event(), threading.Lock(), None
        self._callbacks = []
        if told:
            self._told.set()

    def _start(self, work: Callable[[], None]) -> threading.Thread | None:
        thread = threading.Thread(target=self._run, args=(work,), name="spotproof-notice")
        thread.daemon = True
        with contextlib.suppress(RuntimeError):
            thread.start()
            return thread
        # There may be no more threads, but what is to be told may be what saves the work.
        self._run(work)
        return None

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            self._events.record("notice_callback_failed", error=f"{type(error).__name__}: {error}")
