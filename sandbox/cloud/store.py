"""What exists in the emulated cloud: `cloud.json` (type, id, properties) and a journal beside it.

A change is one appended line, so that a thousand resources do not write the whole file a thousand
times; the file itself is written anew when things have been quiet, and at the end. Several
processes may use a cloud at once: each change is made under a lock, after reading the others'.
"""

import fcntl
import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

QUIET_SECONDS = 0.5
Thing = dict[str, Any]
"""One resource: `type`, `id`, and `properties` as the server holds them."""


class BrokenStoreError(Exception):
    """The cloud's file cannot be read; the text says which and what to do."""


class Store:
    """The resources of one emulated cloud."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "cloud.json"
        self.journal = directory / "cloud.json.journal"
        self.log_path = directory / "cloud.log.jsonl"
        self._lock_path = directory / "cloud.lock"
        self._mutex = threading.RLock()
        self._depth = 0
        self._seen: tuple[int, int] = (0, 0)
        self._read = 0
        self._things: dict[str, dict[str, Thing]] = {}
        self._timer: threading.Timer | None = None
        self._last_change = 0.0

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the cloud: nobody else, thread or process, changes it meanwhile."""
        with self._mutex:
            if self._depth:
                yield
                return
            with self._lock_path.open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                self._catch_up()
                self._depth += 1
                try:
                    yield
                finally:
                    self._depth -= 1

    def get(self, token: str, identifier: str) -> Thing | None:
        """The resource of this type and id, or None."""
        return self._things.get(token, {}).get(identifier)

    def all(self, token: str) -> list[Thing]:
        """All resources of this type."""
        return list(self._things.get(token, {}).values())

    def everything(self) -> list[Thing]:
        """All resources, by type and id."""
        with self.locked():
            kinds = sorted(self._things.items())
            return [thing for _, things in kinds for _, thing in sorted(things.items())]

    def put(self, token: str, identifier: str, properties: dict[str, Any]) -> None:
        """Create the resource, or write its properties anew."""
        self._change({"type": token, "id": identifier, "properties": properties})

    def remove(self, token: str, identifier: str) -> None:
        """Delete the resource, if it exists."""
        self._change({"type": token, "id": identifier, "properties": None})

    def log(self, entry: dict[str, Any]) -> None:
        """Append one request to the log."""
        with self._mutex, self.log_path.open("a") as log:
            log.write(json.dumps(entry, default=str) + "\n")

    def flush(self) -> None:
        """Write `cloud.json` whole and forget the journal."""
        with self.locked():
            self._compact()

    def _change(self, thing: Thing) -> None:
        with self.locked():
            line = json.dumps(thing) + "\n"
            with self.journal.open("a") as journal:
                journal.write(line)
            self._read += len(line.encode())
            self._apply(json.loads(line))
            self._schedule()

    def _apply(self, thing: Thing) -> None:
        things = self._things.setdefault(thing["type"], {})
        if thing["properties"] is None:
            things.pop(thing["id"], None)
        else:
            things[thing["id"]] = thing

    def _catch_up(self) -> None:
        """Read what another process has changed."""
        stamp = self._stamp()
        if stamp != self._seen:
            self._things = {}
            self._read = 0
            self._seen = stamp
            if self.path.is_file():
                for token, things in self._content().items():
                    self._things[token] = {
                        identifier: {"type": token, "id": identifier, "properties": properties}
                        for identifier, properties in things.items()
                    }
        size = self.journal.stat().st_size if self.journal.exists() else 0
        if size > self._read:
            with self.journal.open("rb") as journal:
                journal.seek(self._read)
                for line in journal:
                    if not line.endswith(b"\n"):
                        break  # a writer was killed within the line: the change never happened
                    self._read += len(line)
                    self._apply(json.loads(line))
            if self._read < size:
                os.truncate(self.journal, self._read)

    def _content(self) -> dict[str, dict[str, Any]]:
        try:
            return json.loads(self.path.read_text())
        except ValueError as error:
            self._seen = (-1, -1)  # it is read again when it is mended
            raise BrokenStoreError(
                f"{self.path} is no JSON: {error}. Mend it, or delete it: the cloud is empty then, "
                "and `refresh` tells the stacks"
            ) from None

    def _stamp(self) -> tuple[int, int]:
        if not self.path.exists():
            return (0, 0)
        stat = self.path.stat()
        return (stat.st_ino, stat.st_mtime_ns)

    def _schedule(self) -> None:
        self._last_change = time.monotonic()
        if self._timer is None:
            self._arm(QUIET_SECONDS)

    def _arm(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._when_quiet)
        self._timer.daemon = True
        self._timer.start()

    def _when_quiet(self) -> None:
        with self._mutex:
            rest = self._last_change + QUIET_SECONDS - time.monotonic()
            if rest > 0:
                self._arm(rest)
                return
            self._timer = None
            # A sandbox that was removed meanwhile leaves nothing to write.
            with suppress(FileNotFoundError):
                self.flush()

    def _compact(self) -> None:
        if not self.journal.exists() and self.path.exists():
            return
        fresh = self.path.with_suffix(f".json.{os.getpid()}")
        content = {
            token: {identifier: thing["properties"] for identifier, thing in sorted(things.items())}
            for token, things in sorted(self._things.items())
            if things
        }
        fresh.write_text(json.dumps(content, indent=1) + "\n")
        # A crash between the two lines is harmless: the journal is applied to the new file again.
        fresh.replace(self.path)
        self.journal.unlink(missing_ok=True)
        self._seen, self._read = self._stamp(), 0
