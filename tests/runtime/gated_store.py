"""A directory of checkpoints whose commits a test holds back."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from spotproof_runtime.checkpoints import checkpoints as facade
from spotproof_runtime.checkpoints.directory_store import DirectoryStore
from spotproof_runtime.checkpoints.errors import SaveFailedError


class Gate(DirectoryStore):
    """A directory that does not commit until it may."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.open = threading.Event()
        self.open.set()
        self.broken = False
        self.waiting = False
        self.slow_seconds = 0.0

    def list(self, prefix: str) -> Any:
        time.sleep(self.slow_seconds)
        return super().list(prefix)

    def put(self, name: str, source: Path | bytes, crc32c: str) -> Any:
        if name.startswith("commits/"):
            self.waiting = not self.open.is_set()
            assert self.open.wait(30)
            if self.broken:
                raise SaveFailedError(0, "broken")
        return super().put(name, source, crc32c)


def gated(root: Path, monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Has all checkpoints of a test go through a gate."""
    store = Gate(root)
    monkeypatch.setattr(facade, "open_store", lambda location, stop: store)
    return store
