"""What happens to messages in the end: acknowledged, set aside with an error, or given back."""

from collections.abc import Collection, Sequence

from spotproof_runtime.error_text import error_class, error_text
from spotproof_runtime.events import EventLog
from spotproof_runtime.queue.batch import Batch, Message
from spotproof_runtime.queue.dead_letters import DeadLetters
from spotproof_runtime.queue.leases import LeaseKeeper
from spotproof_runtime.queue.messages import Item, encode
from spotproof_runtime.queue.subscription import Received, Subscription
from spotproof_runtime.queue.summary import Summary
from spotproof_runtime.sinks.protocol import ErrorBook


class Settling:
    """Ends the deliveries that a worker holds.

    Args:
        subscription: where they came from.
        leases: keeps them until then.
        errors: counts errors by key.
        dead_letters: takes poison.
        most_errors: how many errors a key may have before it is poison.
        events: told of each end.
        summary: counts them.
    """

    def __init__(
        self,
        subscription: Subscription,
        leases: LeaseKeeper,
        errors: ErrorBook,
        dead_letters: DeadLetters,
        *,
        most_errors: int,
        events: EventLog,
        summary: Summary,
    ) -> None:
        self._subscription = subscription
        self._leases = leases
        self._errors = errors
        self._dead_letters = dead_letters
        self._most_errors = most_errors
        self._events = events
        self._summary = summary

    def settle(self, batch: Batch) -> bool:
        """Ends each message of a batch; returns whether poison could be set aside, if there was.

        Raises:
            Exception: the error book is not well; nothing is settled then.
        """
        spent = self._counted(batch)
        finished = set(batch.stored)
        well = True
        for message in batch.messages:
            poison = [item for item in message.items if item.key in spent]
            if not poison:
                continue
            last = poison[-1].key
            if self._set_aside(
                message.received, _payload(message, poison), batch.failed[last], errors=spent[last]
            ):
                finished |= {item.key for item in poison}
            else:
                well = False
        batch.settled = True
        self._forget_errors(batch)
        ended = [message for message in batch.messages if message.keys <= finished]
        self.acknowledge(ended)
        others = [message for message in batch.messages if message not in ended]
        self.give_back(others, "errors to spare" if batch.failed else "not stored")
        return well

    def undecodable(self, received: Received, error: Exception) -> bool:
        """Sets aside what cannot be read, as it is; returns whether that could be done."""
        message = Message(received, ())
        if self._set_aside(received, received.data, error, errors=1):
            self.acknowledge([message])
            return True
        self.give_back([message], "dead letter topic not well")
        return False

    def acknowledge(self, messages: Collection[Message]) -> None:
        """Ends messages for good, and waits for Pub/Sub to confirm it.

        What cannot be confirmed is delivered again: its results are stored, so that is no error.
        """
        ack_ids = self._leases.release([message.received.ack_id for message in messages])
        if not ack_ids:
            return
        try:
            lost = self._subscription.acknowledge(ack_ids)
        except Exception as error:
            self._events.record("ack_failed", messages=len(ack_ids), error=error_text(error))
            return
        self._summary.acked += len(ack_ids) - len(lost)
        self._events.record("message_acked", messages=len(ack_ids) - len(lost), lost=len(lost))

    def give_back(self, messages: Sequence[Message], reason: str) -> None:
        """Makes messages another worker's at once, from any thread."""
        self.set_free([message.received.ack_id for message in messages], reason)

    def set_free(self, ack_ids: Sequence[str], reason: str, *, after_seconds: int = 0) -> None:
        """Lets deliveries go, at once or when that many seconds have passed."""
        ack_ids = self._leases.release(ack_ids)
        if not ack_ids:
            return
        try:
            self._subscription.extend(ack_ids, after_seconds)
        except Exception as error:  # then the lease ends by itself
            reason = f"{reason}; at the end of its lease: {error_text(error)}"
        self._summary.given_back += len(ack_ids)
        self._events.record("message_given_back", messages=len(ack_ids), reason=reason)

    def _forget_errors(self, batch: Batch) -> None:
        """What came for the first time has no errors to forget."""
        keys = batch.stored & set(batch.keys)
        if keys and any(message.received.attempt != 1 for message in batch.messages):
            try:
                self._errors.forget_errors(keys)
            except Exception as error:
                self._events.record("sink_failed", call="forget_errors", error=error_text(error))

    def _counted(self, batch: Batch) -> dict[str, int]:
        """Counts the errors of a batch; returns those of the keys that have no budget left."""
        spent: dict[str, int] = {}
        for key, error in batch.failed.items():
            count = self._errors.count_error(key, f"{error_class(error)}: {error_text(error)}")
            self._summary.failed += 1
            self._events.record(
                "message_failed",
                key=key,
                counted=True,
                errors=count,
                error=f"{error_class(error)}: {error_text(error)}",
            )
            if count >= self._most_errors:
                spent[key] = count
        return spent

    def _set_aside(
        self, received: Received, payload: bytes, error: Exception, *, errors: int
    ) -> bool:
        try:
            self._dead_letters.publish(
                payload,
                received.attributes,
                error,
                errors=errors,
                message_id=received.message_id,
                attempt=received.attempt,
            )
        except Exception as failure:
            self._events.record(
                "dead_letter_failed",
                topic=self._dead_letters.topic,
                error=f"{error_class(failure)}: {error_text(failure)}",
            )
            return False
        self._summary.dead_lettered += 1
        self._events.record(
            "message_dead_lettered",
            error=f"{error_class(error)}: {error_text(error)}",
            errors=errors,
        )
        return True


def _payload(message: Message, poison: Sequence[Item]) -> bytes:
    """A message of the poison alone; the whole one as it came where that cannot be written."""
    try:
        return encode(poison)
    except ValueError:
        return message.received.data
