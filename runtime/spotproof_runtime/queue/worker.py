"""Takes work from a queue, stores its results, and only then acknowledges it."""

import math
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from spotproof_runtime.error_text import error_text
from spotproof_runtime.events import EventLog
from spotproof_runtime.queue.arguments import check_arguments
from spotproof_runtime.queue.batch import Batch
from spotproof_runtime.queue.computing import Compute, compute_each
from spotproof_runtime.queue.dead_letters import DeadLetters
from spotproof_runtime.queue.handling import Handling
from spotproof_runtime.queue.hanging import HangWatch
from spotproof_runtime.queue.leases import STEP_SECONDS, LeaseKeeper
from spotproof_runtime.queue.notice import NoticeWatch
from spotproof_runtime.queue.pulling import PULL_SECONDS, Pulling
from spotproof_runtime.queue.settling import Settling
from spotproof_runtime.queue.storing import Storing
from spotproof_runtime.queue.subscription import (
    Received,
    Subscription,
    dead_letter_topic_of,
    subscription_name,
)
from spotproof_runtime.queue.summary import Summary
from spotproof_runtime.queue.taking import Taking
from spotproof_runtime.queue.work_times import WorkTimes
from spotproof_runtime.sinks.protocol import ErrorBook, ErrorsInMemory, Sink
from spotproof_runtime.stop import Stop

MOST_ERRORS = 5
"""How many errors an item may have before it is poison, unless said otherwise."""


