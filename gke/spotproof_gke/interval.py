"""How often to save: the interval that wastes least, and what is wasted at it.

First order, with C the seconds that a save holds up the work, M the mean seconds between
interruptions and p the chance that a last save on SIGTERM lands, an interval T wastes
`C/T + (1 - p) * T / (2 * M)`, so the best is `T = sqrt(2 * C * M / (1 - p))`. For p = 0 this is
Young's formula (CACM 17(9), 1974); Daly's higher orders (FGCS 22(3), 2006) move it by less than C.
The time to restore adds to the waste of each interruption, but is the same for every T.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import exp, floor, inf, isfinite, log1p, sqrt
from statistics import NormalDist

from spotproof_gke.problems import Problem, raise_if_any

SHORTEST_SECONDS = 30.0
"""No interval is shorter."""

SHORTEST_SAVES = 10
"""No interval is shorter than this many blocking saves: saving takes at most 1/11 of the time."""

LONGEST_SECONDS = 3600.0
"""No interval is longer, unless the one above is: a quiet week says little about the next hour.

Half an hour would do where no save on SIGTERM lands. Where 9 of 10 land and nodes are taken away
every 10 hours, it would waste up to a sixth more than the least (`tests/runtime` simulates it).
"""

PRIOR_MEAN_SECONDS = 3 * 3600.0
"""Mean time between interruptions that is assumed before any was seen."""

PRIOR_EVENTS = 2.0
"""How many interruptions seen the assumption is worth."""

PRIOR_LANDINGS = 1.0
"""Last saves that landed, and as many that did not, assumed before any was seen."""


class Bound(str, Enum):
    """Which limit an interval was moved to."""

    SHORTEST = "shortest"
    LONGEST = "longest"


@dataclass(frozen=True)
class Interval:
    """The time between the end of one save and the start of the next.

    Attributes:
        seconds: The interval to use.
        best_seconds: What the formula gives before the limits, `inf` when nothing is ever lost.
        bound: The limit that made them differ, or None.
    """

    seconds: float
    best_seconds: float
    bound: Bound | None

    @property
    def warning(self) -> str | None:
        """What to know about the limit that holds, in a sentence, or None."""
        slow = self.seconds > SHORTEST_SECONDS and self.best_seconds < 0.9 * self.seconds
        if self.bound is Bound.SHORTEST and slow:
            return (
                f"the interval is at its least, {self.seconds:.0f} s: {self.best_seconds:.0f} s "
                "would be best, so a save is too slow for how often nodes are taken away here; "
                "make it faster or asynchronous"
            )
        return None


def best_interval(
    blocking_seconds: float,
    between_seconds: float,
    landing_chance: float = 0.0,
    longest_seconds: float = LONGEST_SECONDS,
) -> Interval:
    """The interval that wastes least, within the limits.

    Args:
        blocking_seconds: How long a save holds up the work, C.
        between_seconds: Mean time between interruptions of the program, M; `inf` for none.
        landing_chance: The share of interruptions whose save on SIGTERM lands, p.
        longest_seconds: No interval is longer than this.

    Raises:
        ProblemsError: for a time below 0, an M or a longest of 0, or a chance outside 0 to 1.
    """
    raise_if_any(
        "checkpoint interval",
        [
            *number_problems("blocking_seconds", blocking_seconds),
            *number_problems("between_seconds", between_seconds, above=True, endless=True),
            *number_problems("landing_chance", landing_chance, most=1.0),
            *number_problems("longest_seconds", longest_seconds, above=True, endless=True),
        ],
    )
    missed = 1.0 - landing_chance
    best = sqrt(2 * blocking_seconds * between_seconds / missed) if missed else inf
    shortest = max(SHORTEST_SECONDS, SHORTEST_SAVES * blocking_seconds)
    longest = max(longest_seconds, shortest)
    if not best >= shortest:
        return Interval(shortest, best if isfinite(best) else 0.0, Bound.SHORTEST)
    if best > longest:
        return Interval(longest, best, Bound.LONGEST)
    return Interval(best, best, None)


def mean_between(
    interruptions: float,
    exposure_seconds: float,
    prior_seconds: float = PRIOR_MEAN_SECONDS,
    prior_events: float = PRIOR_EVENTS,
) -> float:
    """Mean seconds between interruptions, from what was seen and a prior.

    The rate has a gamma prior of `prior_events` events in `prior_events * prior_seconds`; what is
    returned is the inverse of the rate's mean after `interruptions` in `exposure_seconds`. With
    few interruptions it stays near the prior, and one long quiet night can't double it.

    Args:
        interruptions: How many were seen.
        exposure_seconds: The time in which they were seen, the present life included.
        prior_seconds: The mean that is assumed, for example that of a scenario.
        prior_events: How much seen the assumption is worth.

    Raises:
        ProblemsError: for a number below 0, or a prior of 0.
    """
    raise_if_any(
        "mean time between interruptions",
        [
            *number_problems("interruptions", interruptions),
            *number_problems("exposure_seconds", exposure_seconds),
            *number_problems("prior_seconds", prior_seconds, above=True),
            *number_problems("prior_events", prior_events, above=True),
        ],
    )
    seen = prior_events * prior_seconds + exposure_seconds
    return seen / (prior_events + interruptions)


def chance_of_landing(landed: float, interruptions: float) -> float:
    """The chance that the next save on SIGTERM lands, from what was seen and a prior of a half.

    Raises:
        ProblemsError: for a number below 0, or more that landed than there were.
    """
    raise_if_any(
        "chance that the last save lands",
        [
            *number_problems("interruptions", interruptions),
            *number_problems("landed", landed, most=max(interruptions, 0.0)),
        ],
    )
    return (landed + PRIOR_LANDINGS) / (interruptions + 2 * PRIOR_LANDINGS)


def lives(between_seconds: float, sigma: float | None = None, count: int = 2000) -> list[float]:
    """Equally likely times between interruptions, evenly spread over their distribution.

    Args:
        between_seconds: Their mean.
        sigma: Standard deviation of the logarithm where times are lognormal; None for the
            exponential distribution, in which an interruption is as likely at any time.
        count: How many.
    """
    middles = ((2 * i + 1) / (2 * count) for i in range(count))
    if sigma is None:
        drawn = [-log1p(-middle) for middle in middles]
    else:
        drawn = [exp(sigma * NormalDist().inv_cdf(middle)) for middle in middles]
    scale = between_seconds * count / sum(drawn)
    return [scale * value for value in drawn]


@dataclass(frozen=True)
class Waste:
    """Shares of the time that is paid for, each between 0 and 1.

    Attributes:
        saving: Time in saves, the last ones on SIGTERM included.
        restoring: Time from the start of a life until the work goes on.
        lost: Work that an interruption undid.
    """

    saving: float
    restoring: float
    lost: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.saving + self.restoring + self.lost

    @property
    def goodput(self) -> float:
        """The rest: work that was kept."""
        return 1.0 - self.total


def expected_waste(
    interval_seconds: float,
    blocking_seconds: float,
    restore_seconds: float,
    lifetimes: Sequence[float],
    landing_chance: float = 0.0,
    upload_seconds: float = 0.0,
) -> Waste:
    """What is wasted at a fixed interval over given lives of the program.

    Each life restores, then works and saves in turn, and what was not saved at its end is lost,
    unless the save on SIGTERM lands, which takes a blocking save more.

    Args:
        interval_seconds: Work between two saves.
        blocking_seconds: How long a save holds up the work.
        restore_seconds: From the start of a life until the work goes on.
        lifetimes: Seconds from start to interruption of each life, see `lives`.
        landing_chance: The share of interruptions whose last save lands.
        upload_seconds: How long after it has let go of the work a save counts.
    """
    cycle = interval_seconds + blocking_seconds
    elapsed = saving = restoring = lost = 0.0
    for life in lifetimes:
        elapsed += life
        restoring += min(life, restore_seconds)
        working = life - restore_seconds
        if working <= 0:
            continue
        started = floor(working / cycle)
        kept = floor(max(working - upload_seconds, 0.0) / cycle)
        rest = min(working - started * cycle, interval_seconds)
        last = landing_chance * blocking_seconds
        elapsed += last
        saving += working - started * interval_seconds - rest + last
        lost += (1 - landing_chance) * (rest + (started - kept) * interval_seconds)
    return Waste(saving / elapsed, restoring / elapsed, lost / elapsed)


def number_problems(
    key: str,
    value: object,
    *,
    most: float = inf,
    above: bool = False,
    endless: bool = False,
) -> list[Problem]:
    """What is wrong with a number that must be 0 or more.

    Args:
        key: Where it stands.
        value: The number.
        most: The largest that is allowed.
        above: Whether it must be above 0.
        endless: Whether it may be infinite.
    """
    if not isinstance(value, bool) and isinstance(value, (int, float)):
        finite = isfinite(value) or (endless and value == inf)
        if finite and 0 <= value <= most and not (above and value == 0):
            return []
    least = "above 0" if above else "0 or more"
    rule = f"must be a number, {least}" + (f" and at most {most:g}" if isfinite(most) else "")
    return [Problem(key, value, rule, "give a number in this range")]
