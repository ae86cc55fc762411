"""From a local directory into the store: the files first, the commit last."""

import time
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from spotproof_runtime.checkpoints.checksums import crc32c_of
from spotproof_runtime.checkpoints.commits import (
    MAX_COMMIT_BYTES,
    Commit,
    CommittedFile,
    encode,
    new_attempt,
    payload_prefix,
)
from spotproof_runtime.checkpoints.errors import (
    AlreadyExistsError,
    CheckpointError,
    MissingObjectError,
    SaveFailedError,
)
from spotproof_runtime.checkpoints.reading import NotWholeError, check_listing, read_commit
from spotproof_runtime.checkpoints.retention import remove_payload
from spotproof_runtime.checkpoints.staging import Staged, StagedFile
from spotproof_runtime.checkpoints.store import ObjectStore, StoredObject

_TRIES = 3
"""How often a torn commit in the way is removed before that counts as an error."""


def publish(store: ObjectStore, staged: Staged, torn: frozenset[str]) -> Commit:
    """Saves `staged` and returns the commit of its step.

    When another writer of the run has committed the step already, that one is the checkpoint, and
    the files of this one are removed again.

    Args:
        store: where to.
        staged: what.
        torn: attempts that are known not to be whole; their commits give way.

    Raises:
        SaveFailedError: the checkpoint is not there.
    """
    attempt = new_attempt()
    try:
        files = tuple(_put(store, staged, attempt, file) for file in staged.files)
        commit = Commit(
            step=staged.step,
            attempt=attempt,
            files=files,
            folders=staged.folders,
            saved_at=time.time(),
            runtime_version=_version(),
            data_position=staged.notes.data_position,
            metadata=staged.notes.metadata,
            history=staged.notes.history,
        )
        there = _commit(store, commit, torn)
    except SaveFailedError:
        raise
    except (CheckpointError, OSError, TypeError, ValueError) as error:
        raise SaveFailedError(staged.step, f"cannot save step {staged.step}: {error}") from error
    if there.attempt != attempt:
        remove_payload(store, commit.payload)
    return there


def _put(store: ObjectStore, staged: Staged, attempt: str, file: StagedFile) -> CommittedFile:
    source = staged.directory / file.path
    name = payload_prefix(staged.step, attempt) + file.path
    crc32c = crc32c_of(source)
    try:
        stored = store.put(name, source, crc32c)
    except AlreadyExistsError:
        # The name is this attempt's alone: an earlier try of the same call did take effect.
        stored = _look_up(store, name)
    if not staged.unchanged(file) or stored.size_bytes != file.size_bytes:
        raise SaveFailedError(
            staged.step,
            f"cannot save step {staged.step}: {file.path!r} was changed after write had returned; "
            "let write return when its files are complete",
        )
    return CommittedFile(file.path, stored.size_bytes, crc32c, stored.generation)


def _look_up(store: ObjectStore, name: str) -> StoredObject:
    folder = name.rpartition("/")[0] + "/"
    for found in store.list(folder):
        if found.name == name:
            return found
    raise MissingObjectError(f"{name} was written, and now it is not there")


def _commit(store: ObjectStore, commit: Commit, torn: frozenset[str]) -> Commit:
    """Puts the commit, or returns the whole one that is there already."""
    content = encode(commit)
    if len(content) > MAX_COMMIT_BYTES:
        raise ValueError(
            f"{len(commit.files)} files need a commit of {len(content)} bytes, and "
            f"{MAX_COMMIT_BYTES} is the most; write fewer, larger files"
        )
    for _ in range(_TRIES):
        try:
            store.put(commit.name, content, crc32c_of(content))
            return commit
        except AlreadyExistsError:
            there = _unless_torn(store, commit, torn)
            if there is not None:
                return there
    raise SaveFailedError(
        commit.step,
        f"cannot save step {commit.step}: a commit that is not whole keeps coming back as "
        f"{commit.name}; let only one program write this run",
    )


def _unless_torn(store: ObjectStore, commit: Commit, torn: frozenset[str]) -> Commit | None:
    """The commit that is there, if it is whole; it is removed, and None returned, if not."""
    listed = [each for each in store.list("commits/") if each.name == commit.name]
    if not listed:
        return None
    try:
        found = read_commit(store, listed[0])
        # This attempt's own commit is there when the answer to the first try got lost.
        if found.attempt != commit.attempt:
            if found.attempt in torn:
                raise NotWholeError("it was found torn before")
            check_listing(store, found)
        return found
    except NotWholeError:
        store.delete(commit.name, listed[0].generation)
        return None
    except MissingObjectError:
        return None


@cache
def _version() -> str:
    try:
        return version("spotproof-runtime")
    except PackageNotFoundError:
        return "unknown"
