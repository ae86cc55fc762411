"""The worker: asks the sink, computes what it has not, stores, and then acknowledges."""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict

from google.api_core.exceptions import GoogleAPICallError
from google.auth.exceptions import GoogleAuthError

from batch_inference.model import VERSION, embed
from batch_inference.settings import Settings, parse
from spotproof_gke.contract import EXIT_DONE, EXIT_ERROR
from spotproof_runtime import EventLog, Interruption, Item, PostgresSink, QueueWorker, Row
from spotproof_runtime.sinks import sink_for
from spotproof_runtime.sinks.database import DatabaseError

PLAIN_ERRORS = (
    *(ValueError, ImportError, OSError),
    *(DatabaseError, GoogleAPICallError, GoogleAuthError),
)
"""Errors whose text says all that there is to know."""


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


def run(arguments: Sequence[str], stop: Interruption, events: EventLog) -> int:
    """Works until told to end; returns the exit code."""
    settings = parse(arguments)
    compute = Embedder(settings.pause_seconds)
    try:
        if settings.laptop is not None:
            from batch_inference.laptop import Laptop

            Laptop(settings.laptop, settings.documents, settings.messages).run(
                compute, stop, events
            )
        else:
            _work(settings, compute, stop, events)
    except PLAIN_ERRORS as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_ERROR
    return EXIT_DONE


def _work(settings: Settings, compute: Embedder, stop: Interruption, events: EventLog) -> None:
    sink = sink_for(settings.sink, version=VERSION)
    worker = QueueWorker(
        sink=sink, compute=compute, stop=stop, messages_per_batch=settings.messages, events=events
    )
    if isinstance(sink, PostgresSink):
        sink.create_tables(stop)
    print(json.dumps(asdict(worker.run())), flush=True)
