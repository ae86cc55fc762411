"""How wide a text is at most, and how it is broken so that it never leaves its box.

The reader's machine chooses the font, so the widths are those of the widest of the fonts that a
picture names (DejaVu Sans and Verdana), rounded up.
"""

import re
from collections.abc import Iterator

LINE_HEIGHT = 1.36
"""Distance of two lines, in sizes of the font."""

ELLIPSIS = "…"

_NARROW, _SLIM, _WIDE, _WIDEST = "iljI|.,:;'!", 'frt()[]-/ "·', "mwMQOGD&+<>=~#^", "W@%…—"
_BOLD = 1.13
_OTHERS = 1.1
_BREAK = re.compile(r"(?<=[-./_@:=, ])")


def _em(char: str) -> float:
    if char in _NARROW:
        return 0.41
    if char in _SLIM:
        return 0.47
    if char in _WIDEST:
        return 1.04
    if char in _WIDE:
        return 0.98 if char in "mwM" else 0.86
    if not char.isascii():
        return _OTHERS
    return 0.76 if char.isupper() else 0.65


def width(text: str, size: float, *, bold: bool = False) -> float:
    """The most that a text takes, in the unit of `size`."""
    return sum(map(_em, text)) * size * (_BOLD if bold else 1)


def lines(text: str, room: float, size: float, *, bold: bool = False, most: int = 2) -> list[str]:
    """A text in at most `most` lines, each no wider than `room`; what is too long ends in `…`.

    It is broken after blanks and the marks in names, and within a word that is too long by itself.
    """
    broken = list(_broken(" ".join(text.split()), room, size, bold))
    if len(broken) <= most:
        return broken
    last = broken[most - 1] + ELLIPSIS
    while len(last) > 1 and width(last, size, bold=bold) > room:
        last = last[:-2] + ELLIPSIS
    return [*broken[: most - 1], last]


def _broken(text: str, room: float, size: float, bold: bool) -> Iterator[str]:
    line = ""
    for word in _BREAK.split(text):
        while word:
            if width((line + word).rstrip(), size, bold=bold) <= room:
                line += word
                break
            if line:
                yield line.rstrip()
                line = ""
                continue
            fitting = max(1, _fitting(word, room, size, bold))
            yield word[:fitting]
            word = word[fitting:]
    if line.strip():
        yield line.rstrip()


def _fitting(word: str, room: float, size: float, bold: bool) -> int:
    taken = 0.0
    for count, char in enumerate(word):
        taken += width(char, size, bold=bold)
        if taken > room:
            return count
    return len(word)
