"""Dead letters: what they hold, and back to the queue with them."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from spotproof_runtime.queue.clients import new_publisher
from spotproof_runtime.queue.dead_letters import PUBLISH_SECONDS
from spotproof_runtime.queue.messages import Undecodable, decode
from spotproof_runtime.queue.subscription import Received, Subscription, dead_letter_topic_of
from spotproof_runtime.sinks.protocol import ErrorBook

LEASE_SECONDS = 600
"""For how long letters are kept while they are looked at: the most that Pub/Sub takes."""

QUIET_SECONDS = 3.0
"""No letter for so long: there are no more."""

OWN_ATTRIBUTES = ("spotproof-", "goog", "CloudPubSub")
"""What the attributes of the dead letter begin with that its message did not have."""


@dataclass(frozen=True)
class Letter:
    """One dead letter.

    Attributes:
        received: as Pub/Sub gave it out.
        keys: of the items in it; None when it cannot be read.
    """

    received: Received
    keys: tuple[str, ...] | None

    @property
    def error(self) -> str:
        """The class of the last error; empty when a worker did not set it aside itself."""
        return self.received.attributes.get("spotproof-error", "")

    def matches(self, keys: Collection[str], errors: Collection[str]) -> bool:
        """Whether it holds one of the keys and has one of the errors; without any, all match."""
        return (not keys or bool(set(keys) & set(self.keys or ()))) and (
            not errors or self.error in errors
        )


class DeadLetterQueue:
    """The dead letters of a queue that `WorkQueue` has made.

    Args:
        subscription: that of the work, `projects/PROJECT/subscriptions/NAME`.
        topic: where letters go back to; `projects/PROJECT/topics/NAME` of the same NAME when None.
        subscriber: a `google.cloud.pubsub_v1.SubscriberClient`; a new one when omitted.
        publisher: a `google.cloud.pubsub_v1.PublisherClient`; made at first use when omitted.
    """

    def __init__(
        self,
        subscription: str,
        *,
        topic: str | None = None,
        subscriber: Any = None,
        publisher: Any = None,
    ) -> None:
        letters = dead_letter_topic_of(subscription).replace("/topics/", "/subscriptions/")
        self.topic = topic or subscription.replace("/subscriptions/", "/topics/")
        self._letters = Subscription(letters, client=subscriber)
        self._publisher = publisher

    def take(self, most: int) -> Iterator[Letter]:
        """Takes up to so many letters, each once; what is taken is leased."""
        seen: set[str] = set()
        while len(seen) < most:
            received = self._letters.pull(min(most - len(seen), 100), seconds=QUIET_SECONDS)
            if not received:
                return
            self._letters.extend([each.ack_id for each in received], LEASE_SECONDS)
            for each in received:
                if each.message_id not in seen:
                    seen.add(each.message_id)
                    yield _read(each)

    def give_back(self, letters: Sequence[Letter]) -> None:
        """Lets letters be taken again at once."""
        if letters:
            self._letters.give_back([each.received.ack_id for each in letters])

    def put_back(self, letter: Letter, errors: ErrorBook | None) -> None:
        """Publishes what is in a letter to the queue, and then ends the letter.

        Killed in between, the letter is still there and its work is in the queue as well: the next
        time it is published once more, which costs a worker one look into the sink.

        Args:
            letter: one that can be read.
            errors: where the items' errors are counted, to be forgotten; None leaves them.
        """
        if errors is not None:
            errors.forget_errors(letter.keys or ())
        if self._publisher is None:
            self._publisher = new_publisher()
        kept = {
            name: value
            for name, value in letter.received.attributes.items()
            if not name.startswith(OWN_ATTRIBUTES)
        }
        published = self._publisher.publish(self.topic, letter.received.data, **kept)
        published.result(timeout=PUBLISH_SECONDS)
        self._letters.acknowledge([letter.received.ack_id])

    def close(self) -> None:
        """Closes the connection."""
        self._letters.close()


def _read(received: Received) -> Letter:
    try:
        return Letter(received, tuple(item.key for item in decode(received.data)))
    except Undecodable:
        return Letter(received, None)
