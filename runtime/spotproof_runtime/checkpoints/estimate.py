"""How long a save takes, so that it can be told whether one still fits."""

import math
import os
from collections import deque

from spotproof_gke.contract import SAVE_ESTIMATE_VARIABLE
from spotproof_gke.problems import Problem, raise_if_any

_KEPT = 50


class SaveEstimate:
    """The 90th percentile of the newest measured saves; what the environment says before that.

    Raises:
        ProblemsError: `SPOTPROOF_SAVE_ESTIMATE_SECONDS` is no number of seconds.
    """

    def __init__(self) -> None:
        self._measured: deque[float] = deque(maxlen=_KEPT)
        self._stated = _stated()

    def add(self, seconds: float) -> None:
        """Takes in how long a save took from the first file written to its commit."""
        self._measured.append(seconds)

    def seconds(self) -> float:
        """How long the next one takes; 0 when nothing is known, so that it is tried."""
        if not self._measured:
            return self._stated
        ordered = sorted(self._measured)
        return ordered[math.ceil(0.9 * len(ordered)) - 1]


def _stated() -> float:
    text = os.environ.get(SAVE_ESTIMATE_VARIABLE, "").strip()
    if not text:
        return 0.0
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < math.inf:
        rule = "this is a number of seconds, 0 or more"
        problem = Problem(SAVE_ESTIMATE_VARIABLE, None, rule, "write it like 12.5, or leave it out")
        raise_if_any("checkpoints", [problem])
    return seconds
