"""Waiting for an item of a queue, but not beyond a request to end."""

import queue
import time
from collections.abc import Callable
from typing import Protocol, TypeVar

Got = TypeVar("Got", covariant=True)
Item = TypeVar("Item")

POLL_SECONDS = 0.05
"""How long one wait is; nothing but an item wakes a thread that waits for a queue."""


class Gettable(Protocol[Got]):
    """A queue: that of `queue` or `multiprocessing`."""

    def get(self, block: bool = ..., timeout: float | None = ...) -> Got:
        """Takes an item, or raises `queue.Empty` after the time-out in seconds."""
        ...


def take(source: Gettable[Item], seconds: float, check: Callable[[], None]) -> Item:
    """Takes an item of a queue, waiting for one.

    Args:
        source: the queue.
        seconds: how long to wait at most.
        check: called again and again; raises to end the wait.

    Raises:
        queue.Empty: no item came in time.
    """
    until = time.monotonic() + seconds
    while True:
        check()
        left = max(until - time.monotonic(), 0.0)
        try:
            return source.get(timeout=min(left, POLL_SECONDS))
        except queue.Empty:
            if left <= POLL_SECONDS:
                raise
