"""Texts to try it out with."""

import random
from collections.abc import Iterator

WORDS = (
    *("spot", "nodes", "are", "cheap", "and", "may", "go", "at", "any", "time", "so", "a"),
    *("worker", "stores", "each", "result", "before", "it", "tells", "the", "queue", "what"),
    *("has", "not", "been", "done", "goes", "back", "for", "somebody", "else", "to", "do"),
)


def documents(count: int, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Keys and texts; the same ones each time."""
    drawn = random.Random(seed)
    for number in range(count):
        yield f"document-{number:06}", " ".join(drawn.choices(WORDS, k=drawn.randint(5, 40)))
