"""The loop over steps: where it may end early, how it ends, and how it reports on its way."""

import time
from collections.abc import Callable, Iterator

from spotproof_runtime.checkpoints.ending import Ending
from spotproof_runtime.checkpoints.last_save import Outcome
from spotproof_runtime.checkpoints.limited_stop import LimitedStop
from spotproof_runtime.checkpoints.offering import Offering
from spotproof_runtime.checkpoints.saving import Saver
from spotproof_runtime.events import EventLog

PROGRESS_SECONDS = 60.0
"""How often a loop records how far it is."""


class Offers:
    """Which steps the program offers to save: every one, or every so many.

    Told to end between two offers, a loop goes on to the next one, for only there can be saved.
    """

    def __init__(self) -> None:
        self._last: int | None = None
        self._gap = 1

    def note(self, step: int) -> None:
        """The program has offered `step`."""
        if self._last is not None and step > self._last:
            self._gap = step - self._last
        self._last = step

    def may_come(self, step: int) -> bool:
        """Whether, after `step` was not offered in time, an offer is to be expected soon."""
        return self._last is not None and step - self._last < self._gap


class Progress:
    """Records how far a loop is, now and then, and measures its steps.

    Args:
        events: where to.
        clock: monotonic seconds.

    Attributes:
        step_seconds: how long the last step took.
    """

    def __init__(self, events: EventLog, clock: Callable[[], float] = time.monotonic) -> None:
        self._events = events
        self._clock = clock
        self._told_at = self._step_at = clock()
        self._steps = 0
        self.step_seconds = 0.0

    def step(self, done: int) -> None:
        """A step has ended; `done` are done now."""
        now = self._clock()
        self.step_seconds = now - self._step_at
        self._step_at = now
        self._steps += 1
        if now - self._told_at >= PROGRESS_SECONDS:
            self.tell(done)

    def tell(self, done: int) -> None:
        """Records what was done since the last time."""
        now = self._clock()
        seconds = round(now - self._told_at, 3)
        self._events.record("progress", step=done, steps=self._steps, seconds=seconds)
        self._told_at = now
        self._steps = 0


class Loop:
    """Yields steps and ends the life with the last one, or when it is told to.

    Args:
        saver: knows what is saved.
        ending: ends the life.
        offering: is told how many steps there are.
        stop: says whether the program must end.
        events: where progress is recorded.
        place: the location, for messages.
        saves: whether this process saves.
    """

    def __init__(
        self,
        saver: Saver,
        ending: Ending,
        offering: Offering,
        stop: LimitedStop,
        events: EventLog,
        *,
        place: str,
        saves: bool,
    ) -> None:
        self._saver = saver
        self._ending = ending
        self._offering = offering
        self._stop = stop
        self._events = events
        self._place = place
        self._saves = saves
        self._offers = Offers()

    def offered(self, step: int) -> None:
        """The program has offered `step`."""
        self._offers.note(step)

    def steps(
        self, start: int, total: int, newest: Callable[[], int | None] | None
    ) -> Iterator[int]:
        """Yields `start` to `total - 1`, see `Checkpoints.steps`.

        Args:
            start: how many steps are done.
            total: how many there are.
            newest: tells the newest saved step, when the program may have forgotten it.
        """
        if not 0 <= start <= total:
            raise ValueError(
                f"steps({start}, {total}): {start} steps are done already and {total} are all; "
                "take another location or run for another training, or a larger total"
            )
        saved = newest() if newest is not None else None
        if saved is not None and saved > start:
            raise ValueError(
                f"steps({start}, {total}): {saved} steps are saved in {self._place}, and steps "
                "done again would not replace them; call restore first, or take another location "
                "or run"
            )
        self._offering.total = total
        progress = Progress(self._events)
        if self._stop.requested and start < total:
            self._ending.interrupt(start)
        for step in range(start, total):
            yield step
            progress.step(step + 1)
            if self._stop.requested and not self._goes_on(step, progress.step_seconds):
                self._ending.interrupt(step + 1)
        progress.tell(total)
        self._ending.finish(total)

    def _goes_on(self, step: int, step_seconds: float) -> bool:
        """Whether the loop goes on though told to end: to its end, or to where it can be saved."""
        if step + 1 == self._offering.total:
            return not self._saves or self._ending.outcome in (None, Outcome.SAVED)
        if self._ending.outcome is not None or self._saver.offered_step == step + 1:
            return False
        return self._offers.may_come(step) and self._stop.remaining() >= step_seconds
