"""The state of a loop over steps: when it may end early, and how it reports on its way."""

import math
import time
from collections.abc import Callable

from spotproof_runtime.events import EventLog
from spotproof_runtime.stop import Interrupted, Stop

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


class NeverStops:
    """A `Stop` for programs that nobody interrupts, for example on a laptop."""

    requested = False

    def remaining(self) -> float:
        """No end is known."""
        return math.inf

    def wait(self, seconds: float) -> bool:
        """Sleeps for `seconds`."""
        time.sleep(seconds)
        return False


class LimitedStop:
    """What checkpoints ask of a `Stop`, which can be given an earlier end.

    Args:
        stop: the one whose end holds otherwise.
        clock: monotonic seconds.
    """

    def __init__(self, stop: Stop, clock: Callable[[], float] = time.monotonic) -> None:
        self._stop = stop
        self._clock = clock
        self._end = math.inf

    def end_within(self, seconds: float) -> None:
        """From now on, `remaining` is no more than what is left of `seconds`."""
        self._end = self._clock() + seconds

    @property
    def requested(self) -> bool:
        """Whether the program was told to end."""
        return self._stop.requested

    def remaining(self) -> float:
        """Seconds until the earlier of both ends, 0 or more."""
        return max(0.0, min(self._stop.remaining(), self._end - self._clock()))

    def wait(self, seconds: float) -> bool:
        """Sleeps, but not beyond a request to end; returns `requested`."""
        return self._stop.wait(seconds)

    def on_notice(self, callback: Callable[[], None]) -> None:
        """Has `callback` called when the program is told to end, if the `stop` can do that."""
        tells = getattr(self._stop, "on_notice", None)
        if tells is not None:
            tells(callback)

    def exit_if_requested(self) -> None:
        """Raises `Interrupted` once the program is told to end, with the code of the `stop`."""
        if not self.requested:
            return
        ends = getattr(self._stop, "exit_if_requested", None)
        if ends is not None:
            ends()
        raise Interrupted

    def done(self) -> None:
        """Tells the `stop` that all the work is done, if it wants to know."""
        done = getattr(self._stop, "done", None)
        if done is not None:
            done()
