"""A worker stores before it acknowledges, and works on nothing twice."""

import re
from collections.abc import Sequence

import pytest

from spotproof_runtime import (
    Item,
    PostgresSink,
    QueueWorker,
    Row,
    SqliteSink,
)
from tests.runtime.queues import FakeStop, Queue, new_queue
from tests.runtime.services import Postgres
from tests.runtime.workers import double, worker

pytestmark = pytest.mark.usefixtures("emulator")


def test_results_are_stored_and_messages_end(queue: Queue, sink: SqliteSink) -> None:
    queue.publish([Item("a", 1), Item("b", 2)], [Item("c", 3)])
    did = worker(queue, sink, compute=double).run()
    assert sink.have(["a", "b", "c", "d"]) == {"a", "b", "c"}
    assert (did.stored, did.acked, did.given_back) == (3, 2, 0)
    assert queue.pull(seconds=1) == []


def test_a_duplicate_is_acknowledged_without_work(queue: Queue, sink: SqliteSink) -> None:
    computed: list[str] = []

    def compute(items: Sequence[Item]) -> list[Row]:
        computed.extend(item.key for item in items)
        return double(items)

    queue.publish(*[[Item("a", 1)]] * 5, [Item("a", 1), Item("b", 2)])
    did = worker(queue, sink, compute=compute).run()
    assert sorted(computed) == ["a", "b"]
    assert did.acked == 6


def test_messages_of_one_batch_are_worked_on_together(queue: Queue, sink: SqliteSink) -> None:
    sizes: list[int] = []

    def compute(items: Sequence[Item]) -> list[Row]:
        sizes.append(len(items))
        return double(items)

    queue.publish(*[[Item(f"{number}", number)] for number in range(20)])
    did = worker(queue, sink, compute=compute, messages_per_batch=10).run()
    assert sum(sizes) == 20
    assert max(sizes) <= 10
    assert did.acked == 20


def test_the_loop_can_be_the_users(queue: Queue, sink: SqliteSink) -> None:
    queue.publish([Item("a", 1)], [Item("b", 2)])
    with worker(queue, sink) as mine:
        for batch in mine:
            with batch:
                assert batch.done(double(batch.items))
    assert sink.have(["a", "b"]) == {"a", "b"}


def test_a_body_without_done_gives_the_message_back(queue: Queue, sink: SqliteSink) -> None:
    queue.publish([Item("a", 1)])
    with worker(queue, sink) as mine:
        for batch in mine:
            assert batch.keys == ["a"]
            break
    assert len(queue.pull()) == 1
    assert mine.summary.failed == 0


def test_an_error_that_leaves_the_loop_is_counted_and_the_message_given_back(
    queue: Queue, sink: SqliteSink
) -> None:
    queue.publish([Item("a", 1)])

    def loop() -> None:
        with worker(queue, sink) as mine:
            for batch in mine:
                batch.done([Row("a", 1 / 0)])

    with pytest.raises(ZeroDivisionError):
        loop()
    assert len(queue.pull()) == 1
    assert sink.count_error("a", "second") == 2


def test_a_loop_without_the_worker_around_it_is_refused(queue: Queue, sink: SqliteSink) -> None:
    with pytest.raises(RuntimeError, match="with worker"):
        next(iter(worker(queue, sink)))


def test_what_is_done_after_it_was_given_back_is_stored_all_the_same(
    queue: Queue, sink: SqliteSink
) -> None:
    queue.publish([Item("a", 1)])
    with worker(queue, sink) as mine:
        for batch in mine:
            batch.give_back()
            assert batch.done(double(batch.items))
            break
    assert sink.have(["a"]) == {"a"}


def test_done_twice_is_refused(queue: Queue, sink: SqliteSink) -> None:
    queue.publish([Item("a", 1)])
    with worker(queue, sink) as mine:
        for batch in mine:
            batch.done(double(batch.items))
            with pytest.raises(ValueError, match="settled already"):
                batch.done(double(batch.items))


