"""What checkpoints ask of the end of a program, also where nobody ends it."""

import math
import time
from collections.abc import Callable

from spotproof_runtime.stop import Interrupted, Stop


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

    @property
    def told(self) -> bool:
        """Whether this process was told to end, also where it goes on until all others agree."""
        return self.requested or bool(getattr(self._stop, "told", False))

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
