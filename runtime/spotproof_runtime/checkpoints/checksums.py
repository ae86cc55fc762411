"""CRC-32C, the checksum of Cloud Storage, in the form that it uses: Base64 of four bytes."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from spotproof_runtime.checkpoints.local_copies import local_errors

BLOCK_BYTES = 1 << 20


class Digest(Protocol):
    """A checksum under way."""

    def update(self, data: bytes) -> None:
        """Takes more bytes in."""

    def digest(self) -> bytes:
        """The checksum of the bytes so far."""
        ...


def new_digest() -> Digest:
    """A CRC-32C of no bytes yet."""
    # Loaded here, since only a program that saves or restores needs it.
    import google_crc32c

    made: Any = google_crc32c.Checksum()  # pyright: ignore[reportUnknownVariableType]
    return made


def text_of(digest: Digest) -> str:
    """The checksum as Cloud Storage writes it, for example `AAAAAA==` for no bytes."""
    return base64.b64encode(digest.digest()).decode()


def crc32c_of(source: Path | bytes) -> str:
    """The checksum of a file or of bytes."""
    digest = new_digest()
    if isinstance(source, bytes):
        digest.update(source)
        return text_of(digest)
    with source.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
    return text_of(digest)


class SummingFile:
    """A file that keeps the checksum of what is written to it.

    Args:
        path: the file, written anew.
        between: called before each write; what it raises ends the writing.

    Raises:
        CheckpointError: there is no room, for one; its methods raise this too.
    """

    def __init__(self, path: Path, between: Callable[[], None]) -> None:
        self._path = path
        with local_errors(path):
            self._file = path.open("wb")
        self._digest = new_digest()
        self._between = between

    def write(self, data: bytes) -> int:
        """Writes `data`; the checksum follows."""
        self._between()
        self._digest.update(data)
        with local_errors(self._path):
            return self._file.write(data)

    def close(self) -> str:
        """Ends the file and returns its checksum."""
        with local_errors(self._path):
            self._file.close()
        return text_of(self._digest)
