"""What checkpoints ask of a store of objects, and which store serves a location."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from spotproof_runtime.checkpoints.location import DirectoryLocation, Location
from spotproof_runtime.stop import Stop


@dataclass(frozen=True)
class StoredObject:
    """An object as a listing shows it.

    Attributes:
        name: its name, relative to the location.
        size_bytes: its size.
        generation: changes when the object is written anew under its name.
        crc32c: its CRC-32C in Base64; None where the store keeps none.
        updated: when it was written, seconds since 1970.
    """

    name: str
    size_bytes: int
    generation: int
    crc32c: str | None
    updated: float


class ObjectStore(Protocol):
    """Objects under names. Each call retries what may pass and takes effect whole or not at all."""

    def put(self, name: str, source: Path | bytes, crc32c: str) -> StoredObject:
        """Writes an object, but never over another one.

        Args:
            name: its name, relative to the location.
            source: a file or its content.
            crc32c: CRC-32C that the content must have, in Base64.

        Raises:
            AlreadyExistsError: an object of this name exists.
            StoreError: the content has another checksum, or the store refuses.
        """
        ...

    def read(self, name: str) -> bytes:
        """The content of a small object.

        Raises:
            MissingObjectError: there is none.
        """
        ...

    def fetch(self, name: str, target: Path, between: Callable[[], None]) -> str:
        """Writes the content of an object into the file `target` and returns its CRC-32C.

        Args:
            name: its name, relative to the location.
            target: a file that is not there yet, in a directory that is.
            between: called again and again meanwhile; what it raises ends the call.

        Raises:
            MissingObjectError: there is none.
        """
        ...

    def list(self, prefix: str) -> Iterator[StoredObject]:
        """The objects whose names begin with `prefix`, which ends in a slash."""
        ...

    def delete(self, name: str, generation: int | None = None) -> None:
        """Removes an object; none of this name is fine.

        Args:
            name: its name, relative to the location.
            generation: the only one to remove; None removes whichever is there.

        Raises:
            ChangedObjectError: the object has another generation.
        """
        ...


def open_store(location: Location, stop: Stop) -> ObjectStore:
    """The store that serves `location`; its calls end in time for `stop`."""
    if isinstance(location, DirectoryLocation):
        from spotproof_runtime.checkpoints.directory_store import DirectoryStore

        return DirectoryStore(location.path)
    from spotproof_runtime.checkpoints.gcs_store import GcsStore

    return GcsStore(location.bucket, location.prefix, stop)
