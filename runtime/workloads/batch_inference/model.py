"""The model: a text becomes a vector of 64 numbers, near those of texts with the same words.

Feature hashing over words and their trigrams; it has no weights, so nothing is downloaded.
"""

import hashlib
from collections.abc import Iterator

import numpy as np

SIZE = 64
VERSION = 1
"""Goes into each result; raised when the same text gets another vector."""


def embed(text: str) -> list[float]:
    """The vector of a text, of length 1; all zeros for a text without a word."""
    vector = np.zeros(SIZE)
    for feature in _features(text):
        digest = hashlib.blake2b(feature.encode(), digest_size=8).digest()
        place, sign = digest[0] % SIZE, 1 if digest[1] % 2 else -1
        vector[place] += sign
    length = float(np.linalg.norm(vector))
    return [round(float(each) / length, 6) if length else 0.0 for each in vector]


def _features(text: str) -> Iterator[str]:
    for word in text.lower().split():
        yield word
        padded = f"<{word}>"
        for at in range(len(padded) - 2):
            yield padded[at : at + 3]
