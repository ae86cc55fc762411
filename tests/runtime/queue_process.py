"""A worker in a process of its own, for tests that kill it.

Each step of each key goes to a log as one line: what, key, process, time.
"""

import os
import signal
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum

from spotproof_gke.contract import EXIT_DONE
from spotproof_runtime import EventLog, Interruption, Item, PostgresSink, QueueWorker, Row


class Log:
    """Lines that many processes append to; a kill leaves whole lines."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(self, what: str, key: str) -> None:
        os.write(self._file, f"{what} {key} {os.getpid()} {time.monotonic():.4f}\n".encode())


class KillAt(Enum):
    """Where in the life of a message the process kills itself, the first time it gets there."""

    NEVER = "never"
    PULLED = "pulled"
    CLAIMED = "claimed"
    COMPUTED = "computed"
    STORED = "stored"
    ACKNOWLEDGED = "acknowledged"


class Killer:
    """Kills this process at one point, unless a file says that it was done already."""

    def __init__(self, at: KillAt, mark: str) -> None:
        self._at = at
        self._mark = mark

    def reached(self, point: KillAt) -> None:
        if point is self._at and not os.path.exists(self._mark):
            open(self._mark, "x").close()
            os.kill(os.getpid(), signal.SIGKILL)


class LoggedSink(PostgresSink):
    """Notes what is stored, and is killed around it."""

    log: Log
    killer: Killer

    def claim(self, keys: Collection[str]) -> set[str]:
        self.killer.reached(KillAt.PULLED)
        return super().claim(keys)

    def have(self, keys: Collection[str]) -> set[str]:
        self.killer.reached(KillAt.CLAIMED)
        return super().have(keys)

    def put(self, rows: Sequence[Row]) -> None:
        self.killer.reached(KillAt.COMPUTED)
        super().put(rows)
        for row in rows:
            self.log.note("stored", row.key)
        self.killer.reached(KillAt.STORED)

    def release(self, keys: Collection[str]) -> None:
        self.killer.reached(KillAt.ACKNOWLEDGED)
        super().release(keys)


@dataclass(frozen=True)
class Assignment:
    """What a worker process works on."""

    environment: dict[str, str]
    subscription: str
    table: str
    log: str
    work_seconds: float
    kill_at: KillAt = KillAt.NEVER


def work(given: Assignment) -> None:
    """Works until SIGTERM."""
    os.environ.update(given.environment)
    log = Log(given.log)
    with open(f"{given.log}.events", "a") as file:
        events = EventLog(file)
        with Interruption(exit_code=EXIT_DONE, events=events) as stop:
            sink = LoggedSink(given.table)
            sink.log = log
            sink.killer = Killer(given.kill_at, f"{given.log}.killed")

            def compute(items: Sequence[Item]) -> list[Row]:
                for item in items:
                    log.note("began", item.key)
                time.sleep(given.work_seconds)
                for item in items:
                    log.note("computed", item.key)
                return [Row(item.key, {"twice": item.value * 2}) for item in items]

            worker = QueueWorker(
                given.subscription,
                sink=sink,
                compute=compute,
                stop=stop,
                lease_step_seconds=10,
                work_estimate_seconds=given.work_seconds,
                events=events,
            )
            log.note("ready", "-")
            worker.run()
            log.note("left", "-")
