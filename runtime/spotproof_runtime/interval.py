"""When to save: an interval estimated while the program runs, or a fixed one.

The estimate is that of `spotproof_gke.interval`, from what this run has measured in all its lives.
"""

import time
from collections.abc import Callable
from math import inf

from spotproof_gke.interval import LONGEST_SECONDS, PRIOR_MEAN_SECONDS, SHORTEST_SECONDS, Bound
from spotproof_runtime.estimates import Estimate, estimate_of
from spotproof_runtime.events import EventLog
from spotproof_runtime.every import Every
from spotproof_runtime.history import History
from spotproof_runtime.unsaved import Unsaved

FIRST_SAVE_SECONDS = SHORTEST_SECONDS
"""When the first save of a run is due: it measures what a save costs, and a missing permission
shows while somebody is still watching."""

_ESTIMATE_AGAIN_SECONDS = 60.0
_WORTH_AN_EVENT = 0.1


class SaveInterval:
    """Decides when a save is due, from what this run has measured, or at a fixed interval.

    With a fixed interval the estimate goes on beside it, so that `fields()` and the events say
    what it would have been.

    No more than one interval is ever unsaved. A save that holds up the work begins when the
    interval is over. One beside the work begins early enough for its upload to end by then, so a
    fixed interval in steps is no multiple any more; an estimated interval is that between two
    saves, and the time of an upload more. Until an upload was measured, half of a fixed interval
    lies between two saves, and an estimated one may last `longest_seconds`.

    Args:
        history: What earlier lives of the run have measured.
        fixed: A fixed interval in place of the estimated one.
        prior_seconds: Mean time between interruptions that is assumed at first; divide it by the
            number of nodes that the program needs at once.
        longest_seconds: No estimated interval is longer, unless ten saves are.
        events: Where to say which interval is used, whenever it has moved by a tenth.
        unsaved: Counts what is not yet committed, for saves beside the work; None for others.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        history: History | None = None,
        *,
        fixed: Every | None = None,
        prior_seconds: float = PRIOR_MEAN_SECONDS,
        longest_seconds: float = LONGEST_SECONDS,
        events: EventLog | None = None,
        unsaved: Unsaved | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._before = history or History()
        self._fixed = fixed
        self._prior_seconds = prior_seconds
        self._longest_seconds = longest_seconds
        self._events = events
        self._unsaved = unsaved
        self._clock = clock
        self._since = clock()
        self._working_since: float | None = None
        self._last_step: int | None = None
        self._seen_step = 0
        self._told: float | None = None
        self._interval_seconds = FIRST_SAVE_SECONDS
        self._most_steps = fixed.in_steps if fixed else None
        self._most_seconds = inf
        self._steps_apart = 0
        self._seconds_apart = inf
        self._stale_at = -inf
        self._refresh(self._since)

    @property
    def history(self) -> History:
        """What all lives have measured, this one so far included; to be kept with each save."""
        return self._before.with_exposure(self._worked(self._clock()))

    def due(self, step: int, now: float | None = None) -> bool:
        """Whether to save after `step`.

        Args:
            step: The step that is done; steps rise, also over a resume.
            now: The clock's time, when the caller has read it already.
        """
        last = self._last_step
        if last is None:
            last = max(step - 1, 0)
            self.begin(last)
        if self._working_since is None:
            self._working_since = self._clock()
        self._seen_step = step
        every = self._most_steps
        if every is not None and self._unsaved is not None:
            return step - last >= self._steps_apart
        if every is not None:
            return step // every > last // every
        now = self._clock() if now is None else now
        return self.seconds_until_due(now) <= 0

    def seconds_until_due(self, now: float | None = None) -> float:
        """Seconds until a save is due; `inf` when steps decide, 0 or less when it is due."""
        now = self._clock() if now is None else now
        if self._fixed is None and now >= self._stale_at:
            self._refresh(now)
        return self._since + self._seconds_apart - now

    def saved(self, blocking_seconds: float) -> None:
        """A save has let go of the work, after holding it up for `blocking_seconds`."""
        self._before = self._before.with_save(blocking_seconds)
        if self._unsaved is not None:
            self._unsaved.saved(self._seen_step, blocking_seconds)
        self._begin_interval()

    def begin(self, step: int) -> None:
        """The work begins with a state of `step` steps, of which nothing can be lost any more."""
        self._last_step = self._seen_step = step
        if self._unsaved is not None:
            self._unsaved.begin(step)

    def committed(self, step: int) -> None:
        """The upload of the state of `step` steps has ended: it is safe."""
        if self._unsaved is not None:
            self._unsaved.committed(step)
            self._refresh(self._clock())

    def is_full(self, done: int) -> bool:
        """Whether a whole interval is unsaved after `done` steps, so that the work has to wait."""
        if self._unsaved is None:
            return False
        if self._most_steps is not None:
            return self._unsaved.steps(done) >= self._most_steps
        return self._unsaved.seconds(self._clock()) >= self._most_seconds

    def waited(self, seconds: float) -> None:
        """The work has waited for an upload; that is no time of the interval."""
        self._since += seconds
        if self._unsaved is not None:
            self._unsaved.waited(seconds)

    def failed(self) -> None:
        """A save has failed; the next is due after a full interval, not at the next step."""
        self._begin_interval()

    def restored(self, seconds: float) -> None:
        """The state is there after `seconds`, and the work begins."""
        self._before = self._before.with_restore(seconds)
        self._begin_interval()
        self._working_since = self._since

    def interrupted(self, landed: bool = False, working: bool = True) -> None:
        """A life has ended before its work was done.

        Called once for each such life by whoever learns of it: by that life itself, or, after a
        SIGKILL, by the next one. An end that was not recorded came half an interval after the
        last record on average, and that much time is counted with it.

        Args:
            landed: Whether its save on SIGTERM landed, so that nothing was lost.
            working: Whether its work had begun. If it had not, there was nothing to lose, and
                nothing is counted; True where it is not known.
        """
        if not working:
            return
        unrecorded = 0.0 if landed else self._interval_seconds / 2
        self._before = self._before.with_interruption(landed).with_exposure(unrecorded)
        self._refresh(self._clock())

    def estimate(self, now: float | None = None) -> Estimate:
        """What the run has measured so far, and the interval that follows."""
        worked = self._worked(self._clock() if now is None else now)
        exposure = self._before.exposure_seconds + worked
        return estimate_of(self._before, exposure, self._prior_seconds, self._longest_seconds)

    def fields(self) -> dict[str, str | float | None]:
        """The interval in use and the estimate, as fields of the event `interval_chosen`."""
        found = self.estimate()
        interval = found.interval
        bound = interval.bound if interval else None
        return {
            "fixed": str(self._fixed) if self._fixed else None,
            "estimate_seconds": round(interval.seconds, 1) if interval else None,
            "best_seconds": _finite(interval.best_seconds) if interval else None,
            "bound": bound.value if isinstance(bound, Bound) else None,
            "blocking_seconds": _finite(found.blocking_seconds),
            "restore_seconds": _finite(found.restore_seconds),
            "between_seconds": _finite(found.between_seconds),
            "landing_chance": round(found.landing_chance, 3),
            "warning": interval.warning if interval else None,
        }

    def _worked(self, now: float) -> float:
        return 0.0 if self._working_since is None else now - self._working_since

    def _begin_interval(self) -> None:
        self._since = self._clock()
        self._last_step = self._seen_step if self._last_step is not None else None
        self._refresh(self._since)

    def _refresh(self, now: float) -> None:
        self._stale_at = now + _ESTIMATE_AGAIN_SECONDS
        interval = self.estimate(now).interval
        if interval is not None:
            self._interval_seconds = interval.seconds
        self._space()
        if interval is None:
            return
        moved = self._told is None or abs(interval.seconds / self._told - 1) > _WORTH_AN_EVENT
        if self._events is not None and moved:
            self._told = interval.seconds
            self._events.record("interval_chosen", **self.fields())

    def _space(self) -> None:
        """Works out how far apart saves are, and how much may be unsaved."""
        unsaved, fixed = self._unsaved, self._fixed
        if self._most_steps is not None:
            if unsaved is not None:
                self._steps_apart = unsaved.steps_apart(self._most_steps)
            return
        if fixed is not None and fixed.seconds is not None:
            most = self._most_seconds = fixed.seconds
            self._seconds_apart = most if unsaved is None else unsaved.seconds_apart(most)
            return
        lag = unsaved.lag_seconds() if unsaved is not None else 0.0
        apart = self._seconds_apart = max(self._interval_seconds, lag)
        self._most_seconds = self._longest_seconds
        if unsaved is not None and lag:
            self._most_seconds = unsaved.room_for(apart)


def _finite(value: float | None) -> float | None:
    return None if value is None or value == inf else round(value, 3)
