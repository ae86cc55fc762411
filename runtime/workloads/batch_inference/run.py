"""The worker: asks the sink, computes what it has not, stores, and then acknowledges."""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from google.api_core.exceptions import GoogleAPICallError
from google.auth.exceptions import GoogleAuthError

from batch_inference.documents import documents
from batch_inference.model import VERSION, embed
from batch_inference.settings import Settings, parse
from spotproof_gke.contract import EXIT_DONE, EXIT_ERROR
from spotproof_runtime import Interruption, Item, PostgresSink, QueueWorker, Row, SqliteSink
from spotproof_runtime.local_queue import ACK_DEADLINE_SECONDS, LocalQueue
from spotproof_runtime.queue import publish
from spotproof_runtime.sinks import sink_for
from spotproof_runtime.sinks.database import DatabaseError

DATABASE_AGAIN_SECONDS = 2.0


class Embedder:
    """The work: a vector for each text.

    Args:
        pause_seconds: by which each text takes longer.
    """

    def __init__(self, pause_seconds: float) -> None:
        self._pause_seconds = pause_seconds

    def __call__(self, items: Sequence[Item]) -> list[Row]:
        return [Row(item.key, {"vector": self._vector(item)}) for item in items]

    def _vector(self, item: Item) -> list[float]:
        if not isinstance(item.value, str):
            raise ValueError(f"a text is wanted, {type(item.value).__name__} was sent")
        time.sleep(self._pause_seconds)
        return embed(item.value)


def run(arguments: Sequence[str], stop: Interruption) -> int:
    """Works until told to end; returns the exit code."""
    settings = parse(arguments)
    try:
        if settings.laptop is not None:
            _work_on_laptop(settings.laptop, settings, stop)
        else:
            _work(settings, stop)
    except (ValueError, ImportError, GoogleAPICallError, GoogleAuthError) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_ERROR
    return EXIT_DONE


def _work(settings: Settings, stop: Interruption) -> None:
    sink = sink_for(settings.sink, version=VERSION)
    worker = QueueWorker(
        sink=sink,
        compute=Embedder(settings.pause_seconds),
        stop=stop,
        messages_per_batch=settings.messages,
    )
    if isinstance(sink, PostgresSink):
        _create_tables(sink, stop)
    print(json.dumps(asdict(worker.run())), flush=True)


def _create_tables(sink: PostgresSink, stop: Interruption) -> None:
    """Waits for a database that is not there yet: a pod that starts first is no error."""
    while not stop.requested:
        try:
            sink.create_tables()
        except DatabaseError as error:
            print(f"waiting for the database: {error}", file=sys.stderr)
            stop.wait(DATABASE_AGAIN_SECONDS)
        else:
            return


def _work_on_laptop(folder: Path, settings: Settings, stop: Interruption) -> None:
    """Fills a queue of its own with the texts that have no result, and works until it is empty."""
    folder.mkdir(parents=True, exist_ok=True)
    queue = LocalQueue(folder / "queue.sqlite")
    sink = SqliteSink(folder / "results.sqlite", "embeddings", version=VERSION)
    filled = False
    # What a killed worker had is free again when its lease ends: seconds later.
    while not stop.requested:
        if not queue.left():
            items = (Item(key, text) for key, text in documents(settings.documents))
            if filled or not publish(items, queue.topic, client=queue, sink=sink).items:
                break
            filled = True
        _work_until_idle(queue, sink, settings, stop)


def _work_until_idle(
    queue: LocalQueue, sink: SqliteSink, settings: Settings, stop: Interruption
) -> None:
    worker = QueueWorker(
        queue.subscription,
        sink=sink,
        compute=Embedder(settings.pause_seconds),
        stop=stop,
        messages_per_batch=settings.messages,
        lease_step_seconds=ACK_DEADLINE_SECONDS,
        leave_when_idle_seconds=0.5,
        subscriber=queue,
        publisher=queue,
    )
    summary = worker.run()
    if summary.acked or summary.given_back:
        print(json.dumps(asdict(summary)), flush=True)
