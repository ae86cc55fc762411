"""Survive eviction: interruption, checkpoints and queue workers for GKE Spot and flex-start."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spotproof_runtime.events import EventLog
    from spotproof_runtime.queue.messages import Item
    from spotproof_runtime.queue.worker import QueueWorker
    from spotproof_runtime.sinks.gcs import GcsSink
    from spotproof_runtime.sinks.postgres import PostgresSink
    from spotproof_runtime.sinks.protocol import Row, Sink
    from spotproof_runtime.sinks.sqlite import SqliteSink
    from spotproof_runtime.stop import Interrupted, Stop

__all__ = [
    "EventLog",
    "GcsSink",
    "Interrupted",
    "Item",
    "PostgresSink",
    "QueueWorker",
    "Row",
    "Sink",
    "SqliteSink",
    "Stop",
]

# A program installs its signal handler first thing, so this package must load at once: what a
# name stands for is loaded when the name is first used.
_MODULES = {
    "EventLog": "events",
    "GcsSink": "sinks.gcs",
    "Interrupted": "stop",
    "Item": "queue.messages",
    "PostgresSink": "sinks.postgres",
    "QueueWorker": "queue.worker",
    "Row": "sinks.protocol",
    "Sink": "sinks.protocol",
    "SqliteSink": "sinks.sqlite",
    "Stop": "stop",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
