"""What a run has measured so far, and the interval that follows."""

from dataclasses import dataclass
from statistics import median

from spotproof_gke.interval import Interval, best_interval, chance_of_landing, mean_between
from spotproof_runtime.history import History


@dataclass(frozen=True)
class Estimate:
    """What the run has measured, and the interval that follows.

    Attributes:
        interval: The interval that wastes least, within the limits; None before the first save,
            when no cost of a save is known.
        blocking_seconds: The median time for which a save held up the work, None before the first.
        restore_seconds: The median time of a restore, None before the first.
        between_seconds: Mean time that the program works between interruptions.
        landing_chance: The share of interruptions whose save on SIGTERM lands.
    """

    interval: Interval | None
    blocking_seconds: float | None
    restore_seconds: float | None
    between_seconds: float
    landing_chance: float


def estimate_of(
    seen: History, exposure_seconds: float, prior_seconds: float, longest_seconds: float
) -> Estimate:
    """The estimate that follows from what all lives have measured.

    Args:
        seen: What they have measured.
        exposure_seconds: How long they have worked, the present one included.
        prior_seconds: Mean time between interruptions that is assumed at first.
        longest_seconds: No interval is longer, unless ten saves are.
    """
    between = mean_between(seen.interruptions, exposure_seconds, prior_seconds)
    chance = chance_of_landing(seen.landed, seen.interruptions)
    blocking = _median(seen.blocking_seconds)
    interval = None
    if blocking is not None:
        interval = best_interval(blocking, between, chance, longest_seconds)
    return Estimate(
        interval=interval,
        blocking_seconds=blocking,
        restore_seconds=_median(seen.restore_seconds),
        between_seconds=between,
        landing_chance=chance,
    )


def _median(measured: tuple[float, ...]) -> float | None:
    return median(measured) if measured else None
