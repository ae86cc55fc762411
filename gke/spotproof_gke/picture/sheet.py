"""A sheet that fills from the top down, and what is drawn on it more than once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from spotproof_gke.picture.overview import Card, Pods
from spotproof_gke.picture.paper import Paper

Draw = Callable[[Any, float, float, float, float], float]
"""Draws a thing at x and y, so wide and so high; returns the y of its lower edge."""


@dataclass(frozen=True)
class Form:
    """Sizes of a picture.

    Attributes:
        width: Its width; it is as high as it has to be.
        text: Size of ordinary letters.
        small: Size of the smallest.
        is_narrow: Whether all stands in one column.
        most: How many things of one sort are drawn; of the rest there is the number.
    """

    width: float
    text: float
    small: float
    is_narrow: bool
    most: int


class Sheet:
    """A paper of a form."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.paper: Paper = Paper()

    def more(self, count: int, noun: str, x: float, y: float, room: float) -> float:
        """How many are not drawn, where there are some; returns the y under that."""
        if count <= 0:
            return y
        words = f"and {count:,} more {noun}{'' if count == 1 else 's'}"
        return self.paper.write((x, y), words, room, self.form.small, look="soft", bold=True) + 6

    def all(
        self,
        things: Sequence[Card | Pods],
        one: Draw,
        noun: str,
        x: float,
        y: float,
        room: float,
        columns: int,
    ) -> float:
        """Things in rows of `columns`, each row of one height; returns the y under them."""
        shown = things[: self.form.most]
        wide = (room - 8 * (columns - 1)) / columns
        for first in range(0, len(shown), columns):
            row = shown[first : first + columns]
            high = max(self.height(one, each, wide) for each in row)
            for place, each in enumerate(row):
                one(each, x + place * (wide + 8), y, wide, high)
            y += high + 7
        return self.more(len(things) - len(shown), noun, x, y, room)

    def height(self, one: Draw, thing: Any, wide: float) -> float:
        """How high a thing gets, found by drawing it on a paper that is thrown away."""
        kept = self.paper
        self.paper = Paper()
        try:
            return one(thing, 0.0, 0.0, wide, 0.0)
        finally:
            self.paper = kept
