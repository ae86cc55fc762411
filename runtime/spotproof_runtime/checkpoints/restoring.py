"""Which checkpoint a program goes on from."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from spotproof_runtime.checkpoints.commits import Commit
from spotproof_runtime.checkpoints.errors import MissingObjectError
from spotproof_runtime.checkpoints.reading import (
    ListedCommit,
    NotWholeError,
    check_listing,
    download,
    list_commits,
    read_commit,
)
from spotproof_runtime.checkpoints.store import ObjectStore

_LISTINGS = 5
"""How often the commits are listed anew; another writer of the run may remove old ones."""


@dataclass
class Search:
    """What became of looking for a checkpoint.

    Attributes:
        commit: the newest whole one, None when there is none.
        directory: where its files are.
        skipped: steps that were passed over, the newest first, each with the reason.
        torn: attempts of those that could be read.
    """

    commit: Commit | None = None
    directory: Path = Path()
    skipped: dict[int, str] = field(default_factory=dict[int, str])
    torn: set[str] = field(default_factory=set[str])


def fetch_newest(
    store: ObjectStore,
    directory: Path,
    begin: Callable[[int], None],
    between: Callable[[], None],
) -> Search:
    """Fetches the newest whole checkpoint into `directory`.

    Args:
        store: from where.
        directory: an existing one; each try gets a folder of its own in it.
        begin: told the step before its files are fetched.
        between: called again and again while they are; what it raises ends the search.
    """
    search = Search()
    judged: set[tuple[str, int]] = set()
    for _ in range(_LISTINGS):
        unjudged = [
            each
            for each in list_commits(store)
            if (each.object.name, each.object.generation) not in judged
        ]
        for listed in unjudged:
            judged.add((listed.object.name, listed.object.generation))
            if _fetch(store, listed, directory, search, begin, between):
                return search
        if not unjudged:
            break
    return search


def _fetch(
    store: ObjectStore,
    listed: ListedCommit,
    directory: Path,
    search: Search,
    begin: Callable[[int], None],
    between: Callable[[], None],
) -> bool:
    commit = None
    try:
        commit = read_commit(store, listed.object)
        check_listing(store, commit)
        begin(commit.step)
        search.directory = directory / commit.attempt
        search.directory.mkdir()
        download(store, commit, search.directory, between)
    except MissingObjectError:
        return False
    except NotWholeError as error:
        if commit is not None:
            shutil.rmtree(directory / commit.attempt, ignore_errors=True)
        if commit is not None and not _still_there(store, listed):
            return False
        search.skipped[listed.step] = str(error)
        if commit is not None:
            search.torn.add(commit.attempt)
        return False
    search.commit = commit
    return True


def _still_there(store: ObjectStore, listed: ListedCommit) -> bool:
    """Whether a commit is as listed: files without one were removed because newer ones exist."""
    return any(each.object == listed.object for each in list_commits(store))
