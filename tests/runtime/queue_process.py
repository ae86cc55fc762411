"""A worker in a process of its own, for tests that kill it.

Each step of each key goes to a log as one line: what, key, process, time.
"""

import os
import signal
import threading
import time
from collections.abc import Sequence
from types import FrameType

from spotproof_runtime import EventLog, Item, PostgresSink, QueueWorker, Row

BUDGET_SECONDS = 13.0


class SignalStop:
    """The least that a worker needs to know of SIGTERM."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._at = 0.0
        signal.signal(signal.SIGTERM, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._at = time.monotonic()
        self._event.set()

    @property
    def requested(self) -> bool:
        return self._event.is_set()

    def remaining(self) -> float:
        if not self.requested:
            return float("inf")
        return BUDGET_SECONDS - (time.monotonic() - self._at)

    def wait(self, seconds: float) -> bool:
        return self._event.wait(seconds)


class Log:
    """Lines that many processes append to; a kill leaves whole lines."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(self, what: str, key: str) -> None:
        os.write(self._file, f"{what} {key} {os.getpid()} {time.monotonic():.4f}\n".encode())


class LoggedSink(PostgresSink):
    """Notes what is stored."""

    log: Log

    def put(self, rows: Sequence[Row]) -> None:
        super().put(rows)
        for row in rows:
            self.log.note("stored", row.key)


def work(
    environment: dict[str, str], subscription: str, table: str, log_path: str, seconds: float
) -> None:
    """Works until SIGTERM; each batch takes that long."""
    os.environ.update(environment)
    stop = SignalStop()
    log = Log(log_path)
    sink = LoggedSink(table)
    sink.log = log

    def compute(items: Sequence[Item]) -> list[Row]:
        for item in items:
            log.note("began", item.key)
        time.sleep(seconds)
        for item in items:
            log.note("computed", item.key)
        return [Row(item.key, {"twice": item.value * 2}) for item in items]

    with open(f"{log_path}.events", "a") as events:
        worker = QueueWorker(
            subscription,
            sink=sink,
            compute=compute,
            stop=stop,
            lease_step_seconds=10,
            work_estimate_seconds=seconds,
            events=EventLog(events),
        )
        log.note("ready", "-")
        worker.run()
    log.note("left", "-")
