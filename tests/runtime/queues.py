"""Queues as `WorkQueue` declares them, on the emulator, and what tests ask of them."""

import itertools
import os
import threading
import time
from dataclasses import dataclass
from typing import Any

from google.cloud import pubsub_v1
from google.protobuf.duration_pb2 import Duration
from google.pubsub_v1 import DeadLetterPolicy, ExpirationPolicy, Subscription

from spotproof_gke.queues import DEAD_LETTERS_SUFFIX, MAX_DELIVERY_ATTEMPTS, RETENTION_SECONDS
from spotproof_runtime.queue.messages import Item, encode

_numbers = itertools.count(1)


class FakeStop:
    """A `Stop` that a test requests."""

    def __init__(self, budget_seconds: float = 13.0) -> None:
        self._event = threading.Event()
        self._budget_seconds = budget_seconds
        self._at = 0.0

    @property
    def requested(self) -> bool:
        return self._event.is_set()

    def request(self) -> None:
        self._at = self._at or time.monotonic()
        self._event.set()

    def remaining(self) -> float:
        if not self.requested:
            return float("inf")
        return self._budget_seconds - (time.monotonic() - self._at)

    def wait(self, seconds: float) -> bool:
        return self._event.wait(seconds)


@dataclass
class Queue:
    """A topic, its subscription, and the same for poison."""

    topic: str
    subscription: str
    dead_letter_topic: str
    dead_letters: str
    publisher: Any
    subscriber: Any

    def publish(self, *batches: list[Item], data: bytes | None = None) -> None:
        payloads = [encode(items) for items in batches] if data is None else [data]
        for future in [self.publisher.publish(self.topic, payload) for payload in payloads]:
            future.result(timeout=30)

    def pull(self, most: int = 100, *, seconds: float = 5.0, dead: bool = False) -> list[Any]:
        """What can be had within that long; none when nothing can."""
        from google.api_core.exceptions import DeadlineExceeded

        name = self.dead_letters if dead else self.subscription
        try:
            response = self.subscriber.pull(
                subscription=name, max_messages=most, timeout=seconds, retry=None
            )
        except DeadlineExceeded:
            return []
        return list(response.received_messages)

    def acknowledge(self, received: list[Any], *, dead: bool = False) -> None:
        name = self.dead_letters if dead else self.subscription
        self.subscriber.acknowledge(subscription=name, ack_ids=[each.ack_id for each in received])


def new_queue(
    *,
    ack_deadline_seconds: int = 60,
    exactly_once: bool = False,
    max_delivery_attempts: int = MAX_DELIVERY_ATTEMPTS,
) -> Queue:
    """A queue as `WorkQueue` declares it; the emulator takes no more than 7 days of retention."""
    publisher, subscriber = pubsub_v1.PublisherClient(), pubsub_v1.SubscriberClient()
    name = f"work-{os.getpid()}-{next(_numbers)}"
    topic, dead = (f"projects/p/topics/{name}{end}" for end in ("", DEAD_LETTERS_SUFFIX))
    work, kept = (f"projects/p/subscriptions/{name}{end}" for end in ("", DEAD_LETTERS_SUFFIX))
    publisher.create_topic(name=topic)
    publisher.create_topic(name=dead)
    subscriber.create_subscription(request={"name": kept, "topic": dead})
    subscriber.create_subscription(
        request=Subscription(
            name=work,
            topic=topic,
            ack_deadline_seconds=ack_deadline_seconds,
            message_retention_duration=Duration(seconds=RETENTION_SECONDS[0]),
            expiration_policy=ExpirationPolicy(),
            dead_letter_policy=DeadLetterPolicy(
                dead_letter_topic=dead, max_delivery_attempts=max_delivery_attempts
            ),
            enable_exactly_once_delivery=exactly_once,
        )
    )
    return Queue(topic, work, dead, kept, publisher, subscriber)
