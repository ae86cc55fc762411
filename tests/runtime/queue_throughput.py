"""How fast a queue worker is beside a bare streaming pull: JSON, messages a second of several runs.

Both do the same work on the same services: compute for a while, store the row in PostgreSQL, then
acknowledge, one message at a time. It runs in the library's own virtualenv, from the root of the
project: `runtime/.venv/bin/python -m tests.runtime.queue_throughput RUNS [WORK_SECONDS]`.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from google.cloud import pubsub_v1
from google.cloud.pubsub_v1.subscriber.scheduler import ThreadScheduler

from spotproof_runtime import EventLog, Item, PostgresSink, QueueWorker, Row
from spotproof_runtime.queue.messages import decode
from tests.runtime.queues import FakeStop, Queue, new_queue
from tests.runtime.services import postgres, pubsub_emulator

MESSAGES = 150
ITEMS_PER_MESSAGE = 10
WORK_SECONDS = 0.1


class Load:
    """Counts what is done and notes when it is enough."""

    def __init__(self, sink: PostgresSink, work_seconds: float, stop: FakeStop) -> None:
        self._sink = sink
        self._work_seconds = work_seconds
        self._stop = stop
        self._left = MESSAGES
        self.done = threading.Event()

    def compute(self, items: Sequence[Item]) -> list[Row]:
        """The work of one message."""
        time.sleep(self._work_seconds)
        self._left -= 1
        if self._left == 0:
            self._stop.request()
            self.done.set()
        return [Row(item.key, item.value) for item in items]

    def streamed(self, message: Any) -> None:
        """The same, as the callback of a streaming pull."""
        self._sink.put(self.compute(decode(message.data)))
        message.ack()


def fill(queue: Queue, run: int) -> None:
    """New work: other keys in each run."""
    batches = [
        [Item(f"{run}-{message}-{item}", item) for item in range(ITEMS_PER_MESSAGE)]
        for message in range(MESSAGES)
    ]
    queue.publish(*batches)


def with_worker(queue: Queue, sink: PostgresSink, work_seconds: float) -> float:
    """Messages a second of a `QueueWorker`."""
    stop = FakeStop(budget_seconds=600)
    load = Load(sink, work_seconds, stop)
    with open(os.devnull, "w") as quiet:
        worker = QueueWorker(
            queue.subscription, sink=sink, compute=load.compute, stop=stop, events=EventLog(quiet)
        )
        began = time.perf_counter()
        worker.run()
    return MESSAGES / (time.perf_counter() - began)


def bare(queue: Queue, sink: PostgresSink, work_seconds: float) -> float:
    """Messages a second of a streaming pull with one callback at a time."""
    load = Load(sink, work_seconds, FakeStop())
    client = pubsub_v1.SubscriberClient()
    began = time.perf_counter()
    pull = client.subscribe(
        queue.subscription,
        load.streamed,
        flow_control=pubsub_v1.types.FlowControl(max_messages=1),
        scheduler=ThreadScheduler(ThreadPoolExecutor(max_workers=1)),
        await_callbacks_on_shutdown=True,
    )
    load.done.wait()
    pull.cancel()
    pull.result()
    seconds = time.perf_counter() - began
    client.close()
    return MESSAGES / seconds


def main() -> None:
    runs = int(sys.argv[1])
    work_seconds = float(sys.argv[2]) if len(sys.argv) > 2 else WORK_SECONDS
    found: dict[str, list[float]] = {"bare": [], "worker": []}
    with pubsub_emulator() as address, postgres() as server:
        os.environ["PUBSUB_EMULATOR_HOST"] = address
        sink = PostgresSink("results", url=server.url)
        sink.create_tables()
        for run in range(runs):
            for side, measure in (("bare", bare), ("worker", with_worker)):
                queue = new_queue()
                fill(queue, 2 * run + (side == "bare"))
                found[side].append(measure(queue, sink, work_seconds))
        sink.close()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
