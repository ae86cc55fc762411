"""A sink that is away stops the pull, not the worker, and costs no item an error."""

import threading
from collections.abc import Collection, Sequence

import pytest

from spotproof_runtime import (
    Item,
    Row,
)
from tests.runtime.queues import FakeStop, Queue
from tests.runtime.workers import Failing, double, worker

pytestmark = pytest.mark.usefixtures("emulator")


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
