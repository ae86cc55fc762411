"""A queue in a file of SQLite: for a laptop, in the place of Pub/Sub."""

import json
import sqlite3
import threading
import time
import uuid
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spotproof_gke.queues import DEAD_LETTERS_SUFFIX

ACK_DEADLINE_SECONDS = 10
"""How long a message that was pulled is kept from others, until its worker extends that."""

_POLL_SECONDS = 0.05
_BUSY_SECONDS = 30.0
_NAME = "laptop"

_TABLE = """
CREATE TABLE IF NOT EXISTS messages (
    id INTEGER PRIMARY KEY, topic TEXT NOT NULL, data BLOB NOT NULL, attributes TEXT NOT NULL,
    free_at REAL NOT NULL DEFAULT 0, ack_id TEXT, attempts INTEGER NOT NULL DEFAULT 0
)
"""


@dataclass(frozen=True)
class LocalMessage:
    """A message as it was published."""

    data: bytes
    attributes: dict[str, str]
    message_id: str


@dataclass(frozen=True)
class LocalDelivery:
    """A message as it is given out: again each time its lease ends without an acknowledgement."""

    ack_id: str
    message: LocalMessage
    delivery_attempt: int


@dataclass(frozen=True)
class LocalAnswer:
    """What a pull gives."""

    received_messages: list[LocalDelivery]


class LocalQueue:
    """A queue for several processes of one machine, with the calls of Pub/Sub's clients.

    It stands for the two clients that `QueueWorker` and `publish` take, and leases as Pub/Sub does:
    what a killed worker had is free again when its lease ends.

    ```python
    queue = LocalQueue("work.sqlite")
    publish(items, queue.topic, client=queue)
    worker = QueueWorker(queue.subscription, subscriber=queue, publisher=queue, ...)
    ```

    Attributes:
        topic: what to publish to.
        subscription: what to pull from.

    Args:
        path: the file, made when it is not there; on a local disk.

    Raises:
        ValueError: the file's directory is not there.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        if not self._path.parent.is_dir():
            raise ValueError(f"{self._path}: there is no directory {self._path.parent}")
        self.topic = f"projects/{_NAME}/topics/{_NAME}"
        self.subscription = f"projects/{_NAME}/subscriptions/{_NAME}"
        self.transport = _Transport(_Pull(self))
        with closing(self._connected()) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute(_TABLE)

    def left(self) -> int:
        """How many messages are not acknowledged, those in the hands of workers included."""
        return self._count(self.topic)

    def dead_letters(self) -> int:
        """How many messages were set aside as poison."""
        return self._count(self.topic + DEAD_LETTERS_SUFFIX)

    def publish(self, topic: str, data: bytes, **attributes: str) -> "LocalDone":
        """Takes a message; it is in the file when this returns."""
        insert = "INSERT INTO messages (topic, data, attributes) VALUES (?, ?, ?)"
        with self._opened() as database:
            row = database.execute(insert, (topic, data, json.dumps(attributes)))
            return LocalDone(str(row.lastrowid))

    def take(self, most: int) -> list[LocalDelivery]:
        """Leases up to `most` free messages, the oldest first; does not wait."""
        with self._opened() as database:
            now = time.time()
            free = database.execute(
                "SELECT id, data, attributes, attempts FROM messages "
                "WHERE topic = ? AND free_at <= ? ORDER BY id LIMIT ?",
                (self.topic, now, most),
            ).fetchall()
            given: list[LocalDelivery] = []
            for number, data, attributes, attempts in free:
                ack_id = uuid.uuid4().hex
                database.execute(
                    "UPDATE messages SET free_at = ?, ack_id = ?, attempts = ? WHERE id = ?",
                    (now + ACK_DEADLINE_SECONDS, ack_id, attempts + 1, number),
                )
                message = LocalMessage(data, json.loads(attributes), str(number))
                given.append(LocalDelivery(ack_id, message, attempts + 1))
            return given

    def acknowledge(self, *, subscription: str, ack_ids: Sequence[str], **_: Any) -> None:
        """Ends messages for good. A delivery whose message was given out again ends nothing."""
        with self._opened() as database:
            database.executemany(
                "DELETE FROM messages WHERE ack_id = ?", [(each,) for each in ack_ids]
            )

    def modify_ack_deadline(
        self, *, subscription: str, ack_ids: Sequence[str], ack_deadline_seconds: int, **_: Any
    ) -> None:
        """Leases messages for that many seconds from now; 0 gives them back."""
        free_at = time.time() + ack_deadline_seconds
        with self._opened() as database:
            database.executemany(
                "UPDATE messages SET free_at = ? WHERE ack_id = ?",
                [(free_at, each) for each in ack_ids],
            )

    def close(self) -> None:
        """Nothing stays open between calls."""

    def _count(self, topic: str) -> int:
        query = "SELECT count(*) FROM messages WHERE topic = ?"
        with self._opened() as database:
            return database.execute(query, (topic,)).fetchone()[0]

    def _connected(self) -> sqlite3.Connection:
        """One connection a call: threads and forked processes may all call."""
        return sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)

    @contextmanager
    def _opened(self) -> Generator[sqlite3.Connection, None, None]:
        """A transaction, undone when the block raises."""
        with closing(self._connected()) as database:
            database.execute("BEGIN IMMEDIATE")
            yield database
            database.execute("COMMIT")


@dataclass(frozen=True)
class LocalDone:
    """Stands for the future of a publish, which is done already."""

    message_id: str

    def result(self, timeout: float | None = None) -> str:
        """The id of the message."""
        return self.message_id


class LocalPull:
    """Stands for the future of a pull: waits in `result`, not before."""

    def __init__(self, queue: LocalQueue, most: int, seconds: float) -> None:
        self._queue = queue
        self._most = most
        self._ends = time.monotonic() + seconds
        self._cancelled = threading.Event()

    def result(self) -> LocalAnswer:
        """What is free, as soon as something is; nothing when the time is over."""
        while True:
            given = [] if self._cancelled.is_set() else self._queue.take(self._most)
            if given or time.monotonic() > self._ends or self._cancelled.wait(_POLL_SECONDS):
                return LocalAnswer(given)

    def cancel(self) -> None:
        """Ends the wait."""
        self._cancelled.set()


@dataclass(frozen=True)
class _Pull:
    queue: LocalQueue

    def future(self, request: Any, *, timeout: float, metadata: Any = None) -> LocalPull:
        return LocalPull(self.queue, request.max_messages, timeout)


@dataclass(frozen=True)
class _Transport:
    pull: _Pull
