"""The folder that keeps installed and built engines, and the lock that lets one process fill it."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox.paths import GENERATED, ROOT
from sandbox.progress import HEARTBEAT_SECONDS, elapsed, say


def folder() -> Path:
    """`SPOTPROOF_ENGINE_CACHE`, else `.spotproof/engine` in the project."""
    configured = os.environ.get("SPOTPROOF_ENGINE_CACHE")
    return ROOT / configured if configured else GENERATED / "engine"


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Holds a lock of the cache; a second process waits for the first, and says so."""
    folder().mkdir(parents=True, exist_ok=True)
    path = folder() / f"{name}.lock"
    with path.open("w") as lock:
        _acquire(lock.fileno(), path)
        yield


def _acquire(descriptor: int, path: Path) -> None:
    started = said = time.monotonic()
    waiting = False
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if not waiting or time.monotonic() - said >= HEARTBEAT_SECONDS:
                say(f"  … another process prepares the engine ({path}): {elapsed(started)}")
                waiting, said = True, time.monotonic()
            time.sleep(0.5)
