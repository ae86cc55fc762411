"""Reading what is in the store, and finding out whether it is whole."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from spotproof_runtime.checkpoints.commits import (
    COMMITS,
    MAX_COMMIT_BYTES,
    Commit,
    MalformedCommitError,
    NewerCommitError,
    decode,
    step_of,
)
from spotproof_runtime.checkpoints.errors import MissingObjectError, NewerFormatError
from spotproof_runtime.checkpoints.store import ObjectStore, StoredObject


class NotWholeError(ValueError):
    """A checkpoint is torn or corrupt; the text says why, in a clause without a subject."""


@dataclass(frozen=True)
class ListedCommit:
    """A commit as the listing shows it, not yet read.

    Attributes:
        step: how many steps its state has behind it.
        object: its object.
    """

    step: int
    object: StoredObject


def list_commits(store: ObjectStore) -> list[ListedCommit]:
    """All commits, the newest step first. There is no other record of what is newest."""
    found: list[ListedCommit] = []
    for each in store.list(COMMITS):
        step = step_of(each.name)
        if step is not None:
            found.append(ListedCommit(step, each))
    return sorted(found, key=lambda commit: commit.step, reverse=True)


def read_commit(store: ObjectStore, listed: StoredObject) -> Commit:
    """Reads one commit.

    Raises:
        NotWholeError: it cannot be read as one.
        NewerFormatError: a newer release wrote it.
        MissingObjectError: it was removed meanwhile.
    """
    step = step_of(listed.name)
    assert step is not None, listed.name
    if listed.size_bytes > MAX_COMMIT_BYTES:
        raise NotWholeError(f"its commit has {listed.size_bytes} bytes")
    content = store.read(listed.name)
    try:
        return decode(content, step)
    except MalformedCommitError as error:
        raise NotWholeError(str(error)) from None
    except NewerCommitError as error:
        raise NewerFormatError(
            f"step {step} cannot be read: {error}; install the newer spotproof-runtime that wrote "
            f"it, or move {listed.name} away to go on from an older step"
        ) from None


def check_listing(store: ObjectStore, commit: Commit) -> None:
    """Compares the files with the listing: cheap, nothing is downloaded.

    Raises:
        NotWholeError: a file is missing or has another size or checksum.
    """
    there = {each.name: each for each in store.list(commit.payload)}
    for file in commit.files:
        found = there.get(commit.payload + file.path)
        if found is None:
            raise NotWholeError(f"{file.path!r} is missing")
        if found.size_bytes != file.size_bytes:
            raise NotWholeError(
                f"{file.path!r} has {found.size_bytes} bytes instead of {file.size_bytes}"
            )
        if found.crc32c is not None and found.crc32c != file.crc32c:
            raise NotWholeError(_other_checksum(file.path, found.crc32c, file.crc32c))


def download(
    store: ObjectStore, commit: Commit, directory: Path, between: Callable[[], None]
) -> None:
    """Fetches all files into `directory` and checks each.

    Args:
        store: from where.
        commit: what.
        directory: where to.
        between: called again and again meanwhile; what it raises ends the download.

    Raises:
        NotWholeError: a file is missing or has another checksum.
    """
    for folder in _folders(commit):
        (directory / folder).mkdir(parents=True, exist_ok=True)
    for file in commit.files:
        name, target = commit.payload + file.path, directory / file.path
        try:
            crc32c = store.fetch(name, target, between)
            if crc32c != file.crc32c:
                # It may have been spoiled on its way: only twice the same is a corrupt file.
                crc32c = store.fetch(name, target, between)
        except MissingObjectError:
            raise NotWholeError(f"{file.path!r} is missing") from None
        if crc32c != file.crc32c:
            raise NotWholeError(_other_checksum(file.path, crc32c, file.crc32c))


def _folders(commit: Commit) -> Iterator[str]:
    yield from commit.folders
    yield from {str(Path(file.path).parent) for file in commit.files}


def _other_checksum(path: str, found: str, expected: str) -> str:
    return f"{path!r} has the CRC-32C {found} instead of {expected}"
