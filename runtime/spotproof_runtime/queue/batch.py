"""What a worker has in hand: 1 to 10 messages, worked on together."""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol

from spotproof_runtime.queue.computing import checked
from spotproof_runtime.queue.messages import Item
from spotproof_runtime.queue.subscription import Received
from spotproof_runtime.sinks.protocol import Row


@dataclass(frozen=True)
class Message:
    """A message that was read: one delivery, and its items."""

    received: Received
    items: tuple[Item, ...]

    @property
    def keys(self) -> set[str]:
        """Keys of the items."""
        return {item.key for item in self.items}


class Owner(Protocol):
    """What a batch needs of its worker."""

    def finish(self, batch: "Batch", rows: Sequence[Row], failed: Mapping[str, Exception]) -> bool:
        """Stores the rows, counts the errors, and settles each message."""
        ...

    def give_back(self, batch: "Batch", reason: str) -> None:
        """Gives back each message that is not settled yet."""
        ...


class Batch:
    """Messages worked on together, and what became of their items.

    As a context manager it counts an error of its body against its items and lets the loop go on;
    leaving the body without `done` gives the messages back.

    Attributes:
        items: the work that is left: what the sink has already is not in it.
        messages: the deliveries that the items came in.
        stored: keys whose results are in the sink.
        failed: errors by key.
        settled: whether the messages are no longer in hand.
        given_back: whether that is because they were given back; what is `done` then is stored
            all the same.
    """

    def __init__(
        self, owner: Owner, messages: Sequence[Message], items: Sequence[Item], had: Collection[str]
    ) -> None:
        self._owner = owner
        self.messages = tuple(messages)
        self.items = tuple(items)
        self.stored = set(had)
        self.failed: dict[str, Exception] = {}
        self.began_at = time.monotonic()
        self.settled = False
        self.given_back = False

    @property
    def keys(self) -> list[str]:
        """Keys of the items that are left, in their order."""
        return [item.key for item in self.items]

    @property
    def ack_ids(self) -> list[str]:
        """The deliveries in hand."""
        return [message.received.ack_id for message in self.messages]

    def done(self, rows: Iterable[Row]) -> bool:
        """Stores the results, then acknowledges, and returns when Pub/Sub has confirmed it.

        Args:
            rows: one for each of `items`, in any order.

        Returns:
            Whether all of them are stored; else the sink refused some, which counts as their
            errors, or was not well for too long, and the messages are given back.

        Raises:
            ValueError: a row is missing or of no item, or the batch is settled; nothing is stored.
            TypeError: something else than rows.
        """
        if self.settled and not self.given_back:
            raise ValueError("this batch is settled already")
        return self._owner.finish(self, checked(rows, self.keys), {})

    def finish(self, rows: Sequence[Row], failed: Mapping[str, Exception]) -> bool:
        """Like `done`, for a part of the items, with the errors of others by key.

        A message with an item in neither is given back.
        """
        return self._owner.finish(self, rows, failed)

    def fail(self, error: Exception) -> None:
        """Counts an error against all items; those that used up their budget are set aside."""
        self._owner.finish(self, (), dict.fromkeys(self.keys, error))

    def give_back(self, reason: str = "asked for") -> None:
        """Makes the messages another worker's at once; no error is counted."""
        self._owner.give_back(self, reason)

    def __enter__(self) -> "Batch":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        failed = isinstance(error, Exception)
        if self.settled:  # an error after `done` is no item's, one after the notice is nobody's
            return failed and self.given_back
        if isinstance(error, Exception):
            self.fail(error)
        else:
            self.give_back("left without a result" if error is None else type(error).__name__)
        return failed
