"""The beginning of a life: what it goes on from, and whether that is worth another try."""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from spotproof_runtime.checkpoints.errors import CheckpointError, NothingWholeError
from spotproof_runtime.checkpoints.leaving import unless_told_to_end
from spotproof_runtime.checkpoints.limited_stop import LimitedStop
from spotproof_runtime.checkpoints.lives import Lives
from spotproof_runtime.checkpoints.local_copies import new_directory
from spotproof_runtime.checkpoints.location import Location
from spotproof_runtime.checkpoints.restoring import Search, fetch_newest
from spotproof_runtime.checkpoints.saving import STARTED, STARTED_FOLDER
from spotproof_runtime.checkpoints.scratch import remove_scratch
from spotproof_runtime.checkpoints.store import ObjectStore
from spotproof_runtime.events import EventLog
from spotproof_runtime.stop import Hopeless

_log = logging.getLogger("spotproof_runtime.checkpoints")


class Start:
    """Looks for the checkpoint to go on from.

    Args:
        store: where.
        lives: the marks of earlier lives.
        events: where to record what is passed over.
        hopeless_after: how many lives may be interrupted without a newer checkpoint.
        stop: once the program is told to end, nothing more is waited for.
    """

    def __init__(
        self,
        store: ObjectStore,
        lives: Lives,
        events: EventLog,
        hopeless_after: int,
        stop: LimitedStop,
    ) -> None:
        self._store = store
        self._lives = lives
        self._events = events
        self._hopeless_after = hopeless_after
        self._stop = stop
        self.interrupted_lives = 0

    @contextmanager
    def search(
        self, staging: Path | None, location: Location, fresh: bool
    ) -> Generator[Search, None, None]:
        """Yields what was found; its files are there until the block is left.

        Raises:
            NothingWholeError: there was a checkpoint, none is whole, and `fresh` is not set.
            Interrupted: the program is told to end meanwhile.
        """
        self._stop.exit_if_requested()
        directory = new_directory("restore", staging)
        try:
            yield unless_told_to_end(lambda: self._look(directory, location, fresh), self._stop)
        finally:
            remove_scratch(directory)

    def _look(self, directory: Path, location: Location, fresh: bool) -> Search:
        self.interrupted_lives = self._lives.look()
        search = fetch_newest(self._store, directory, self._begin, self._stop.exit_if_requested)
        for step, why in search.skipped.items():
            _log.warning("checkpoint of step %d is passed over: %s", step, why)
            self._events.record("checkpoint_skipped", name=str(step), why=why)
        if search.commit is None:
            self._may_start_at_zero(search, location, fresh)
            self._begin(0)
        return search

    def _may_start_at_zero(self, search: Search, location: Location, fresh: bool) -> None:
        # A first commit that is no JSON was torn while it was written, in a mounted bucket: until
        # the run is marked as started, nothing was ever whole.
        lost = bool(search.torn) or any(
            each.name == STARTED for each in self._store.list(STARTED_FOLDER)
        )
        if not lost:
            return
        passed_over = "; ".join(f"step {step}: {why}" for step, why in search.skipped.items())
        why = passed_over or "its commits are gone"
        if not fresh:
            raise NothingWholeError(
                f"{location} has had checkpoints, and none of them is whole ({why}); bring one "
                "back, or take another location or run, or call restore with fresh=True to start "
                "from zero here"
            )
        _log.warning("%s: nothing is whole (%s); starting from zero, as told", location, why)

    def _begin(self, step: int) -> None:
        count = self._lives.begun_at(step)
        if count >= self._hopeless_after:
            why = (
                f"{count} lives in a row have begun at step {step} and were interrupted before "
                "a newer checkpoint: save more often or make saves shorter, or give a larger "
                "hopeless_after"
            )
            self._events.record("hopeless", step=step, lives=count, why=why)
            raise Hopeless(why)
        try:
            self._lives.begin(step)
        except CheckpointError as error:
            # Without its mark a life merely does not count.
            _log.warning("cannot leave a mark of this life: %s", error)
