"""Pulls until there is something, and rides out what a pull may run into."""

import time
from collections.abc import Callable

from spotproof_runtime.error_text import error_text
from spotproof_runtime.events import EventLog
from spotproof_runtime.queue.pause import Pauses
from spotproof_runtime.queue.subscription import Received, Subscription
from spotproof_runtime.stop import Stop

PULL_SECONDS = 2.0
"""How long one pull waits for a message.

On notice the pull under way is waited for, so this is short. It cannot be broken off: Pub/Sub may
just then give it a message, which nobody would have until its lease ends.
"""

SETTLES_SECONDS = 600.0
"""For how long a refusal is taken for permissions that have not settled yet."""


class Pulling:
    """The pulls of one worker.

    Args:
        subscription: pulled from.
        stop: ends it.
        events: told of errors.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        subscription: Subscription,
        stop: Stop,
        *,
        events: EventLog,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._subscription = subscription
        self._events = events
        self._clock = clock
        self._pauses = Pauses(stop, first_seconds=0.5, most_seconds=30.0)
        self._refused_since: float | None = None

    def pull(self, most: int, *, seconds: float = PULL_SECONDS) -> list[Received]:
        """One pull; none when nothing came, or after a pause when the service was not well.

        Raises:
            google.api_core.exceptions.GoogleAPICallError: a refusal that lasts, for example that
                there is no such subscription.
        """
        from google.api_core import exceptions

        try:
            received = self._subscription.pull(most, seconds=seconds)
        except (exceptions.Forbidden, exceptions.Unauthorized, exceptions.NotFound) as error:
            now = self._clock()
            self._refused_since = self._refused_since or now
            if now - self._refused_since > SETTLES_SECONDS:
                raise
            self._failed(error)
            return []
        except exceptions.InvalidArgument:
            raise
        except exceptions.GoogleAPICallError as error:
            self._failed(error)
            return []
        self._refused_since = None
        self._pauses.over()
        return received

    def _failed(self, error: Exception) -> None:
        self._events.record("pull_failed", error=error_text(error), failures=self._pauses.count + 1)
        self._pauses.take()
