"""When to save, as the program says it, with what earlier lives of the run have measured."""

from collections.abc import Mapping
from typing import Any

from spotproof_runtime.checkpoints.commits import Commit
from spotproof_runtime.events import EventLog
from spotproof_runtime.every import Every
from spotproof_runtime.history import History
from spotproof_runtime.interval import Cadence, SaveInterval

When = Every | Cadence | float | None
"""A fixed interval, one's own decision, a number of seconds, or None for the estimate."""


def read_when(when: When) -> Every | Cadence | None:
    """The same without the short form.

    Raises:
        ProblemsError: a number of seconds that cannot be.
    """
    return Every(seconds=when) if isinstance(when, int | float) else when


def new_cadence(when: Every | Cadence | None, commit: Commit | None, events: EventLog) -> Cadence:
    """What decides when a save is due.

    Args:
        when: as the program says it.
        commit: the checkpoint that the life has begun with.
        events: where the interval in use is recorded.
    """
    if when is not None and not isinstance(when, Every):
        return when
    history = History.from_mapping(commit.history if commit else None)
    return SaveInterval(history, fixed=when, events=events)


def history_of(cadence: Cadence) -> Mapping[str, Any]:
    """What the run has measured, to be kept with a checkpoint; nothing of a foreign cadence."""
    history = getattr(cadence, "history", None)
    return history.mapping() if isinstance(history, History) else {}
