"""Pauses that grow while something is not well, and that end when the program must."""

import random
import time

from spotproof_runtime.stop import Stop

RESERVE_SECONDS = 1.0
"""What is kept of the time left for giving messages back."""


class Pauses:
    """Exponential pauses with jitter, until `over`.

    Args:
        stop: ends a pause early; once requested, no pause goes beyond the time left.
        first_seconds: the first pause.
        most_seconds: the longest one.
    """

    def __init__(self, stop: Stop, *, first_seconds: float, most_seconds: float) -> None:
        self._stop = stop
        self._first_seconds = first_seconds
        self._most_seconds = most_seconds
        self.count = 0
        """Pauses since the last `over`."""

    def take(self) -> None:
        """Pauses once more, longer than before."""
        longest = min(self._most_seconds, self._first_seconds * 2 ** min(self.count, 30))
        self.count += 1
        seconds = longest * random.uniform(0.5, 1.0)
        if not self._stop.requested:
            self._stop.wait(seconds)
            return
        time.sleep(max(0.0, min(seconds, time_left(self._stop))))

    def over(self) -> None:
        """What was not well is well again."""
        self.count = 0


def time_left(stop: Stop) -> float:
    """Seconds that may still be worked in; infinite while no end is known."""
    return stop.remaining() - RESERVE_SECONDS
