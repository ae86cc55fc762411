"""Small workers and sinks for tests of the queue."""

import io
from collections.abc import Collection, Sequence
from typing import Any

from spotproof_runtime import EventLog, Item, QueueWorker, Row
from tests.runtime.queues import FakeStop, Queue


def double(items: Sequence[Item]) -> list[Row]:
    return [Row(item.key, item.value * 2) for item in items]


def worker(queue: Queue, sink: Any, stop: FakeStop | None = None, **more: Any) -> QueueWorker:
    more.setdefault("events", EventLog(io.StringIO()))
    return QueueWorker(
        queue.subscription,
        sink=sink,
        stop=stop or FakeStop(),
        **{"leave_when_idle_seconds": 0.7, **more},
    )


class Failing:
    """A sink of a user's with the two methods, not well for its first calls."""

    def __init__(self, have: int = 0, put: int = 0) -> None:
        self.rows: dict[str, Any] = {}
        self.left = {"have": have, "put": put}

    def have(self, keys: Collection[str]) -> set[str]:
        self._fail("have")
        return set(keys) & set(self.rows)

    def put(self, rows: Sequence[Row]) -> None:
        self._fail("put")
        self.rows.update({row.key: row.value for row in rows})

    def _fail(self, call: str) -> None:
        if self.left[call] > 0:
            self.left[call] -= 1
            raise OSError(f"{call}: no route to host")
