"""Acts on the notice while the main thread works: nothing that does not fit is kept."""

import threading
from collections.abc import Callable

from spotproof_runtime.queue.batch import Batch
from spotproof_runtime.queue.pause import time_left
from spotproof_runtime.queue.work_times import WorkTimes
from spotproof_runtime.stop import Stop

LOOK_SECONDS = 0.1
"""How often it is judged, once the end was asked for, whether the work still fits."""


class NoticeWatch:
    """A thread that waits for the request to end.

    Then it lets no pull begin, and gives back the batch in hand as soon as it cannot be finished in
    the time left. A pull that is still under way when no time is left is broken off.

    Args:
        stop: asked and waited for.
        times: how long the work takes.
        current: the batch in hand, if any.
        on_notice: called once.
        on_end: called when no time is left.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        stop: Stop,
        times: WorkTimes,
        current: Callable[[], Batch | None],
        on_notice: Callable[[], None],
        on_end: Callable[[], None],
        clock: Callable[[], float],
    ) -> None:
        self._stop = stop
        self._times = times
        self._current = current
        self._on_notice = on_notice
        self._on_end = on_end
        self._clock = clock
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="notice", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def close(self) -> None:
        """Lets the thread end, within half a second if no end was asked for."""
        self._closed.set()
        if self._stop.requested:
            self._thread.join(timeout=5)

    def fits(self, batch: Batch) -> bool:
        """Whether a batch is likely to be finished in the time left."""
        expected = self._times.expected_seconds()
        spent = self._clock() - batch.began_at
        return time_left(self._stop) > max(0.0, (expected or 0.0) - spent)

    def _watch(self) -> None:
        while not self._closed.is_set():
            if self._stop.wait(0.5):
                break
        if not self._closed.is_set():
            self._on_notice()
        while not self._closed.is_set():
            batch = self._current()
            if batch is not None and not batch.settled and not self.fits(batch):
                batch.give_back("does not fit into the time left")
            if time_left(self._stop) <= 0:
                self._on_end()
            self._closed.wait(LOOK_SECONDS)