class QueueWorker:
    """One worker of a Pub/Sub queue, for a pod that may be taken away at any time.

    ```python
    with Interruption(exit_code=EXIT_DONE) as stop:
        QueueWorker(sink=PostgresSink("captions"), compute=captions, stop=stop).run()
    ```

    or, with the loop in your hands:

    ```python
    with QueueWorker(sink=sink, stop=stop) as worker:
        for batch in worker:
            with batch:
                batch.done(captions(batch.items))
    ```

    `compute(items)` gets the items whose results are not stored yet and returns one `Row` for each.
    When it raises, each item is tried alone; the errors of an item are counted in the sink (or,
    where it cannot count, in this process), never by deliveries, so that preemptions cost nothing.
    After `most_errors` the item goes to the dead letter topic with the error in its attributes.
    For a fault of the pod, not of the item, raise `SystemExit`: no error is counted.

    One pull, one acknowledgement and some calls of the sink are paid per batch, one after the
    other: for work of less than a tenth of a second take more `messages_per_batch`, or publish more
    items per message.

    Once the program must end, it pulls no more, finishes what fits into the time left, gives the
    rest back at once, waits for the acknowledgements, and `run` returns.

    Args:
        subscription: `projects/PROJECT/subscriptions/NAME`; `SPOTPROOF_SUBSCRIPTION` when omitted.
        sink: where results go.
        stop: says when the program must end.
        compute: the work; needed by `run` only.
        dead_letter_topic: `projects/PROJECT/topics/NAME`; what `WorkQueue` makes when omitted.
        messages_per_batch: 1 to 10; worked on and settled together, no more are ever held.
        most_errors: how many errors an item may have before it is poison.
        work_estimate_seconds: how long a batch takes, until three were measured.
        lease_step_seconds: 10 to 60; how long a message stays away after SIGKILL.
        sink_patience_seconds: for how long computed results are kept for a sink that is not well;
            then they are given up and their messages given back.
        leave_when_idle_seconds: `run` returns when no message came for so long; None: never.
        message_timeout_seconds: how long one batch may take, its storing included; then the error
            is counted, its messages go back, and the process ends with 1; None: any time.
        error_book: counts errors; the sink when it can, else this process.
        events: told what happens.
        subscriber: a `google.cloud.pubsub_v1.SubscriberClient`; a new one when omitted.
        publisher: a `google.cloud.pubsub_v1.PublisherClient`; a new one when omitted.

    Raises:
        ValueError: an argument cannot be used; all problems are named.
        ImportError: google-cloud-pubsub is not installed.
    """

    def __init__(
        self,
        subscription: str | None = None,
        *,
        sink: Sink,
        stop: Stop,
        compute: Compute | None = None,
        dead_letter_topic: str | None = None,
        messages_per_batch: int = 1,
        most_errors: int = MOST_ERRORS,
        work_estimate_seconds: float | None = None,
        lease_step_seconds: int = STEP_SECONDS,
        sink_patience_seconds: float = 900.0,
        leave_when_idle_seconds: float | None = None,
        message_timeout_seconds: float | None = None,
        error_book: ErrorBook | None = None,
        events: EventLog | None = None,
        subscriber: Any = None,
        publisher: Any = None,
    ) -> None:
        check_arguments(
            messages_per_batch=messages_per_batch,
            most_errors=most_errors,
            sink_patience_seconds=sink_patience_seconds,
            leave_when_idle_seconds=leave_when_idle_seconds,
            message_timeout_seconds=message_timeout_seconds,
            dead_letter_topic=dead_letter_topic,
        )
        name = subscription_name(subscription)
        self._stop = stop
        self._compute = compute
        self._most_messages = messages_per_batch
        self._idle_seconds = (
            math.inf if leave_when_idle_seconds is None else leave_when_idle_seconds
        )
        self._events = events or EventLog()
        self.summary = Summary()
        self._times = WorkTimes(work_estimate_seconds)
        self._subscription = Subscription(name, client=subscriber)
        self._leases = LeaseKeeper(
            self._subscription.extend,
            step_seconds=lease_step_seconds,
            failed=lambda error: self._events.record("lease_failed", error=error_text(error)),
        )
        settling = Settling(
            self._subscription,
            self._leases,
            error_book or (sink if isinstance(sink, ErrorBook) else ErrorsInMemory()),
            DeadLetters(dead_letter_topic or dead_letter_topic_of(name), client=publisher),
            most_errors=most_errors,
            events=self._events,
            summary=self.summary,
        )
        taking = Taking(sink, settling, stop, events=self._events, summary=self.summary)
        storing = Storing(
            sink, stop, sink_patience_seconds, events=self._events, summary=self.summary
        )
        self._handling = Handling(
            self._leases, taking, storing, settling, self._times, stop, events=self._events
        )
        self._pulling = Pulling(self._subscription, stop, events=self._events)
        self._hang: HangWatch | None = None
        if message_timeout_seconds is not None:
            self._hang = HangWatch(
                message_timeout_seconds, lambda: self._current, stop, events=self._events
            )
        self._current: Batch | None = None
        self._watch: NoticeWatch | None = None

    def run(self) -> Summary:
        """Works until the program must end, or no message came for `leave_when_idle_seconds`.

        Returns:
            What this worker did.

        Raises:
            ValueError: there is no `compute`.
            google.api_core.exceptions.GoogleAPICallError: the subscription is refused for good.
        """
        compute = self._compute
        if compute is None:
            raise ValueError("run() needs compute=; or loop over the worker yourself")
        with self:
            for batch in self:
                with batch:
                    batch.finish(*compute_each(compute, batch.items, self._stop))
        return self.summary

    def __enter__(self) -> "QueueWorker":
        if self._watch is not None:
            raise RuntimeError("a worker is used once: make another")
        self._watch = NoticeWatch(
            self._stop,
            self._times,
            current=lambda: self._current,
            on_notice=self._subscription.stop_pulling,
            on_end=self._subscription.break_off,
            clock=time.monotonic,
        )
        self._watch.start()
        if self._hang is not None:
            self._hang.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        batch = self._current
        try:
            if batch is not None:
                batch.__exit__(kind, error, trace)
        finally:
            self._current = None
            if self._watch is not None:
                self._watch.close()
            if self._hang is not None:
                self._hang.close()
            self._handling.leave()
            self._leases.close()
            self._subscription.close()

    def __iter__(self) -> Iterator[Batch]:
        """Batches with work in them, one at a time, until the program must end.

        One that is not settled when the next is asked for is given back. When an error leaves the
        loop, it is counted where the `with` of the worker ends.
        """
        if self._watch is None:
            raise RuntimeError("write `with worker:` around the loop, so that nothing stays leased")
        idle_since = time.monotonic()
        while not self._stop.requested:
            received = self._pull()
            if received:
                idle_since = time.monotonic()
            elif time.monotonic() - idle_since >= self._idle_seconds:
                return
            batch = self._handling.take(received) if received else None
            if batch is None:
                continue
            self._current = batch
            if self._stop.requested:
                batch.give_back("not begun")
            else:
                yield batch
            if not batch.settled:
                batch.give_back("left without a result")
            self._current = None
            idle_since = time.monotonic()

    def _pull(self) -> list[Received]:
        seconds = max(0.1, min(PULL_SECONDS, self._idle_seconds))
        return self._pulling.pull(self._most_messages, seconds=seconds)
