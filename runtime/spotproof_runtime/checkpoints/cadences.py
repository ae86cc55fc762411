"""When to save, as the program says it, with what earlier lives of the run have measured."""

from collections.abc import Callable, Mapping
from typing import Any

from spotproof_runtime.cadence import Cadence
from spotproof_runtime.checkpoints.commits import Commit
from spotproof_runtime.events import EventLog
from spotproof_runtime.every import Every
from spotproof_runtime.history import History
from spotproof_runtime.interval import SaveInterval
from spotproof_runtime.unsaved import Unsaved

When = Every | Cadence | float | None
"""A fixed interval, one's own decision, a number of seconds, or None for the estimate."""


def read_when(when: When) -> Every | Cadence | None:
    """The same without the short form.

    Raises:
        ProblemsError: a number of seconds that cannot be.
    """
    return Every(seconds=when) if isinstance(when, int | float) else when


def new_cadence(
    when: Every | Cadence | None,
    commit: Commit | None,
    events: EventLog,
    upload_seconds: Callable[[], float] | None,
) -> Cadence:
    """What decides when a save is due.

    Args:
        when: as the program says it.
        commit: the checkpoint that the life has begun with.
        events: where the interval in use is recorded.
        upload_seconds: how long an upload takes, measured; None when saves hold up the work.
    """
    if when is not None and not isinstance(when, Every):
        return when
    history = History.from_mapping(commit.history if commit else None)
    unsaved = Unsaved(upload_seconds) if upload_seconds is not None else None
    return SaveInterval(history, fixed=when, events=events, unsaved=unsaved)


def history_of(cadence: Cadence) -> Mapping[str, Any]:
    """What the run has measured, to be kept with a checkpoint; nothing of a foreign cadence."""
    history = getattr(cadence, "history", None)
    return history.mapping() if isinstance(history, History) else {}
