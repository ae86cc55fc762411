"""How long the work takes, as measured."""

from collections import deque

RECENT = 50
"""How many measurements count: what was long ago says little about the work of now."""

ENOUGH = 3
"""How many measurements are needed before they count more than the user's estimate."""


class WorkTimes:
    """Recent durations from taking a batch to its stored results.

    Args:
        estimate_seconds: the user's, until enough is measured; None when there is none.
    """

    def __init__(self, estimate_seconds: float | None = None) -> None:
        if estimate_seconds is not None and not estimate_seconds >= 0:
            raise ValueError(f"work estimate of {estimate_seconds} s: 0 s or more")
        self._estimate_seconds = estimate_seconds
        self._seconds: deque[float] = deque(maxlen=RECENT)

    def add(self, seconds: float) -> None:
        """Notes one more duration."""
        self._seconds.append(seconds)

    def expected_seconds(self) -> float | None:
        """What nine of ten batches do not exceed; None while nothing is known."""
        if len(self._seconds) < ENOUGH:
            return self._estimate_seconds
        ordered = sorted(self._seconds)
        return ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))]
