"""Survive eviction: interruption, checkpoints and queue workers for GKE Spot and flex-start."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spotproof_runtime.events import EventLog
    from spotproof_runtime.every import Every
    from spotproof_runtime.history import History
    from spotproof_runtime.interval import SaveInterval
    from spotproof_runtime.metrics import Metrics
    from spotproof_runtime.stop import Interrupted, Stop

__all__ = ["EventLog", "Every", "History", "Interrupted", "Metrics", "SaveInterval", "Stop"]

# A program installs its signal handler first thing, so this package must load at once: what a
# name stands for is loaded when the name is first used.
_MODULES = {
    "EventLog": "events",
    "Every": "every",
    "History": "history",
    "Interrupted": "stop",
    "Metrics": "metrics",
    "SaveInterval": "interval",
    "Stop": "stop",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
