"""Lines to a stream that may have a reader who has stalled: nothing waits for him for long."""

import io
import select
from collections import deque
from contextlib import suppress
from typing import TextIO

PATIENCE_SECONDS = 0.25
"""How long is waited for a reader, once: then not at all, until he reads again."""

KEPT_PIECES = 1000
"""How many pieces of lines wait for him; older ones are dropped."""

PIECE_CHARACTERS = 4096
"""What a pipe takes without waiting when it can be written to: `PIPE_BUF` of Linux (pipe(7))."""


class PatientLines:
    """Lines that wait until their stream takes them.

    A stream without a file descriptor is written to at once, and so is a file on a disk.
    """

    def __init__(self) -> None:
        self._pieces: deque[str] = deque(maxlen=KEPT_PIECES)
        self._stalled = False

    def add(self, line: str) -> None:
        """Adds a line, of ASCII characters."""
        text = line + "\n"
        for begin in range(0, len(text), PIECE_CHARACTERS):
            self._pieces.append(text[begin : begin + PIECE_CHARACTERS])

    def write(self, stream: TextIO) -> None:
        """Writes what the stream takes.

        Raises:
            OSError: the stream is broken.
            ValueError: the stream is closed.
        """
        ready = _poll_of(stream)
        while self._pieces:
            if ready is not None and not ready.poll(
                0 if self._stalled else 1000 * PATIENCE_SECONDS
            ):
                self._stalled = True
                return
            self._stalled = False
            stream.write(self._pieces.popleft())
            stream.flush()


def _poll_of(stream: TextIO) -> "select.poll | None":
    with suppress(OSError, ValueError, AttributeError, io.UnsupportedOperation):
        ready = select.poll()
        ready.register(stream.fileno(), select.POLLOUT)
        return ready
    return None
