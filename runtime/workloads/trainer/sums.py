"""The data set: sums as text, such as `07+85=092`, each character a number."""

import random

import numpy as np
from numpy.typing import NDArray

from trainer.settings import MOST_SUMS

CHARACTERS = "0123456789+="
LENGTH = len("07+85=092")
ASKED = len("07+85=")
"""Characters before the answer."""
HELD_OUT = 200
"""Sums for evaluation; a run with all sums in it is evaluated on some of those it has seen."""

Rows = NDArray[np.int64]


def make_sums(count: int, seed: int) -> tuple[Rows, Rows]:
    """Different sums to train on, and others to evaluate with, as rows of numbers."""
    pairs = list(range(MOST_SUMS))
    random.Random(seed).shuffle(pairs)
    return _rows(pairs[:count]), _rows(pairs[-HELD_OUT:])


def _rows(pairs: list[int]) -> Rows:
    texts = [f"{a:02}+{b:02}={a + b:03}" for a, b in (divmod(pair, 100) for pair in pairs)]
    return np.array([[CHARACTERS.index(each) for each in text] for text in texts], dtype=np.int64)
