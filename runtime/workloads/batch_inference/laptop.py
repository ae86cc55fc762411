"""The same work without a cloud: queue and results are files in a folder."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from batch_inference.documents import documents
from batch_inference.model import VERSION
from spotproof_runtime import EventLog, Interruption, Item, LocalQueue, QueueWorker, Row, SqliteSink
from spotproof_runtime.local_queue import ACK_DEADLINE_SECONDS
from spotproof_runtime.queue import publish

IDLE_SECONDS = 0.5


class Laptop:
    """A folder with `queue.sqlite` and `results.sqlite`; several workers may share it.

    Args:
        folder: made when it is not there.
        count: sample texts to work on.
        messages: of one batch.
    """

    def __init__(self, folder: Path, count: int, messages: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._queue = LocalQueue(folder / "queue.sqlite")
        self._sink = SqliteSink(folder / "results.sqlite", "embeddings", version=VERSION)
        self._count = count
        self._messages = messages

    def run(
        self,
        compute: Callable[[Sequence[Item]], list[Row]],
        stop: Interruption,
        events: EventLog,
    ) -> None:
        """Works on what is queued, then on the texts without a result, until nothing is left.

        What a killed worker had is free again when its lease ends: seconds later.
        """
        filled = False
        while not stop.requested:
            if not self._queue.left():
                if filled or not self._fill():
                    return
                filled = True
            worker = QueueWorker(
                self._queue.subscription,
                sink=self._sink,
                compute=compute,
                stop=stop,
                messages_per_batch=self._messages,
                lease_step_seconds=ACK_DEADLINE_SECONDS,
                leave_when_idle_seconds=IDLE_SECONDS,
                events=events,
                subscriber=self._queue,
                publisher=self._queue,
            )
            summary = worker.run()
            if summary.acked or summary.given_back:
                print(json.dumps(asdict(summary)), flush=True)

    def _fill(self) -> int:
        """Queues the sample texts that have no result; returns how many."""
        items = (Item(key, text) for key, text in documents(self._count))
        queue = self._queue
        return publish(items, queue.topic, client=queue, sink=self._sink).items
