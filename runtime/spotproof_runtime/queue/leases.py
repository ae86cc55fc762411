"""Keeps messages leased while they are worked on, in short steps."""

import math
import threading
import time
from collections.abc import Callable, Collection, Sequence

STEP_SECONDS = 60
"""How far one step leases a message: what it takes until another worker gets it after a SIGKILL."""

LEAST_STEP_SECONDS = 10
"""The shortest lease that Pub/Sub takes."""

FIRST_STEP_AFTER_SECONDS = 1.0
"""When the first step is taken: the subscription may lease for up to 600 s, and work that is done
sooner needs no step at all. Pub/Sub's shortest deadline is 10 s."""


AGAIN_SECONDS = 1.0
"""How soon a step that failed is tried again."""


class LeaseKeeper:
    """One thread that extends the leases of the messages in hand.

    A lease is extended for as long as the process lives and holds it: after SIGKILL the message is
    free again when the step ends.

    Args:
        extend: leases messages, by ack id, for that many seconds from now; returns the ids that
            are lost for good; an error is tried again soon.
        step_seconds: 10 to 60; a third of it before a lease ends it is extended.
        failed: told of an error, in the keeper's thread.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        extend: Callable[[Sequence[str], int], Collection[str]],
        *,
        step_seconds: int = STEP_SECONDS,
        failed: Callable[[Exception], None] = lambda error: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not LEAST_STEP_SECONDS <= step_seconds <= STEP_SECONDS:
            raise ValueError(
                f"lease step of {step_seconds} s: {LEAST_STEP_SECONDS} to {STEP_SECONDS} s, so "
                "that a killed worker's message is free within a minute"
            )
        self._extend = extend
        self._step_seconds = step_seconds
        self._failed = failed
        self._clock = clock
        self._due: dict[str, float] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def hold(self, ack_ids: Collection[str]) -> None:
        """Extends these from now on."""
        with self._changed:
            first = self._clock() + FIRST_STEP_AFTER_SECONDS
            self._due.update(dict.fromkeys(ack_ids, first))
            if self._thread is None:
                self._thread = threading.Thread(target=self._keep, name="leases", daemon=True)
                self._thread.start()
            self._changed.notify()

    def release(self, ack_ids: Collection[str]) -> list[str]:
        """Extends these no more; returns those that were extended until now.

        Whoever gets an id from here settles it: nobody else will.
        """
        with self._changed:
            return [ack_id for ack_id in ack_ids if self._due.pop(ack_id, None) is not None]

    def held(self) -> list[str]:
        """All that is extended."""
        with self._changed:
            return list(self._due)

    def close(self) -> None:
        """Ends the thread; a step under way is waited for."""
        with self._changed:
            self._closed = True
            self._due.clear()
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def step(self) -> None:
        """Takes the steps that are due."""
        with self._changed:
            now = self._clock()
            due = [ack_id for ack_id, at in self._due.items() if at <= now]
        if not due:
            return
        try:
            self.release(self._extend(due, self._step_seconds))
        except Exception as error:
            self._postpone(due, AGAIN_SECONDS)
            self._failed(error)
            return
        self._postpone(due, self._step_seconds * 2 / 3)

    def _postpone(self, ack_ids: list[str], seconds: float) -> None:
        with self._changed:
            at = self._clock() + seconds
            self._due.update({ack_id: at for ack_id in ack_ids if ack_id in self._due})

    def _keep(self) -> None:
        while True:
            with self._changed:
                while not self._closed and (seconds := self._until_due()) > 0:
                    self._changed.wait(min(seconds, 3600.0))
                if self._closed:
                    return
            self.step()

    def _until_due(self) -> float:
        return min(self._due.values(), default=math.inf) - self._clock()
