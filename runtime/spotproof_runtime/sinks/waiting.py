"""Waiting for a database that is away when a worker starts."""

import logging
from collections.abc import Callable

from spotproof_runtime.queue.pause import Pauses
from spotproof_runtime.sinks.database import DatabaseError
from spotproof_runtime.stop import Stop

MOST_PAUSE_SECONDS = 15.0
"""The longest pause between two tries."""

_log = logging.getLogger("spotproof_runtime.sinks")


def wait_until_well(work: Callable[[], None], stop: Stop) -> None:
    """Does `work` until it succeeds, or the program must end.

    Args:
        work: what the database is needed for.
        stop: ends the waiting.

    Raises:
        DatabaseError: the database refuses for good.
    """
    pauses = Pauses(stop, first_seconds=0.5, most_seconds=MOST_PAUSE_SECONDS)
    said = ""
    while not stop.requested:
        try:
            work()
            return
        except DatabaseError as error:
            if not error.may_pass:
                raise
            if str(error) != said:
                said = str(error)
                _log.warning("waiting for the database: %s", said)
        pauses.take()
