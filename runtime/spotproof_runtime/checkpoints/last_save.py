"""Told to end: whether a save still fits, and what to do when it does not."""

import logging
import math
from collections.abc import Callable
from enum import Enum

from spotproof_runtime.checkpoints.errors import SaveFailedError
from spotproof_runtime.checkpoints.saving import Saver
from spotproof_runtime.stop import Stop

_log = logging.getLogger("spotproof_runtime.checkpoints")


class Outcome(Enum):
    """What became of the work that was not yet saved when the program was told to end."""

    SAVED = "saved"
    """The state of the last step is saved."""

    FLUSHED = "flushed"
    """A save did not fit any more, but one that was under way was finished."""

    TOO_LATE = "too_late"
    """A save was tried and did not end in time, or failed."""

    NONE = "none"
    """Nothing could be done in the time left, or there was nothing to save."""


def save_last(saver: Saver, stop: Stop, done: int, save: Callable[[], object] | None) -> Outcome:
    """Saves the state of the last step if that fits into the time left.

    A save fits when it takes, as measured, no longer than what remains after the one under way.
    Otherwise that one is waited for, and asked again.

    Args:
        saver: saves.
        stop: says how much time is left.
        done: how many steps are done.
        save: saves the state of that many steps; None when the program has not offered it.
    """
    begun_at = saver.committed_step
    if done == 0 or saver.committed_step == done:
        return Outcome.NONE if done == 0 else Outcome.SAVED
    if save is None or not _fits(saver, stop):
        landed = not saver.background.busy or saver.background.wait(stop.remaining)
        if saver.committed_step == done:
            return Outcome.SAVED
        if not landed:
            return Outcome.TOO_LATE
        if save is None or not _fits(saver, stop):
            return Outcome.FLUSHED if saver.committed_step != begun_at else Outcome.NONE
    return _save(saver, stop, done, save)


def log_failure(error: Exception) -> None:
    """Logs what the program's own code has raised in the last save, with its traceback."""
    if not isinstance(error, SaveFailedError):
        _log.error("the last save has failed in the program's own code", exc_info=error)


def _fits(saver: Saver, stop: Stop) -> bool:
    remaining = stop.remaining()
    if math.isinf(remaining):
        return True
    needed = saver.estimate.seconds()
    if saver.background.busy:
        needed += max(0.0, needed - saver.background.running_seconds())
    return remaining > 0 and needed <= remaining


def _save(saver: Saver, stop: Stop, done: int, save: Callable[[], object]) -> Outcome:
    try:
        save()
    except Exception as error:
        # An interruption stays one whatever `write` raises: a retry may mend it, and an exit with
        # 1 would count against the limit of the Job.
        log_failure(error)
        return Outcome.TOO_LATE
    saver.background.wait(stop.remaining)
    saver.take_failure()
    return Outcome.SAVED if saver.committed_step == done else Outcome.TOO_LATE
