"""A worker stores before it acknowledges, and gives back what it cannot finish."""

import io
import json
import re
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import grpc
import pytest

from spotproof_runtime import (
    EventLog,
    Interrupted,
    Item,
    PostgresSink,
    QueueWorker,
    Row,
    SqliteSink,
)
from spotproof_runtime.queue.pulling import PULL_SECONDS
from tests.runtime.queues import FakeStop, Queue, new_queue
from tests.runtime.services import Postgres, wait_for

pytestmark = pytest.mark.usefixtures("emulator")


@pytest.fixture
def queue() -> Queue:
    return new_queue()


@pytest.fixture
def sink(tmp_path: Path) -> Iterator[SqliteSink]:
    made = SqliteSink(tmp_path / "results.sqlite")
    yield made
    made.close()


def double(items: Sequence[Item]) -> list[Row]:
    return [Row(item.key, item.value * 2) for item in items]


def worker(queue: Queue, sink: Any, stop: FakeStop | None = None, **more: Any) -> QueueWorker:
    more.setdefault("events", EventLog(io.StringIO()))
    return QueueWorker(
        queue.subscription,
        sink=sink,
        stop=stop or FakeStop(),
        **{"leave_when_idle_seconds": 0.7, **more},
    )


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


def test_one_bad_item_takes_no_good_one_with_it(queue: Queue, sink: SqliteSink) -> None:
    def compute(items: Sequence[Item]) -> list[Row]:
        if any(item.key == "bad" for item in items):
            raise ValueError("cannot read the picture at https://joe:pa55@example.com/x")
        return double(items)

    queue.publish([Item("a", 1), Item("bad", 2), Item("c", 3)])
    did = worker(queue, sink, compute=compute, most_errors=3).run()
    assert sink.have(["a", "bad", "c"]) == {"a", "c"}
    assert did.failed == 3
    assert queue.pull(seconds=1) == []
    (dead,) = queue.pull(dead=True)
    assert [item["key"] for item in json.loads(dead.message.data)["items"]] == ["bad"]
    about = dict(dead.message.attributes)
    assert about["spotproof-error"] == "ValueError"
    assert about["spotproof-errors"] == "3"
    assert "cannot read the picture" in about["spotproof-error-text"]
    assert "pa55" not in str(about)


def test_errors_are_forgotten_when_the_work_succeeds(queue: Queue, sink: SqliteSink) -> None:
    tries: list[int] = []

    def compute(items: Sequence[Item]) -> list[Row]:
        tries.append(len(tries))
        if len(tries) < 3:
            raise OSError("the model's server is busy")
        return double(items)

    queue.publish([Item("a", 1)])
    did = worker(queue, sink, compute=compute).run()
    assert (did.failed, did.stored, did.dead_lettered) == (2, 1, 0)
    assert sink.count_error("a", "first again") == 1


@pytest.mark.parametrize("value", [b"1e999", b'"%s"' % ("é" * 1_900_000).encode()], ids=len)
def test_poison_that_cannot_be_written_anew_is_set_aside_as_it_came(
    queue: Queue, sink: SqliteSink, value: bytes
) -> None:
    data = b'{"format":1,"items":[{"key":"bad","value":%s}]}' % value
    queue.publish(data=data)

    def fail(items: Sequence[Item]) -> list[Row]:
        raise RuntimeError("no such thing")

    did = worker(queue, sink, compute=fail, most_errors=2).run()
    assert (did.failed, did.dead_lettered, did.acked) == (2, 1, 1)
    (dead,) = queue.pull(dead=True)
    assert dead.message.data == data


def test_what_cannot_be_read_is_set_aside_at_once(queue: Queue, sink: SqliteSink) -> None:
    for data in (b"\xff\x00", b"[]", b'{"format":2,"items":[]}', b'{"format":1,"items":[{}]}'):
        queue.publish(data=data)
    did = worker(queue, sink, compute=double).run()
    assert did.dead_lettered == 4
    assert queue.pull(seconds=1) == []
    found: list[Any] = []
    while len(found) < 4:
        found += queue.pull(dead=True)
    assert {each.message.data for each in found} >= {b"\xff\x00", b"[]"}


def test_poison_that_cannot_be_set_aside_is_not_acknowledged(
    queue: Queue, sink: SqliteSink
) -> None:
    queue.publish(data=b"not JSON")
    stop = FakeStop()
    threading.Timer(2, stop.request).start()
    did = worker(
        queue, sink, stop, compute=double, dead_letter_topic="projects/p/topics/nowhere"
    ).run()
    assert did.acked == 0
    assert len(queue.pull()) == 1