def test_no_more_is_held_than_is_worked_on(queue: Queue, sink: SqliteSink) -> None:
    """google-cloud-python#9252: what the client holds beyond that is lost time."""
    others: list[int] = []

    def compute(items: Sequence[Item]) -> list[Row]:
        if not others:
            received = queue.pull(1000)
            while len(received) < 149 and (more := queue.pull(1000, seconds=2)):
                received += more
            others.append(len(received))
            queue.acknowledge(received)
        return double(items)

    queue.publish(*[[Item(f"{number}", 1)] for number in range(150)])
    did = worker(queue, sink, compute=compute).run()
    assert others == [149]
    assert did.stored == 1


def test_a_message_that_was_lost_while_it_was_worked_on_is_no_error(
    queue: Queue, sink: SqliteSink
) -> None:
    queue.publish([Item("a", 1)])
    with worker(queue, sink) as mine:
        for batch in mine:
            queue.subscriber.modify_ack_deadline(
                subscription=queue.subscription, ack_ids=batch.ack_ids, ack_deadline_seconds=0
            )
            other = worker(queue, sink, compute=double).run()
            assert other.stored == 1
            assert batch.done(double(batch.items))
    assert sink.have(["a"]) == {"a"}
    assert queue.pull(seconds=1) == []


def test_exactly_once_delivery_is_worked_on_too(sink: SqliteSink) -> None:
    queue = new_queue(exactly_once=True)
    queue.publish([Item("a", 1)], [Item("b", 1)])
    did = worker(queue, sink, compute=double).run()
    assert (did.stored, did.acked) == (2, 2)


def test_a_copy_of_what_another_worker_works_on_is_put_off(
    queue: Queue, database: Postgres
) -> None:
    other, mine = (PostgresSink("claimed", url=database.url) for _ in range(2))
    mine.create_tables()
    assert other.claim(["a"]) == {"a"}
    queue.publish([Item("a", 1)], [Item("b", 1)])
    did = worker(queue, mine, compute=double, leave_when_idle_seconds=2.0).run()
    assert mine.have(["a", "b"]) == {"b"}
    assert did.given_back == 1, "put off for some seconds, not again and again"
    other.close()
    mine.close()


def test_a_claim_ends_with_the_message_that_is_given_back(queue: Queue, database: Postgres) -> None:
    other, mine = (PostgresSink("claimed", url=database.url) for _ in range(2))
    mine.create_tables()
    queue.publish([Item("x", 1)])
    with worker(queue, mine) as working:
        for batch in working:
            assert other.claim(["x"]) == set()
            batch.give_back()
            assert other.claim(["x"]) == {"x"}
            break
    other.close()
    mine.close()


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("messages_per_batch", 2.5),
        ("messages_per_batch", "3"),
        ("most_errors", True),
        ("sink_patience_seconds", float("nan")),
        ("sink_patience_seconds", -1),
        ("leave_when_idle_seconds", -1),
        ("leave_when_idle_seconds", "5"),
        ("message_timeout_seconds", 0),
        ("message_timeout_seconds", float("nan")),
        ("dead_letter_topic", "dead"),
        ("dead_letter_topic", "projects/p/subscriptions/dead"),
    ],
)
def test_an_argument_that_cannot_be_is_refused_before_a_message_is_taken(
    queue: Queue, sink: SqliteSink, argument: str, value: object
) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{argument}={value!r}: ")):
        worker(queue, sink, **{argument: value})


def test_wrong_arguments_are_all_named(queue: Queue, sink: SqliteSink) -> None:
    with pytest.raises(ValueError, match=r"messages_per_batch=11.*most_errors=0"):
        worker(queue, sink, messages_per_batch=11, most_errors=0)
    with pytest.raises(ValueError, match="SPOTPROOF_SUBSCRIPTION"):
        QueueWorker("work", sink=sink, stop=FakeStop())
    with pytest.raises(ValueError, match="10 to 60"):
        worker(queue, sink, lease_step_seconds=600)
