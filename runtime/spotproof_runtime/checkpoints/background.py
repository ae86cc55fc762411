"""One upload at work in a thread, and at most one that waits for it."""

import threading
import time
from collections.abc import Callable

from spotproof_runtime.checkpoints.staging import Staged

_ASK_AGAIN_SECONDS = 0.5


class Background:
    """Runs saves one after the other in a thread; a newer one replaces the one that waits.

    The thread ends when nothing waits. It does not hold up the end of the process by itself,
    which would miss a deadline: `wait` does, and whoever owns this calls it at the end.

    Args:
        save: saves a checkpoint; it handles its own errors.
        replaced: told of a checkpoint that never began, as a newer one took its place.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        save: Callable[[Staged], None],
        replaced: Callable[[Staged], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._save = save
        self._replaced = replaced
        self._clock = clock
        self._changed = threading.Condition()
        self._running: Staged | None = None
        self._waiting: Staged | None = None
        self._begun_at = 0.0

    def submit(self, staged: Staged) -> None:
        """Saves `staged` as soon as the save before it has ended."""
        with self._changed:
            dropped, self._waiting = self._waiting, staged
            if self._running is None:
                self._next()
                name = "spotproof-checkpoint-save"
                try:
                    threading.Thread(target=self._work, name=name, daemon=True).start()
                except RuntimeError:
                    self._running = None
                    raise
        if dropped is not None:
            self._replaced(dropped)
            dropped.discard()

    @property
    def busy(self) -> bool:
        """Whether a save is at work or waits."""
        with self._changed:
            return self._running is not None

    def running_seconds(self) -> float:
        """For how long the present save has been at work; 0 when none is."""
        with self._changed:
            return 0.0 if self._running is None else self._clock() - self._begun_at

    def wake(self) -> None:
        """Makes who waits look again."""
        with self._changed:
            self._changed.notify_all()

    def wait(
        self, remaining: Callable[[], float], enough: Callable[[], bool] = lambda: False
    ) -> bool:
        """Waits until nothing is at work, or `enough`; returns whether that came in time.

        Args:
            remaining: for how many seconds to wait.
            enough: what ends the wait earlier; asked when something has changed.
        """
        with self._changed:
            while self._running is not None and not enough():
                left = remaining()
                if left <= 0:
                    return False
                # A notice to end may come meanwhile, and then less time is left.
                self._changed.wait(min(left, _ASK_AGAIN_SECONDS))
            return True

    def _next(self) -> Staged | None:
        self._running, self._waiting = self._waiting, None
        self._begun_at = self._clock()
        self._changed.notify_all()
        return self._running

    def _work(self) -> None:
        with self._changed:
            staged = self._running
        while staged is not None:
            try:
                self._save(staged)
            finally:
                staged.discard()
                with self._changed:
                    staged = self._next()
