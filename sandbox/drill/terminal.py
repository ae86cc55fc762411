"""A drill as it goes: a table that is drawn anew in place, or lines where there is no terminal."""

import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TextIO

from sandbox.drill.report import Outcome, Promise

NARROWEST, WIDEST = 40, 120
_REDRAW_SECONDS = 0.2
_COLORS = {"kept": "32", "BROKEN": "1;31", "not tried": "33", "now": "36"}
_MARKS = {"kept": "kept", "BROKEN": "BROKEN", "not tried": "skipped", "now": "…", "": "·"}
_MARK_WIDTH, _SECONDS_WIDTH = 7, 7


class Board(Protocol):
    """Who shows a drill. All may be called at any time and in any number."""

    def begin(self, promises: Sequence[Promise]) -> None:
        """What will be tried, in order."""

    def start(self, promise: Promise) -> None:
        """A promise is tried from now on."""

    def doing(self, text: str) -> None:
        """What is being done or waited for."""

    def state(self, lines: Sequence[str]) -> None:
        """How things stand."""

    def end(self, outcome: Outcome) -> None:
        """What became of a promise."""

    def close(self) -> None:
        """Nothing more comes."""


def board(stream: TextIO | None = None, environment: Mapping[str, str] = os.environ) -> Board:
    """A live table on a terminal, lines otherwise. Obeys NO_COLOR and TERM=dumb."""
    out = stream or sys.stdout
    term = environment.get("TERM", "")
    if not out.isatty() or term in ("", "dumb"):
        return Lines(out)
    return LiveTable(out, color=not environment.get("NO_COLOR"))


class Lines:
    """A line for each event."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._said = ""

    def begin(self, promises: Sequence[Promise]) -> None:
        self._say(f"{len(promises)} promises")

    def start(self, promise: Promise) -> None:
        self._say(f"{promise.name}: {promise.says}")

    def doing(self, text: str) -> None:
        if text != self._said:
            self._said = text
            self._say(f"  {text}")

    def state(self, lines: Sequence[str]) -> None:
        """How things stand is for a table alone: it changes all the time."""

    def end(self, outcome: Outcome) -> None:
        self._say(f"  {outcome.word} ({outcome.seconds:.1f} s): {outcome.evidence}")

    def close(self) -> None:
        pass

    def _say(self, text: str) -> None:
        print(text, file=self._stream, flush=True)


class LiveTable:
    """A table of all promises, with what goes on below it.

    Args:
        stream: A terminal.
        color: Whether colors may be used.
        size: Columns and rows of the terminal at the moment.
        now: The time in seconds.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        color: bool = True,
        size: Callable[[], tuple[int, int]] = shutil.get_terminal_size,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream, self._color, self._size, self._now = stream, color, size, now
        self._promises: list[Promise] = []
        self._ended: dict[str, Outcome] = {}
        self._current: Promise | None = None
        self._started = 0.0
        self._doing = ""
        self._state: list[str] = []
        self._drawn_rows = 0
        self._drawn_at = float("-inf")

    def begin(self, promises: Sequence[Promise]) -> None:
        self._promises = list(promises)
        self._draw()

    def start(self, promise: Promise) -> None:
        self._current, self._started, self._doing = promise, self._now(), ""
        self._draw()

    def doing(self, text: str) -> None:
        self._doing = text
        self._draw_if_due()

    def state(self, lines: Sequence[str]) -> None:
        self._state = list(lines)
        self._draw_if_due()

    def end(self, outcome: Outcome) -> None:
        self._ended[outcome.promise.name] = outcome
        self._current = None
        self._draw()

    def close(self) -> None:
        """Leaves the table as it is and the cursor below it."""
        self._current, self._doing, self._state = None, "", []
        if self._promises:
            self._draw()
        self._promises, self._drawn_rows = [], 0

    def _draw_if_due(self) -> None:
        if self._now() - self._drawn_at >= _REDRAW_SECONDS:
            self._draw()

    def _draw(self) -> None:
        columns, rows = self._size()
        width = max(NARROWEST, min(columns, WIDEST)) - 1
        lines = self._lines(width)
        # A table higher than the terminal cannot be drawn over: its end is what changes.
        lines = lines[-max(1, rows - 1) :]
        back = f"\x1b[{self._drawn_rows}A\r" if self._drawn_rows else ""
        self._stream.write(back + "\x1b[J" + "".join(f"{line}\n" for line in lines))
        self._stream.flush()
        self._drawn_rows, self._drawn_at = len(lines), self._now()

    def _lines(self, width: int) -> list[str]:
        lines = [self._row(promise, width) for promise in self._promises]
        below = [*([f"> {self._doing}"] if self._doing else []), *self._state]
        return [*lines, *([""] if below else []), *(_cut(line, width) for line in below)]

    def _row(self, promise: Promise, width: int) -> str:
        outcome = self._ended.get(promise.name)
        is_current = self._current is not None and self._current.name == promise.name
        word = outcome.word if outcome else "now" if is_current else ""
        seconds = outcome.seconds if outcome else self._now() - self._started
        shown = f"{seconds:.1f} s" if outcome or is_current else ""
        mark = self._colored(f"{_MARKS[word]:<{_MARK_WIDTH}}", word)
        room = width - _MARK_WIDTH - _SECONDS_WIDTH - 4
        return f"{mark}  {_cut(promise.says, room):<{room}}  {shown:>{_SECONDS_WIDTH}}".rstrip()

    def _colored(self, text: str, word: str) -> str:
        if not self._color or word not in _COLORS:
            return text
        return f"\x1b[{_COLORS[word]}m{text}\x1b[0m"


def _cut(text: str, width: int) -> str:
    clean = "".join(char if char.isprintable() else " " for char in text)
    return clean if len(clean) <= width else f"{clean[: width - 1]}…"
