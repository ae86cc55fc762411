"""Told to end, a worker finishes what fits and gives back the rest at once."""

import threading
import time
from collections.abc import Sequence
from typing import Any

import grpc
import pytest

from spotproof_runtime import (
    Interrupted,
    Item,
    Row,
    SqliteSink,
)
from spotproof_runtime.queue.pulling import PULL_SECONDS
from tests.runtime.queues import FakeStop, Queue, new_queue
from tests.runtime.services import wait_for
from tests.runtime.workers import double, worker

pytestmark = pytest.mark.usefixtures("emulator")


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
