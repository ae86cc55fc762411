"""Survive eviction: interruption, checkpoints and queue workers for GKE Spot and flex-start."""

from typing import TYPE_CHECKING

from spotproof_runtime.lazy import loaded_when_used

if TYPE_CHECKING:
    from spotproof_runtime.checkpoints.checkpoints import Checkpoints
    from spotproof_runtime.checkpoints.errors import CheckpointError
    from spotproof_runtime.children import shield_worker
    from spotproof_runtime.data_position import ResumableBatches
    from spotproof_runtime.events import EventLog
    from spotproof_runtime.every import Every
    from spotproof_runtime.history import History
    from spotproof_runtime.interruption import Interruption
    from spotproof_runtime.interval import SaveInterval
    from spotproof_runtime.local_queue import LocalQueue
    from spotproof_runtime.metrics import Metrics
    from spotproof_runtime.queue.messages import Item
    from spotproof_runtime.queue.worker import QueueWorker
    from spotproof_runtime.random_numbers import RandomNumbers
    from spotproof_runtime.settings import SettingsError
    from spotproof_runtime.sinks.gcs import GcsSink
    from spotproof_runtime.sinks.postgres import PostgresSink
    from spotproof_runtime.sinks.protocol import Row, Sink
    from spotproof_runtime.sinks.sqlite import SqliteSink
    from spotproof_runtime.stop import Hopeless, Interrupted, Stop

__all__ = [
    "CheckpointError",
    "Checkpoints",
    "EventLog",
    "Every",
    "GcsSink",
    "History",
    "Hopeless",
    "Interrupted",
    "Interruption",
    "Item",
    "LocalQueue",
    "Metrics",
    "PostgresSink",
    "QueueWorker",
    "RandomNumbers",
    "ResumableBatches",
    "Row",
    "SaveInterval",
    "SettingsError",
    "Sink",
    "SqliteSink",
    "Stop",
    "shield_worker",
]

# A program installs its signal handler first thing, so this package must load at once: what a
# name stands for is loaded when the name is first used.
_MODULES = {
    "CheckpointError": "checkpoints.errors",
    "Checkpoints": "checkpoints.checkpoints",
    "EventLog": "events",
    "Every": "every",
    "GcsSink": "sinks.gcs",
    "History": "history",
    "Hopeless": "stop",
    "Interrupted": "stop",
    "Interruption": "interruption",
    "Item": "queue.messages",
    "LocalQueue": "local_queue",
    "Metrics": "metrics",
    "PostgresSink": "sinks.postgres",
    "QueueWorker": "queue.worker",
    "RandomNumbers": "random_numbers",
    "ResumableBatches": "data_position",
    "Row": "sinks.protocol",
    "SaveInterval": "interval",
    "SettingsError": "settings",
    "Sink": "sinks.protocol",
    "SqliteSink": "sinks.sqlite",
    "Stop": "stop",
    "shield_worker": "children",
}

__getattr__ = loaded_when_used(__name__, _MODULES)
