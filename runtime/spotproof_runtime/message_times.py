"""What became of a queue worker's messages, and how long it has worked on them."""

from collections.abc import Sequence
from enum import Enum

from spotproof_runtime.lives import Life


class WorkResult(str, Enum):
    """What became of the work on a batch."""

    STORED = "stored"
    """Its results are stored, as far as it had any."""
    FAILED = "failed"
    """It ended with an error, and is done again or set aside."""
    GIVEN_BACK = "given_back"
    """It was given up: the end came, or the sink was away."""
    UNFINISHED = "unfinished"
    """Nothing was said of its end: the worker was killed. It has lasted to its last word."""


_FAILURES = {"message_failed", "message_timed_out", "message_dead_lettered"}
_ENDS = {"message_acked", "message_given_back"}


class MessageTimes:
    """Follows the events of one worker, which has one batch in hand at a time.

    Attributes:
        seconds: how long was worked, by result; only of batches that have ended.
    """

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(WorkResult, 0.0)
        self._begun: float | None = None
        self._result = WorkResult.GIVEN_BACK

    def take(self, event: str, time: float) -> None:
        """Takes in one event.

        Args:
            event: its name.
            time: when it was, in seconds.
        """
        if event == "message_started":
            self.end(time)
            self._begun, self._result = time, WorkResult.GIVEN_BACK
        elif event == "message_stored":
            self._result = WorkResult.STORED
        elif event in _FAILURES and self._result is not WorkResult.STORED:
            self._result = WorkResult.FAILED
        elif event in _ENDS:
            self._close(self._result, time)

    def end(self, time: float) -> None:
        """The worker says nothing more."""
        self._close(WorkResult.UNFINISHED, time)

    def _close(self, result: WorkResult, time: float) -> None:
        if self._begun is not None:
            self.seconds[result] += max(time - self._begun, 0.0)
            self._begun = None


def message_counts(lives: Sequence[Life]) -> dict[str, int]:
    """Messages by what became of them; of those stored, the items."""
    counts: dict[str, int] = {}
    for life in lives:
        for event in life.events:
            if event.name.startswith("message_"):
                many = event.number("items") if event.name == "message_stored" else None
                many = many if many is not None else event.number("messages")
                key = event.name.removeprefix("message_")
                counts[key] = counts.get(key, 0) + int(1 if many is None else many)
    return counts


def message_seconds(lives: Sequence[Life]) -> dict[WorkResult, float]:
    """Seconds of work on messages by its result; empty without any."""
    total = dict.fromkeys(WorkResult, 0.0)
    for life in lives:
        times = MessageTimes()
        for event in life.events:
            times.take(event.name, event.time)
        times.end(life.end)
        for result, seconds in times.seconds.items():
            total[result] += seconds
    return total if any(life.of("message_started") for life in lives) else {}