def test_a_result_that_the_sink_can_never_take_is_poison(queue: Queue, sink: SqliteSink) -> None:
    def compute(items: Sequence[Item]) -> list[Row]:
        return [Row(item.key, float("nan") if item.key == "nan" else 1) for item in items]

    queue.publish([Item("nan"), Item("good")])
    did = worker(queue, sink, compute=compute, most_errors=2).run()
    assert sink.have(["nan", "good"]) == {"good"}
    assert did.dead_lettered == 1
    assert did.sink_failures == 0


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([], "no row for item 'a'"),
        ([Row("a", 1), Row("b", 1)], "row 'b' is of no item"),
        ([Row("a", 1), Row("a", 2)], "two rows of one key"),
        ([{"key": "a"}], "give Row"),
    ],
)
def test_results_that_do_not_match_the_items_are_errors(
    queue: Queue, sink: SqliteSink, rows: list[Any], text: str
) -> None:
    queue.publish([Item("a", 1)])
    worker(queue, sink, compute=lambda items: rows, most_errors=1).run()
    (dead,) = queue.pull(dead=True)
    assert text in dead.message.attributes["spotproof-error-text"]


class Failing:
    """A sink of a user's with the two methods, not well for its first calls."""

    def __init__(self, have: int = 0, put: int = 0) -> None:
        self.rows: dict[str, Any] = {}
        self.left = {"have": have, "put": put}

    def have(self, keys: Collection[str]) -> set[str]:
        self._fail("have")
        return set(keys) & set(self.rows)

    def put(self, rows: Sequence[Row]) -> None:
        self._fail("put")
        self.rows.update({row.key: row.value for row in rows})

    def _fail(self, call: str) -> None:
        if self.left[call] > 0:
            self.left[call] -= 1
            raise OSError(f"{call}: no route to host")


def test_a_sink_that_is_not_well_stops_the_pull_and_no_error_is_counted(queue: Queue) -> None:
    sink = Failing(have=2)
    queue.publish(*[[Item(f"{number}", number)] for number in range(5)])
    did = worker(queue, sink, compute=double, leave_when_idle_seconds=2.0).run()
    assert len(sink.rows) == 5
    assert did.given_back == 1, "one message was in hand when the sink failed"
    assert did.failed == 0


def test_what_is_in_hand_when_the_program_is_left_goes_back(queue: Queue) -> None:
    class Leaving(Failing):
        def have(self, keys: Collection[str]) -> set[str]:
            raise KeyboardInterrupt

    queue.publish([Item("a", 1)])
    with pytest.raises(KeyboardInterrupt):
        worker(queue, Leaving(), compute=double).run()
    assert len(queue.pull()) == 1


def test_computed_results_wait_for_the_sink(queue: Queue) -> None:
    computed: list[str] = []

    def compute(items: Sequence[Item]) -> list[Row]:
        computed.extend(item.key for item in items)
        return double(items)

    sink = Failing(put=4)
    queue.publish([Item("a", 1)])
    did = worker(queue, sink, compute=compute).run()
    assert sink.rows == {"a": 2}
    assert computed == ["a"]
    assert (did.sink_failures, did.given_back) == (4, 0)


def test_results_are_given_up_when_the_sink_stays_away(queue: Queue) -> None:
    sink = Failing(put=10**6)
    stop = FakeStop(budget_seconds=2.0)
    queue.publish([Item("a", 1)])
    threading.Timer(1.0, stop.request).start()
    did = worker(queue, sink, stop, compute=double).run()
    assert did.given_back == 1
    assert did.failed == 0
    assert len(queue.pull()) == 1


def test_work_that_fits_is_finished_on_notice(queue: Queue, sink: SqliteSink) -> None:
    stop = FakeStop()

    def compute(items: Sequence[Item]) -> list[Row]:
        stop.request()
        time.sleep(0.3)
        return double(items)

    queue.publish([Item("a", 1)], [Item("b", 1)])
    did = worker(queue, sink, stop, compute=compute).run()
    assert (did.acked, did.stored) == (1, 1)
    assert len(queue.pull()) == 1


def test_work_that_does_not_fit_is_given_back_while_it_runs(queue: Queue, sink: SqliteSink) -> None:
    stop = FakeStop(budget_seconds=5.0)
    seen: list[float] = []

    def compute(items: Sequence[Item]) -> list[Row]:
        stop.request()
        began = time.monotonic()
        again = queue.pull(seconds=20)
        seen.append(time.monotonic() - began)
        assert len(again) == 1
        raise Interrupted

    queue.publish([Item("a", 1)])
    mine = worker(queue, sink, stop, compute=compute, work_estimate_seconds=60)
    with pytest.raises(Interrupted):
        mine.run()
    print(f"given back {seen[0]:.2f} s after the notice (goal: 2 s)")
    assert seen[0] < 10
    assert sink.count_error("a", "first") == 1, "an interruption is no error"


def test_an_error_after_the_notice_is_not_counted(queue: Queue, sink: SqliteSink) -> None:
    """What the end takes along, such as children of a data loader, is no item's fault."""
    stop = FakeStop()

    def compute(items: Sequence[Item]) -> list[Row]:
        stop.request()
        raise RuntimeError("a data loader's child is gone")

    queue.publish([Item("a", 1)])
    did = worker(queue, sink, stop, compute=compute).run()
    assert (did.failed, did.given_back) == (0, 1)
    assert sink.count_error("a", "first") == 1


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


