"""Results in a file of SQLite: a laptop's sink, for several processes at once."""

import os
import sqlite3
import time
from collections.abc import Collection, Sequence
from contextlib import closing
from pathlib import Path

from spotproof_runtime.sinks.protocol import Row
from spotproof_runtime.sinks.tables import as_json, checked_version, newest, table_name

BUSY_SECONDS = 30.0
"""How long a writer waits for another."""


class SqliteSink:
    """Upserts results by key into a local file, as `PostgresSink` does into a database.

    The tables are created at first use. The file must be on a local disk: several processes may
    write at once, several machines may not.

    Args:
        path: the file; its directory must exist.
        table: 1 to 50 lower-case letters, digits and underscores.
        version: of the code or model that computes; what is stored at a lower one is replaced.

    Raises:
        ValueError: the table or version cannot be used, or the directory is not there.
    """

    def __init__(
        self, path: str | os.PathLike[str], table: str = "results", *, version: int = 0
    ) -> None:
        (self._table,) = table_name(table)
        self._version = checked_version(version)
        self._path = Path(path)
        if not self._path.parent.is_dir():
            raise ValueError(f"{self._path}: there is no directory {self._path.parent}")
        self._opened: tuple[int, sqlite3.Connection] | None = None

    def __repr__(self) -> str:
        return f"SqliteSink({str(self._path)!r}, {self._table!r}, version={self._version})"

    def have(self, keys: Collection[str]) -> set[str]:
        """Those of the keys that are stored at this version or a newer one."""
        query = f"SELECT 1 FROM {self._table} WHERE key = ? AND version >= ?"
        with closing(self._connection().cursor()) as cursor:
            return {key for key in keys if cursor.execute(query, (key, self._version)).fetchone()}

    def put(self, rows: Sequence[Row]) -> None:
        """Stores all rows or none.

        Raises:
            RowRefused: a value is not JSON.
            sqlite3.Error: the file is not well.
        """
        ordered = [(row.key, self._version, as_json(row)) for row in newest(list(rows)).values()]
        self._write(
            f"INSERT INTO {self._table} (key, version, value) VALUES (?, ?, ?) "
            "ON CONFLICT (key) DO UPDATE SET version = excluded.version, value = excluded.value, "
            "stored_at = CURRENT_TIMESTAMP "
            f"WHERE excluded.version > {self._table}.version",
            ordered,
        )

    def count_error(self, key: str, error: str) -> int:
        """Notes one more error of the key; returns how many there are now."""
        connection = self._connection()
        self._write(
            f"INSERT INTO {self._table}_errors (key, errors, last_error) VALUES (?, 1, ?) "
            "ON CONFLICT (key) DO UPDATE SET errors = errors + 1, last_error = excluded.last_error",
            [(key, error)],
        )
        query = f"SELECT errors FROM {self._table}_errors WHERE key = ?"
        found = connection.execute(query, (key,)).fetchone()
        return int(found[0]) if found else 1

    def forget_errors(self, keys: Collection[str]) -> None:
        """The keys succeeded: their errors count no more."""
        self._write(f"DELETE FROM {self._table}_errors WHERE key = ?", [(key,) for key in keys])

    def close(self) -> None:
        """Closes the file; the next use opens it."""
        opened, self._opened = self._opened, None
        if opened is not None and opened[0] == os.getpid():
            opened[1].close()

    def _write(self, statement: str, values: Sequence[tuple[object, ...]]) -> None:
        connection = self._connection()
        # Taken at once, since a reader that becomes a writer is refused without waiting.
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.executemany(statement, values)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _connection(self) -> sqlite3.Connection:
        """A connection of this very process: one that was forked with it would corrupt the file."""
        if self._opened is not None and self._opened[0] == os.getpid():
            return self._opened[1]
        connection = sqlite3.connect(
            self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            _switch_to_wal(connection)
            connection.execute("PRAGMA synchronous = FULL")
            self._create_tables(connection)
        except BaseException:
            connection.close()
            raise
        self._opened = (os.getpid(), connection)
        return connection

    def _create_tables(self, connection: sqlite3.Connection) -> None:
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS {self._table} (key TEXT PRIMARY KEY, "
            "version INTEGER NOT NULL, value TEXT NOT NULL, "
            "stored_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP)"
        )
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS {self._table}_errors (key TEXT PRIMARY KEY, "
            "errors INTEGER NOT NULL, last_error TEXT NOT NULL)"
        )


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """Has readers and writers not wait for each other.

    Of several that do so at once, SQLite refuses some without waiting, whatever the timeout.
    """
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
        time.sleep(0.05)
