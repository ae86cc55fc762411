"""Errors are counted by item, and what fails again and again is set aside with its error."""

import json
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from spotproof_runtime import (
    Item,
    Row,
    SqliteSink,
)
from tests.runtime.queues import FakeStop, Queue
from tests.runtime.workers import Failing, double, worker

pytestmark = pytest.mark.usefixtures("emulator")


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


def test_a_sink_that_cannot_count_leaves_it_to_the_worker(queue: Queue) -> None:
    def compute(items: Sequence[Item]) -> list[Row]:
        raise ValueError("always")

    queue.publish([Item("a", 1)])
    did = worker(queue, Failing(), compute=compute, most_errors=3).run()
    assert (did.failed, did.dead_lettered) == (3, 1)
