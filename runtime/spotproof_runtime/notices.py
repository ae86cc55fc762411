"""What a program has been told about its end, in a form that a signal handler may write to."""

import math
import signal
import time
from collections.abc import Callable

MARGIN_SECONDS = 2.0
"""Taken off every known end: the interpreter needs some of it to shut down."""

NODE_END = "node end"
"""The notice that the node's lifetime runs out."""


class Notices:
    """When the program was told to end, by what, and how long it has.

    Every method may be called in any thread at any time and takes no lock, so that a signal
    handler that interrupts one of them can call another.

    Args:
        budget_seconds: from SIGTERM, or from another request to end, to the end of the program.
        node_end: when the node ends in seconds of the clock, `math.inf` when that is not known.
        clock: seconds that never go back.

    Attributes:
        requested: whether there was a notice.
        node_end: as given.
    """

    def __init__(
        self,
        budget_seconds: float,
        node_end: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.requested = False
        self.node_end = node_end
        self._budget_seconds = budget_seconds
        self._clock = clock
        self._times: dict[str, float] = {}

    def note(self, reason: str) -> None:
        """Notes that the program is to end; a second notice for the same reason changes nothing."""
        self._times.setdefault(reason, self._clock())
        self.requested = True

    @property
    def first(self) -> tuple[str, float] | None:
        """The first notice and its time in seconds of the clock, None before there is one."""
        return next(iter(self._times.items()), None)

    @property
    def end(self) -> float:
        """When the program is ended from outside, in seconds of the clock; inf when unknown.

        Only SIGTERM and the node's end are followed by force. Another request (Ctrl-C, one of the
        program's own) has the same budget, but does not bring the end of a SIGTERM forward.
        """
        sigterm = self._times.get(signal.SIGTERM.name)
        if sigterm is not None:
            return min(sigterm + self._budget_seconds, self.node_end)
        return self.node_end

    def remaining(self) -> float:
        """Seconds that are left, less the margin and never below 0; `math.inf` while unknown."""
        end = self.end
        if signal.SIGTERM.name not in self._times:
            # A copy, made in one go: a signal may add to it meanwhile.
            times = list(self._times.items())
            others = [at for reason, at in times if reason != NODE_END]
            if others:
                end = min(end, min(others) + self._budget_seconds)
        return max(end - MARGIN_SECONDS - self._clock(), 0.0)
