"""What a kill would take: work that is done and not yet committed, never more than one interval.

A save beside the work counts when its upload has ended. So the next one begins early enough to end
within the interval, by what uploads have taken so far. Where that does not suffice, `is_full` says
that the work has to wait for the upload: more would be lost than the interval promises.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

LAG_MARGIN = 1.25
"""How much longer than those before an upload may take without holding up the work."""


@dataclass(frozen=True)
class Mark:
    """When the work went on after a save.

    Attributes:
        step: how many steps the saved state has behind it.
        time: in seconds of the clock, those left out in which the work has waited.
    """

    step: int
    time: float


class Unsaved:
    """Counts from the newest committed state on, and says how far apart saves may be.

    All calls are made in the thread of the loop.

    Args:
        upload_seconds: how long the upload of a save takes, measured; 0 while nothing is known.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        upload_seconds: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._upload_seconds = upload_seconds
        self._clock = clock
        self._waited_seconds = 0.0
        self._step_seconds: float | None = None
        self._saved: deque[Mark] = deque()
        self._safe = self._newest = Mark(0, self._work_time(clock()))

    def begin(self, step: int) -> None:
        """The work begins with a state of `step` steps, of which nothing can be lost any more."""
        self._safe = self._newest = Mark(step, self._work_time(self._clock()))
        self._saved.clear()

    def saved(self, step: int, held_up_seconds: float) -> None:
        """The state of `step` steps is on its way, and the work goes on.

        Args:
            step: how many steps the state has behind it.
            held_up_seconds: for how long the save held up the work.
        """
        now = self._work_time(self._clock())
        steps, worked = step - self._newest.step, now - held_up_seconds - self._newest.time
        if steps > 0 and worked > 0:
            self._step_seconds = worked / steps
        self._newest = Mark(step, now)
        self._saved.append(self._newest)

    def committed(self, step: int) -> None:
        """The state of `step` steps is safe."""
        while self._saved and self._saved[0].step <= step:
            self._safe = self._saved.popleft()

    def waited(self, seconds: float) -> None:
        """The work has waited for an upload; that is no time in which something was done."""
        self._waited_seconds += seconds

    def steps(self, done: int) -> int:
        """How many of the `done` steps a kill would take now."""
        return done - self._safe.step

    def seconds(self, now: float) -> float:
        """How many seconds of work a kill would take at the time `now` of the clock, at most."""
        return self._work_time(now) - self._safe.time

    def steps_apart(self, most: int) -> int:
        """From one save to the next, so that no more than `most` steps are ever unsaved.

        At least half of them: uploads that take longer than that cannot keep up, and more saves
        would not help.
        """
        lag, step = self.lag_seconds(), self._step_seconds
        half = ceil(most / 2)
        if not lag or not step:
            return half
        return max(most - ceil(lag / step), half)

    def seconds_apart(self, most: float) -> float:
        """The same for seconds; a save begins at the end of a step."""
        lag = self.lag_seconds()
        return max(most - lag - (self._step_seconds or 0.0), most / 2) if lag else most / 2

    def room_for(self, apart: float) -> float:
        """How many seconds are unsaved at most when saves are so many apart."""
        return apart + self.lag_seconds() + (self._step_seconds or 0.0)

    def lag_seconds(self) -> float:
        """What is reckoned for an upload; 0 while nothing is known."""
        return LAG_MARGIN * self._upload_seconds()

    def _work_time(self, now: float) -> float:
        return now - self._waited_seconds