class SlowAnswer:
    """A pull whose answer is on its way for a while: Pub/Sub has leased what is in it."""

    def __init__(self, pull: Any) -> None:
        self._pull = pull
        self._cancelled = threading.Event()
        self.on_its_way = threading.Event()

    def result(self) -> Any:
        answer = self._pull.result()
        self.on_its_way.set()
        if self._cancelled.wait(0.5):
            raise grpc.FutureCancelledError
        return answer

    def cancel(self) -> None:
        self._cancelled.set()


class SlowClient:
    """A client of Pub/Sub over a slow network."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.transport = self.pull = self
        self.answers: list[SlowAnswer] = []

    def future(self, *given: Any, **more: Any) -> SlowAnswer:
        self.answers.append(SlowAnswer(self._client.transport.pull.future(*given, **more)))
        return self.answers[-1]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)


@pytest.mark.parametrize("published", ["before the notice", "after it", "when it has left"])
def test_a_worker_that_leaves_while_it_pulls_leaves_no_message_leased(
    queue: Queue, sink: SqliteSink, published: str
) -> None:
    stop = FakeStop()
    client = SlowClient(queue.subscriber)
    more: dict[str, Any] = {"subscriber": client, "leave_when_idle_seconds": None}
    mine = worker(queue, sink, stop, compute=double, **more)
    running = threading.Thread(target=mine.run)
    running.start()
    wait_for(lambda: bool(client.answers), "a pull is under way")
    if published == "before the notice":
        queue.publish([Item("a", 1)])
        wait_for(lambda: client.answers[-1].on_its_way.is_set(), "the answer is on its way")
    stop.request()
    if published == "after it":
        queue.publish([Item("a", 1)])
    running.join(timeout=10 * PULL_SECONDS)
    assert not running.is_alive()
    if published == "when it has left":
        queue.publish([Item("a", 1)])
    assert len(queue.pull(seconds=5)) == 1, "leases last 60 s here"
    assert mine.summary.stored == 0


def test_a_pull_that_lasts_is_broken_off_when_no_time_is_left(
    queue: Queue, sink: SqliteSink
) -> None:
    stop = FakeStop(budget_seconds=1.5)
    mine = worker(queue, sink, stop, compute=double, leave_when_idle_seconds=None)
    mine._pulling.pull = lambda most, seconds: mine._subscription.pull(most, seconds=60)
    running = threading.Thread(target=mine.run)
    running.start()
    wait_for(lambda: mine._subscription._pull is not None, "a pull is under way")
    stop.request()
    running.join(timeout=15)
    assert not running.is_alive()


def test_what_a_pull_brings_after_the_notice_is_given_back(queue: Queue, sink: SqliteSink) -> None:
    stop = FakeStop()
    mine = worker(queue, sink, stop, compute=double)
    pull = mine._pulling.pull

    def late(*given: Any, **more: Any) -> Any:
        received = pull(*given, **more)
        stop.request()
        return received

    mine._pulling.pull = late
    queue.publish([Item("a", 1)])
    did = mine.run()
    assert (did.stored, did.given_back) == (0, 1)
    assert len(queue.pull()) == 1


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


def preempt(queue: Queue, sink: SqliteSink) -> None:
    """Takes a worker away while it works."""
    stop = FakeStop()

    def compute(items: Sequence[Item]) -> list[Row]:
        stop.request()
        raise Interrupted

    with pytest.raises(Interrupted):
        worker(queue, sink, stop, compute=compute).run()


def test_with_the_default_of_pubsub_five_preemptions_make_poison(sink: SqliteSink) -> None:
    """The emulator counts, so the next test shows something."""
    queue = new_queue(max_delivery_attempts=5)
    queue.publish([Item("a", 1)])
    for _ in range(5):
        preempt(queue, sink)
    assert queue.pull(seconds=1) == []
    assert len(queue.pull(dead=True)) == 1


def test_twenty_preemptions_do_not_make_poison(queue: Queue, sink: SqliteSink) -> None:
    """dapr/dapr#9604: each return is a delivery attempt."""
    queue.publish([Item("a", 1)])
    for _ in range(20):
        preempt(queue, sink)
    assert queue.pull(dead=True, seconds=1) == []
    assert sink.count_error("a", "first") == 1
    assert worker(queue, sink, compute=double).run().stored == 1


def test_preemptions_leave_the_budget_of_errors_as_it_was(queue: Queue, sink: SqliteSink) -> None:
    queue.publish([Item("a", 1)])
    for _ in range(5):
        preempt(queue, sink)
    failed: list[str] = []

    def fail_once(items: Sequence[Item]) -> list[Row]:
        if not failed:
            failed.append(items[0].key)
            raise RuntimeError("the first error")
        return double(items)

    did = worker(queue, sink, compute=fail_once, most_errors=2).run()
    assert (did.failed, did.stored, did.dead_lettered) == (1, 1, 0)


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


def test_a_sink_that_cannot_count_leaves_it_to_the_worker(queue: Queue) -> None:
    def compute(items: Sequence[Item]) -> list[Row]:
        raise ValueError("always")

    queue.publish([Item("a", 1)])
    did = worker(queue, Failing(), compute=compute, most_errors=3).run()
    assert (did.failed, did.dead_lettered) == (3, 1)


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
