"""Objects as files in a directory, be it on a disk or in a bucket mounted by Cloud Storage FUSE."""

import errno
import os
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeVar

from spotproof_runtime.checkpoints.checksums import BLOCK_BYTES, SummingFile, new_digest, text_of
from spotproof_runtime.checkpoints.errors import (
    AlreadyExistsError,
    ChangedObjectError,
    MissingObjectError,
    StoreError,
)
from spotproof_runtime.checkpoints.store import StoredObject

UNFINISHED = "unfinished/"
"""Folder of files that are being written; one whose writer was killed stays until it is swept."""

_NO_HARD_LINKS = {errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK}

T = TypeVar("T")
Link = Callable[[Path, Path], None]


class DirectoryStore:
    """Objects as files below `root`.

    A file appears under its name at once and whole, by a hard link to a file that is on the disk
    already. A mounted bucket knows no hard links: there the file is opened exclusively and may be
    torn when its writer is killed, which restoring finds out.

    Args:
        root: the directory; made when something is first written.
        link: makes a hard link, `os.link` unless said otherwise.
    """

    def __init__(self, root: Path, link: Link = os.link) -> None:
        self._root = root
        self._link = link
        self._links = True

    def put(self, name: str, source: Path | bytes, crc32c: str) -> StoredObject:
        """See `ObjectStore.put`."""
        target = self._root / name
        with _named("write", target):
            try:
                if self._links:
                    self._put_linked(target, source, crc32c)
                if not self._links:
                    _in_folder(target, lambda: _write(target, source, crc32c))
            except FileExistsError:
                raise AlreadyExistsError(f"{target} exists already") from None
            _sync_folder(target.parent)
            return self._stored(target)

    def _put_linked(self, target: Path, source: Path | bytes, crc32c: str) -> None:
        unfinished = self._root / UNFINISHED / uuid.uuid4().hex
        try:
            _in_folder(unfinished, lambda: _write(unfinished, source, crc32c))
            _in_folder(target, lambda: self._link(unfinished, target))
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
            self._links = False
        finally:
            unfinished.unlink(missing_ok=True)

    def read(self, name: str) -> bytes:
        """See `ObjectStore.read`."""
        with _named("read", self._root / name):
            return (self._root / name).read_bytes()

    def fetch(self, name: str, target: Path, between: Callable[[], None]) -> str:
        """See `ObjectStore.fetch`."""
        with _named("read", self._root / name), (self._root / name).open("rb") as file:
            copy = SummingFile(target, between)
            while block := file.read(BLOCK_BYTES):
                copy.write(block)
            return copy.close()

    def list(self, prefix: str) -> Iterator[StoredObject]:
        """See `ObjectStore.list`."""
        with _named("list", self._root / prefix):
            for folder, _, files in os.walk(self._root / prefix, onerror=_unless_missing):
                for file in files:
                    with suppress(FileNotFoundError):
                        yield self._stored(Path(folder, file))

    def delete(self, name: str, generation: int | None = None) -> None:
        """See `ObjectStore.delete`; folders that become empty go too."""
        target = self._root / name
        with _named("delete", target), suppress(FileNotFoundError):
            if generation is not None and self._stored(target).generation != generation:
                raise ChangedObjectError(f"{target} was written anew")
            target.unlink()
            with suppress(OSError):
                # The first folder that is not empty ends it.
                for folder in list(target.relative_to(self._root).parents)[:-1]:
                    (self._root / folder).rmdir()

    def _stored(self, path: Path) -> StoredObject:
        status = path.stat()
        name = path.relative_to(self._root).as_posix()
        return StoredObject(name, status.st_size, status.st_mtime_ns, None, status.st_mtime)


def _write(target: Path, source: Path | bytes, crc32c: str) -> None:
    """Writes a new file to the disk, and removes it again when the content is not as it must be."""
    digest = new_digest()
    with open(target, "xb") as file:
        try:
            for block in _blocks(source):
                digest.update(block)
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
            found = text_of(digest)
            if found != crc32c:
                raise StoreError(
                    f"cannot write {target}: the content's CRC-32C is {found}, not {crc32c}; it "
                    "was changed while it was being saved"
                )
        except BaseException:
            target.unlink(missing_ok=True)
            raise


def _blocks(source: Path | bytes) -> Iterator[bytes]:
    if isinstance(source, bytes):
        yield source
        return
    opened: IO[bytes]
    with source.open("rb") as opened:
        while block := opened.read(BLOCK_BYTES):
            yield block


def _in_folder(target: Path, action: Callable[[], T]) -> T:
    """Does `action`, making the folder of `target` first when it is not there.

    Tried again, since another writer that deletes its last file removes the folder.
    """
    for _ in range(20):
        try:
            return action()
        except FileNotFoundError:
            target.parent.mkdir(parents=True, exist_ok=True)
    return action()


def _sync_folder(folder: Path) -> None:
    # A name is on the disk only when its folder is; some file systems cannot sync a folder.
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


@contextmanager
def _named(action: str, path: Path) -> Generator[None, None, None]:
    """Says of an error of the file system what was being done, and what to do about it."""
    try:
        yield
    except FileNotFoundError as error:
        raise MissingObjectError(f"cannot {action} {path}: it is not there") from error
    except OSError as error:
        raise StoreError(f"cannot {action} {path}: {error.strerror}; {_advice(error)}") from error


def _advice(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "make room, or keep fewer checkpoints"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"let user {os.getuid()} write there"
    if error.errno == errno.ENAMETOOLONG:
        return "give the files shorter names"
    return "check the volume"
