"""What becomes of the states that a program offers: saved when due, at the end, or not at all."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from spotproof_runtime.cadence import Cadence
from spotproof_runtime.checkpoints.cadences import history_of, new_cadence
from spotproof_runtime.checkpoints.commits import Commit
from spotproof_runtime.checkpoints.ending import Ending
from spotproof_runtime.checkpoints.last_save import log_failure
from spotproof_runtime.checkpoints.limited_stop import LimitedStop
from spotproof_runtime.checkpoints.saving import Saver
from spotproof_runtime.checkpoints.staging import Notes
from spotproof_runtime.events import EventLog
from spotproof_runtime.every import Every
from spotproof_runtime.interval import SaveInterval

Write = Callable[[Path], object]


class Offering:
    """Decides about each state that is offered.

    Args:
        saver: saves.
        ending: decides once the program is told to end.
        stop: says whether it is.
        interval: when to save, as the program says it.
        events: where waiting is recorded.
        clock: monotonic seconds.

    Attributes:
        total: how many steps there are, None while that is not known.
    """

    def __init__(
        self,
        saver: Saver,
        ending: Ending,
        stop: LimitedStop,
        interval: Every | Cadence | None,
        events: EventLog,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._saver = saver
        self._ending = ending
        self._stop = stop
        self._interval = interval
        self._events = events
        self._clock = clock
        self._cadence: Cadence | None = None
        self._committed_step: int | None = None
        self.total: int | None = None

    def begin(self, commit: Commit | None, restore_seconds: float, interrupted_lives: int) -> None:
        """The work begins.

        Args:
            commit: the checkpoint that it goes on from, None when it starts at zero.
            restore_seconds: how long it took to restore it.
            interrupted_lives: how many lives were interrupted since that was saved.
        """
        cadence = self._cadence = self._new_cadence(commit)
        for _ in range(interrupted_lives):
            cadence.interrupted()
        if commit:
            cadence.restored(restore_seconds)
        if isinstance(cadence, SaveInterval):
            cadence.begin(commit.step if commit else 0)

    def offer(
        self, done: int, write: Write, data_position: Any, metadata: Mapping[str, Any] | None
    ) -> None:
        """The state after `done` steps can be saved now.

        Raises:
            SaveFailedError: this save, or one in the background before it, has failed.
        """
        cadence = self._cadence = self._cadence or self._new_cadence(None)

        def save() -> None:
            notes = Notes(data_position, dict(metadata or {}), history_of(cadence))
            cadence.saved(self._saver.save(done, write, notes))

        if not self._stop.requested:
            self._raise_failure(cadence)
            if done == self.total or cadence.due(done):
                self._save_now(done, save, cadence)
            if isinstance(cadence, SaveInterval) and done != self.total:
                self._wait_for_room(done, cadence)
        if self._stop.requested and self._saver.offered_step != done:
            self._save_last(done, save, cadence)

    def _new_cadence(self, commit: Commit | None) -> Cadence:
        return new_cadence(self._interval, commit, self._events, self._saver.upload_seconds)

    def _save_last(self, done: int, save: Callable[[], None], cadence: Cadence) -> None:
        if self._ending.outcome is None:
            # Part of what is saved: if it does not land, the next life learns of it anyway.
            cadence.interrupted(landed=True)
            self._ending.decide(done, save)

    def _save_now(self, done: int, save: Callable[[], None], cadence: Cadence) -> None:
        try:
            save()
        except Exception as error:
            cadence.failed()
            if not self._stop.requested:
                raise
            # The end came while it was at it: an interruption, which a retry mends.
            log_failure(error)
            self._ending.give_up(done)

    def _raise_failure(self, cadence: Cadence) -> None:
        failure = self._saver.take_failure()
        if failure is not None:
            cadence.failed()
            raise failure

    def _wait_for_room(self, done: int, interval: SaveInterval) -> None:
        """Waits for the upload under way while a whole interval is unsaved."""
        self._note_committed(interval)
        if not interval.is_full(done) or not self._saver.background.busy or self._stop.told:
            return
        begun = self._clock()
        while interval.is_full(done) and self._saver.background.busy:
            since = self._clock()
            known = self._committed_step
            self._saver.background.wait(
                self._stop.remaining,
                lambda known=known: self._stop.told or self._saver.committed_step != known,
            )
            interval.waited(self._clock() - since)
            if self._stop.told or self._stop.remaining() <= 0:
                break
            self._raise_failure(interval)
            self._note_committed(interval)
        seconds = round(self._clock() - begun, 3)
        self._events.record("save_awaited", step=done, seconds=seconds)

    def _note_committed(self, interval: SaveInterval) -> None:
        committed = self._saver.committed_step
        if committed is not None and committed != self._committed_step:
            self._committed_step = committed
            interval.committed(committed)
