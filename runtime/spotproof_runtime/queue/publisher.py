"""Puts a dataset into the queue, as often as one likes: the same work has the same keys."""

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from spotproof_runtime.error_text import error_text
from spotproof_runtime.queue.clients import new_publisher
from spotproof_runtime.queue.messages import FORMAT, MOST_ITEMS, MOST_MESSAGE_BYTES, Item, encode
from spotproof_runtime.sinks.protocol import Sink

ASKED_AT_ONCE = 500
"""How many keys the sink is asked for in one call."""

IN_FLIGHT = 1_000
"""How many messages wait for Pub/Sub's confirmation at most: what memory is spent on."""

CONFIRM_SECONDS = 120.0
"""How long one confirmation may take."""

KEPT_PROBLEMS = 20


@dataclass
class Published:
    """What a run of `publish` did.

    Attributes:
        items: items that Pub/Sub confirmed.
        messages: messages that they are in.
        had: items left out because the sink has their results.
        repeated: items left out because their key came before in this run.
        failed: items that are not published.
        problems: why, for the first ones of them.
    """

    items: int = 0
    messages: int = 0
    had: int = 0
    repeated: int = 0
    failed: int = 0
    problems: list[str] = field(default_factory=list[str])

    @property
    def seen(self) -> int:
        """All items so far."""
        return self.items + self.had + self.repeated + self.failed

    def fail(self, items: int, problem: str) -> None:
        """Counts items that are not published."""
        self.failed += items
        if len(self.problems) < KEPT_PROBLEMS:
            self.problems.append(problem)


def publish(
    items: Iterable[Item],
    topic: str,
    *,
    items_per_message: int = 1,
    sink: Sink | None = None,
    client: Any = None,
    progress: Callable[[Published], None] = lambda done: None,
) -> Published:
    """Publishes items as messages, each of up to `items_per_message`.

    It can be run again after a failure or a kill: the keys are the same, what the sink has is left
    out, and a duplicate costs a worker one question to its sink.

    Args:
        items: with a key each; an iterator is not held in memory (its keys are).
        topic: `projects/PROJECT/topics/NAME`.
        items_per_message: 1 to 10; fewer lose less when a worker is taken away.
        sink: asked for what is there already; None: all is published.
        client: a `google.cloud.pubsub_v1.PublisherClient`; a new one when omitted.
        progress: told after every 1,000 messages at least.

    Returns:
        What was done; `failed` items can be published by another run.

    Raises:
        ValueError: `topic` or `items_per_message` cannot be used.
    """
    _check(topic, items_per_message)
    done = Published()
    publisher = client or new_publisher()
    waiting: deque[tuple[Any, int]] = deque()
    try:
        for message in _messages(_unseen(items, sink, done), items_per_message):
            try:
                payload = encode(message)
            except ValueError as error:
                done.fail(len(message), f"{message[0].key!r}: {error}")
                continue
            future = publisher.publish(topic, payload, **{"spotproof-format": str(FORMAT)})
            waiting.append((future, len(message)))
            if len(waiting) >= IN_FLIGHT:
                _confirm(waiting, IN_FLIGHT // 2, done)
                progress(done)
    finally:  # also when the source fails half-way: what was published is told
        _confirm(waiting, len(waiting), done)
        progress(done)
    return done


def _confirm(waiting: "deque[tuple[Any, int]]", number: int, done: Published) -> None:
    for _ in range(number):
        future, items = waiting.popleft()
        try:
            future.result(timeout=CONFIRM_SECONDS)
        except Exception as error:
            done.fail(items, f"{type(error).__name__}: {error_text(error)}")
        else:
            done.messages += 1
            done.items += items


def _unseen(items: Iterable[Item], sink: Sink | None, done: Published) -> Iterator[Item]:
    """Items whose key did not come before and whose result is not stored."""
    seen: set[str] = set()
    some: list[Item] = []
    for item in items:
        if item.key in seen:
            done.repeated += 1
            continue
        seen.add(item.key)
        if sink is None:
            yield item
            continue
        some.append(item)
        if len(some) == ASKED_AT_ONCE:
            yield from _not_had(some, sink, done)
            some = []
    if sink is not None and some:
        yield from _not_had(some, sink, done)


def _not_had(items: list[Item], sink: Sink, done: Published) -> list[Item]:
    had = sink.have([item.key for item in items])
    left = [item for item in items if item.key not in had]
    done.had += len(items) - len(left)
    return left


def _messages(items: Iterable[Item], most: int) -> Iterator[list[Item]]:
    """Items in groups that fit into a message, in their order."""
    group: list[Item] = []
    size = 0
    for item in items:
        item_size = _size(item)
        if group and size + item_size > MOST_MESSAGE_BYTES * 0.9:
            yield group
            group, size = [], 0
        group.append(item)
        size += item_size
        if len(group) == most:
            yield group
            group, size = [], 0
    if group:
        yield group


def _size(item: Item) -> int:
    """Size of an item in a payload; 0 for one that cannot be encoded, which is told later."""
    try:
        return len(encode([item]))
    except ValueError:
        return MOST_MESSAGE_BYTES  # into a message of its own: no good item fails with it


def _check(topic: str, items_per_message: int) -> None:
    parts = topic.split("/")
    problems: list[str] = []
    if len(parts) != 4 or parts[0] != "projects" or parts[2] != "topics" or not all(parts):
        problems.append(f"topic {topic!r}: write projects/PROJECT/topics/NAME")
    if not 1 <= items_per_message <= MOST_ITEMS:
        problems.append(f"items_per_message={items_per_message}: 1 to {MOST_ITEMS}")
    if problems:
        raise ValueError("; ".join(problems))


def show(done: Published) -> None:
    """Progress in one line on standard error."""
    parts = [f"{done.items} items published in {done.messages} messages"]
    parts += [f"{done.had} stored already"] * bool(done.had)
    parts += [f"{done.repeated} repeated"] * bool(done.repeated)
    parts += [f"{done.failed} FAILED"] * bool(done.failed)
    print(", ".join(parts), file=sys.stderr)
