"""One batch after the other: taken, finished, given back."""

import time
from collections.abc import Mapping, Sequence

from spotproof_runtime.error_text import error_class, error_text
from spotproof_runtime.events import EventLog
from spotproof_runtime.queue.batch import Batch
from spotproof_runtime.queue.leases import LeaseKeeper
from spotproof_runtime.queue.pause import Pauses
from spotproof_runtime.queue.settling import Settling
from spotproof_runtime.queue.storing import SinkDown, Storing
from spotproof_runtime.queue.subscription import Received
from spotproof_runtime.queue.taking import Taking
from spotproof_runtime.queue.work_times import WorkTimes
from spotproof_runtime.sinks.protocol import Row
from spotproof_runtime.stop import Stop


class Handling:
    """What happens to batches, whoever loops over them.

    Args:
        leases: keeps what is in hand.
        taking: makes batches.
        storing: stores results.
        settling: ends messages.
        times: told how long batches took.
        stop: once requested, nothing is begun and no error is counted.
        events: told of errors.
    """

    def __init__(
        self,
        leases: LeaseKeeper,
        taking: Taking,
        storing: Storing,
        settling: Settling,
        times: WorkTimes,
        stop: Stop,
        *,
        events: EventLog,
    ) -> None:
        self._leases = leases
        self._taking = taking
        self._storing = storing
        self._settling = settling
        self._times = times
        self._stop = stop
        self._events = events
        self._trouble = Pauses(stop, first_seconds=0.1, most_seconds=2.0)

    def take(self, received: Sequence[Received]) -> Batch | None:
        """A batch with work in it, if that is what was pulled."""
        ack_ids = [each.ack_id for each in received]
        self._leases.hold(ack_ids)
        if self._stop.requested:
            self._settling.set_free(ack_ids, "not begun")
            return None
        try:
            batch = self._taking.batch(self, received)
        except Exception as error:
            self._storing.failed("have", error)
            self._settling.set_free(ack_ids, "the sink is not well")
            self._storing.wait_until_well(self._taking.asked)
            return None
        if not self._taking.well:
            self._trouble.take()
        if batch is None or batch.items:
            return batch
        self._settle(batch)
        return None

    def finish(self, batch: Batch, rows: Sequence[Row], failed: Mapping[str, Exception]) -> bool:
        """Stores the rows, counts the errors, and settles each message of a batch."""
        try:
            refused = self._storing.store(rows)
        except SinkDown:
            self.give_back(batch, "the sink is not well")
            return False
        batch.stored |= {row.key for row in rows} - set(refused)
        batch.failed.update(refused if self._excused(failed) else {**failed, **refused})
        if batch.stored >= set(batch.keys):
            self._times.add(time.monotonic() - batch.began_at)
        self._settle(batch)
        return batch.stored >= set(batch.keys)

    def give_back(self, batch: Batch, reason: str) -> None:
        """Gives back what a batch holds still, from any thread."""
        batch.settled = batch.given_back = True
        self._settling.give_back(batch.messages, reason)
        self._taking.release(batch.keys)

    def leave(self) -> None:
        """Gives back whatever is still in hand."""
        self._settling.set_free(self._leases.held(), "left in hand")

    def _excused(self, failed: Mapping[str, Exception]) -> bool:
        """Whether errors may come from the end of the program: of children that it took along, for
        example. They are not counted; if they are the items', they come again elsewhere."""
        if not self._stop.requested:
            return False
        for key, error in failed.items():
            text = f"{error_class(error)}: {error_text(error)}"
            self._events.record("message_failed", key=key, counted=False, error=text)
        return True

    def _settle(self, batch: Batch) -> None:
        try:
            well = self._settling.settle(batch)
        except Exception as error:
            self._storing.failed("count_error", error)
            self.give_back(batch, "errors cannot be counted")
            return
        self._taking.release(batch.keys)
        if batch.failed or not well:
            self._trouble.take()
        else:
            self._trouble.over()
