"""Work from a Pub/Sub queue, acknowledged only after its result is stored."""

from typing import TYPE_CHECKING

from spotproof_runtime.lazy import loaded_when_used

if TYPE_CHECKING:
    from spotproof_runtime.queue.batch import Batch
    from spotproof_runtime.queue.messages import Item, stable_key
    from spotproof_runtime.queue.publisher import Published, publish
    from spotproof_runtime.queue.summary import Summary
    from spotproof_runtime.queue.worker import QueueWorker

__all__ = ["Batch", "Item", "Published", "QueueWorker", "Summary", "publish", "stable_key"]

_MODULES = {
    "Batch": "batch",
    "Item": "messages",
    "Published": "publisher",
    "QueueWorker": "worker",
    "Summary": "summary",
    "publish": "publisher",
    "stable_key": "messages",
}

__getattr__ = loaded_when_used(__name__, _MODULES)
