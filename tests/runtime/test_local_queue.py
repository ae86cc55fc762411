"""The queue of a laptop leases as Pub/Sub does: nothing is lost, whoever is killed."""

import multiprocessing
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from spotproof_runtime import Item, LocalQueue
from spotproof_runtime.queue import publish
from spotproof_runtime.queue.subscription import Subscription


def _filled(tmp_path: Path, count: int) -> LocalQueue:
    queue = LocalQueue(tmp_path / "queue.sqlite")
    publish([Item(f"key-{number}", number) for number in range(count)], queue.topic, client=queue)
    return queue


def test_a_message_is_one_workers_until_its_lease_ends_and_then_anothers(tmp_path: Path) -> None:
    queue = _filled(tmp_path, 1)
    (first,) = queue.take(10)
    assert queue.take(10) == []
    queue.modify_ack_deadline(
        subscription=queue.subscription, ack_ids=[first.ack_id], ack_deadline_seconds=0
    )
    (second,) = queue.take(10)
    assert (first.delivery_attempt, second.delivery_attempt) == (1, 2)
    queue.acknowledge(subscription=queue.subscription, ack_ids=[first.ack_id])
    assert queue.left() == 1, "an acknowledgement that comes too late ends nothing"
    queue.acknowledge(subscription=queue.subscription, ack_ids=[second.ack_id])
    assert queue.left() == 0


def test_a_worker_sees_it_as_pubsub(tmp_path: Path) -> None:
    queue = _filled(tmp_path, 3)
    subscription = Subscription(queue.subscription, client=queue)
    received = subscription.pull(2, seconds=5)
    assert len(received) == 2
    assert received[0].attributes == {"spotproof-format": "1"}
    assert not subscription.give_back([received[0].ack_id])
    assert not subscription.acknowledge([received[1].ack_id])
    assert len(subscription.pull(10, seconds=5)) == 2
    began = time.monotonic()
    assert subscription.pull(10, seconds=0.2) == []
    assert time.monotonic() - began >= 0.2


def test_a_cancelled_pull_ends_at_once(tmp_path: Path) -> None:
    queue = LocalQueue(tmp_path / "queue.sqlite")
    pull = queue.transport.pull.future(SimpleNamespace(max_messages=1), timeout=600)
    pull.cancel()
    assert pull.result().received_messages == []


def _take_all(path: Path, taken: "multiprocessing.Queue[str]") -> None:
    queue = LocalQueue(path)
    while given := queue.take(3):
        for each in given:
            taken.put(each.message.message_id)
        queue.acknowledge(subscription=queue.subscription, ack_ids=[each.ack_id for each in given])


def test_several_processes_share_a_queue_and_none_gets_what_another_has(tmp_path: Path) -> None:
    queue = _filled(tmp_path, 60)
    spawn = multiprocessing.get_context("spawn")
    taken = spawn.Queue()
    workers = [
        spawn.Process(target=_take_all, args=(tmp_path / "queue.sqlite", taken)) for _ in range(3)
    ]
    for worker in workers:
        worker.start()
    found = [taken.get(timeout=60) for _ in range(60)]
    for worker in workers:
        worker.join(timeout=60)
    assert len(set(found)) == 60
    assert queue.left() == 0


def test_a_queue_in_no_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no directory"):
        LocalQueue(tmp_path / "missing" / "queue.sqlite")
