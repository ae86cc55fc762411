"""The ways in which a life ends: told to, with all steps done, or as the process exits."""

import logging
import os
import sys
import time
from collections.abc import Callable
from typing import NoReturn

from spotproof_gke.contract import EXIT_ERROR
from spotproof_runtime.checkpoints.errors import CheckpointError, SaveFailedError
from spotproof_runtime.checkpoints.last_save import Outcome, save_last
from spotproof_runtime.checkpoints.limited_stop import LimitedStop
from spotproof_runtime.checkpoints.lives import Lives
from spotproof_runtime.checkpoints.saving import Saver
from spotproof_runtime.events import EventLog
from spotproof_runtime.stop import Interrupted

_EXIT_SECONDS = 5.0
"""How long a program that ends by itself tries to take its mark back."""

_log = logging.getLogger("spotproof_runtime.checkpoints")


class Ending:
    """Ends a life, once.

    Args:
        saver: saves what is left to save.
        lives: has the mark of this life.
        stop: whether and when the program must end.
        events: where the end is recorded.
        saves: whether this process saves.

    Attributes:
        outcome: what became of the last save; None while the program was not told to end.
        begun_step: the step that this life has begun at.
    """

    def __init__(
        self, saver: Saver, lives: Lives, stop: LimitedStop, events: EventLog, *, saves: bool
    ) -> None:
        self._saver = saver
        self._lives = lives
        self._stop = stop
        self._events = events
        self._saves = saves
        self._process = os.getpid()
        self.outcome: Outcome | None = None
        self.begun_step = 0

    def decide(self, done: int, save: Callable[[], object] | None) -> None:
        """Saves the state after `done` steps, or what else there is to save, in the time left."""
        if self.outcome is not None:
            return
        begun = time.monotonic()
        outcome = save_last(self._saver, self._stop, done, save)
        self._record(outcome, done, time.monotonic() - begun)
        committed = self._saver.committed_step
        if outcome is Outcome.SAVED and committed is not None and committed > self.begun_step:
            self._take_mark_back()

    def give_up(self, done: int) -> None:
        """The save after `done` steps had begun when the program was told to end, and failed."""
        self._record(Outcome.TOO_LATE, done, 0.0)

    def leave_restore(self) -> None:
        """The program was told to end while it restored: there was nothing to save."""
        self.outcome = Outcome.NONE
        self._events.record("interrupted", outcome=self.outcome.value, step=None, lost_steps=0)

    def _record(self, outcome: Outcome, done: int, seconds: float) -> None:
        committed = self._saver.committed_step or 0
        self.outcome = outcome
        self._events.record(
            "interrupted",
            outcome=outcome.value,
            step=committed,
            lost_steps=max(0, done - committed),
            seconds=round(seconds, 3),
        )

    def interrupt(self, done: int) -> NoReturn:
        """Decides if that was not done yet, and raises `Interrupted`."""
        self.decide(done, None)
        self._stop.exit_if_requested()
        raise Interrupted

    def wait(self) -> None:
        """Waits until nothing is being saved, but not beyond the program's end.

        Raises:
            SaveFailedError: a save has failed, or the end came first.
        """
        landed = self._saver.background.wait(self._stop.remaining)
        self._saver.raise_failure()
        if not landed:
            step = self._saver.offered_step or 0
            raise SaveFailedError(step, f"cannot save step {step} before the program has to end")

    def finish(self, total: int) -> None:
        """Waits until the state after all steps is saved, and says that all is done."""
        try:
            self.wait()
        except SaveFailedError:
            if not self._stop.requested:
                raise
            self.interrupt(total)
        if self._saves and self._saver.committed_step != total:
            _log.warning(
                "all %d steps are done, and the state after the last one was not offered: call "
                "offer in it to keep that state",
                total,
            )
        self._events.record("run_finished", step=total)
        self._stop.done()
        self._take_mark_back()

    def at_exit(self) -> None:
        """Lets the last upload end, and does not let its error pass for success."""
        if os.getpid() != self._process:
            # A forked child has neither the thread nor the mark.
            return
        self._saver.background.wait(self._stop.remaining)
        failure = self._saver.take_failure()
        if self._stop.requested:
            return
        self._stop.end_within(_EXIT_SECONDS)
        self._take_mark_back()
        if failure is not None:
            _log.error("%s", failure)
            logging.shutdown()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(EXIT_ERROR)

    def _take_mark_back(self) -> None:
        try:
            self._lives.take_back()
        except CheckpointError as error:
            # Then this life counts as one that was interrupted.
            _log.warning("cannot remove the mark of this life: %s", error)
