"""Removing what is no longer needed: only of the own run, and only after a commit."""

import time
from collections.abc import Callable

from spotproof_runtime.checkpoints.commits import PAYLOADS, Commit
from spotproof_runtime.checkpoints.directory_store import UNFINISHED
from spotproof_runtime.checkpoints.errors import (
    ChangedObjectError,
    MissingObjectError,
    NewerFormatError,
)
from spotproof_runtime.checkpoints.reading import NotWholeError, list_commits, read_commit
from spotproof_runtime.checkpoints.store import ObjectStore, StoredObject

DEFAULT_KEEP = 2

ORPHAN_SECONDS = 24 * 3600.0
"""Files without a commit may be a save under way in another pod; after this long they are not."""


class OldCheckpoints:
    """The checkpoints of a run that newer ones make needless.

    Args:
        store: where they are.
        keep: how many to keep.
    """

    def __init__(self, store: ObjectStore, keep: int) -> None:
        self._store = store
        self._keep = keep
        self._read: dict[StoredObject, Commit | None] = {}

    def remove(self, finished_step: int, torn: frozenset[str]) -> None:
        """Removes old ones after a commit.

        Commits beyond `finished_step` are another story's: they neither count as kept nor are
        removed. A commit goes before its files, so that a kill in between leaves files without a
        commit, never the other way round.

        Args:
            finished_step: the step that has just been committed.
            torn: attempts that are known not to be whole; they do not count as kept.
        """
        kept = 0
        for listed in list_commits(self._store):
            if listed.step > finished_step:
                continue
            try:
                commit = self._commit(listed.object)
            except (MissingObjectError, NewerFormatError):
                continue
            if commit is None:
                # Its files cannot be told from those of a save under way; they are swept later.
                self._delete(listed.object)
            elif commit.attempt not in torn and kept < self._keep:
                kept += 1
            elif self._delete(listed.object):
                remove_payload(self._store, commit.payload)

    def _commit(self, listed: StoredObject) -> Commit | None:
        """A commit, None when it is torn; each is read once only."""
        if listed not in self._read:
            try:
                self._read[listed] = read_commit(self._store, listed)
            except NotWholeError:
                self._read[listed] = None
        return self._read[listed]

    def _delete(self, listed: StoredObject) -> bool:
        self._read.pop(listed, None)
        try:
            self._store.delete(listed.name, listed.generation)
        except ChangedObjectError:
            return False
        return True


def remove_payload(store: ObjectStore, prefix: str) -> None:
    """Removes the files of one try to save."""
    for each in list(store.list(prefix)):
        store.delete(each.name)


def sweep(store: ObjectStore, clock: Callable[[], float] = time.time) -> int:
    """Removes what killed programs have left behind, and returns how many objects that were.

    That is files older than a day: of tries that no commit names, and those never finished.

    Args:
        store: where.
        clock: seconds since 1970.
    """
    oldest = clock() - ORPHAN_SECONDS
    tries: dict[str, list[StoredObject]] = {}
    for each in store.list(PAYLOADS):
        tries.setdefault("/".join(each.name.split("/")[:3]) + "/", []).append(each)
    stale = {
        prefix: objects
        for prefix, objects in tries.items()
        if max(each.updated for each in objects) < oldest
    }
    # Read after the files were listed: what was committed by then is in it.
    committed = _committed(store) if stale else set[str]()
    leftovers = [each for each in store.list(UNFINISHED) if each.updated < oldest]
    for prefix, objects in stale.items():
        if committed is not None and prefix not in committed:
            leftovers += objects
    for each in leftovers:
        store.delete(each.name, each.generation)
    return len(leftovers)


def _committed(store: ObjectStore) -> set[str] | None:
    """Where the files of commits are; None when a commit cannot be read, so that nobody knows."""
    prefixes: set[str] = set()
    for listed in list_commits(store):
        try:
            prefixes.add(read_commit(store, listed.object).payload)
        except MissingObjectError:
            continue
        except (NotWholeError, NewerFormatError):
            return None
    return prefixes
