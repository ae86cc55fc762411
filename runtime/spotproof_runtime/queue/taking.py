"""From a pull to a batch: read, claimed, and without what the sink has already."""

import time
from collections.abc import Sequence

from spotproof_runtime.events import EventLog
from spotproof_runtime.queue.batch import Batch, Message, Owner
from spotproof_runtime.queue.messages import Item, Undecodable, decode
from spotproof_runtime.queue.settling import Settling
from spotproof_runtime.queue.subscription import Received
from spotproof_runtime.queue.summary import Summary
from spotproof_runtime.sinks.protocol import Claims, Sink
from spotproof_runtime.stop import Stop

CLAIM_SECONDS = 2.0
"""How long a worker waits for another that works on the same key, before it takes other work."""

CLAIM_POLL_SECONDS = 0.05

SET_ASIDE_SECONDS = (10, 600)
"""For how long a copy is put off whose key another worker works on: the first time and at most."""


class Taking:
    """Makes batches of what was pulled.

    Args:
        sink: asked what it has; asked for claims, if it gives them.
        settling: ends what is not worth a batch.
        stop: ends waiting.
        events: told of each batch.
        summary: counts what the sink had.
    """

    def __init__(
        self, sink: Sink, settling: Settling, stop: Stop, *, events: EventLog, summary: Summary
    ) -> None:
        self._sink = sink
        self._claims = sink if isinstance(sink, Claims) else None
        self._settling = settling
        self._stop = stop
        self._events = events
        self._summary = summary
        self.well = True
        """Whether the dead letter topic took what could not be read."""
        self.asked: list[str] = []
        """The keys that the sink was asked for last."""

    def batch(self, owner: Owner, received: Sequence[Received]) -> Batch | None:
        """A batch of the messages, settled already where nothing is left to do; None for none.

        Raises:
            Exception: the sink is not well; the messages are still in hand.
        """
        messages = self._read(received)
        if not messages:
            return None
        items = {item.key: item for message in messages for item in message.items}
        had, busy = self._asked(items)
        if busy:
            messages = self._without(messages, busy)
        left = {item.key: item for message in messages for item in message.items}
        self.release([key for key in items if key not in left or key in had])
        batch = Batch(
            owner,
            messages,
            [item for key, item in left.items() if key not in had],
            had & set(left),
        )
        self._summary.had += len(batch.stored)
        if not messages:
            return None
        if batch.items:
            self._events.record(
                "message_started",
                messages=len(messages),
                items=len(batch.items),
                had=len(batch.stored),
            )
        return batch

    def release(self, keys: Sequence[str]) -> None:
        """Gives claims back."""
        if self._claims is not None and keys:
            self._claims.release(keys)

    def _read(self, received: Sequence[Received]) -> list[Message]:
        messages: list[Message] = []
        for each in received:
            try:
                messages.append(Message(each, decode(each.data)))
            except Undecodable as error:
                self.well = self._settling.undecodable(each, error)
        return messages

    def _asked(self, items: dict[str, Item]) -> tuple[set[str], set[str]]:
        """Which keys the sink has, and which of the others another worker works on.

        A key is claimed before the sink is asked for it: asked before, it could be stored by
        another in between, and would be worked on twice.
        """
        ends = time.monotonic() + CLAIM_SECONDS
        self.asked = list(items)
        while True:
            claimed = set(items) if self._claims is None else self._claims.claim(self.asked)
            had = self._sink.have(self.asked) & set(items)
            busy = set(items) - had - claimed
            if not busy or time.monotonic() > ends or self._stop.requested:
                return had, busy
            self._stop.wait(CLAIM_POLL_SECONDS)

    def _without(self, messages: Sequence[Message], busy: set[str]) -> list[Message]:
        """Puts off messages that others work on, the longer the more often they came."""
        kept: list[Message] = []
        for message in messages:
            if not message.keys & busy:
                kept.append(message)
                continue
            least, most = SET_ASIDE_SECONDS
            seconds = min(most, least * 2 ** min(max(message.received.attempt - 1, 0), 10))
            self._settling.set_free(
                [message.received.ack_id],
                "another worker has a copy",
                after_seconds=0 if self._stop.requested else seconds,
            )
        return kept
