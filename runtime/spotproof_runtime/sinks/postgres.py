"""Results in a table of PostgreSQL."""

import threading
from collections.abc import Collection, Sequence
from typing import Any

from spotproof_runtime.sinks.database import Database
from spotproof_runtime.sinks.protocol import Row, RowRefused
from spotproof_runtime.sinks.tables import as_json, checked_version, newest, table_name
from spotproof_runtime.sinks.waiting import wait_until_well
from spotproof_runtime.stop import Stop

MOST_ERROR_TEXT = 2_000
"""How much of an error's text is kept, in characters."""


class PostgresSink:
    """Upserts results by key, and counts errors and claims work beside them.

    The table has the columns `key`, `version`, `value` (jsonb) and `stored_at`; `create_tables`
    makes it and `TABLE_errors`. A row of an older version never replaces a newer one, and within a
    version the first one stays.

    Args:
        table: `TABLE` or `SCHEMA.TABLE`.
        url: address of the database; `SPOTPROOF_DATABASE_URL` when omitted.
        version: of the code or model that computes; what is stored at a lower one is replaced.
        claims: whether workers claim keys with session-level advisory locks, so that two copies of
            a message are not computed at the same time. Must be False behind a pooler that pools
            by transaction.

    Raises:
        ValueError: the table or version cannot be used, or no address is known.
        ImportError: psycopg is not installed.
    """

    def __init__(
        self,
        table: str = "results",
        *,
        url: str | None = None,
        version: int = 0,
        claims: bool = True,
    ) -> None:
        self._name = table_name(table, with_schema=True)
        self._version = checked_version(version)
        self._database = Database(url)
        self._claims = claims
        self._claimed: set[str] = set()
        self._claimed_on = 0
        self._claiming = threading.Lock()  # claims are also released from the notice's thread

    def __repr__(self) -> str:
        return f"PostgresSink({'.'.join(self._name)!r}, version={self._version})"

    def create_tables(self, stop: Stop | None = None) -> None:
        """Creates the tables where they are not there yet; several workers may do so at once.

        Args:
            stop: with it, a database that is away is waited for until the program must end, as a
                worker does later on; a line on standard error says so. Without it, that is an
                error.

        Raises:
            DatabaseError: the database is away, or refuses for good.
        """
        if stop is None:
            self._create_tables()
        else:
            wait_until_well(self._create_tables, stop)

    def _create_tables(self) -> None:
        results = (
            f"CREATE TABLE IF NOT EXISTS {self._table()} (key text PRIMARY KEY, "
            "version bigint NOT NULL, value jsonb NOT NULL, "
            "stored_at timestamptz NOT NULL DEFAULT now())"
        )
        errors = (
            f"CREATE TABLE IF NOT EXISTS {self._table('_errors')} (key text PRIMARY KEY, "
            "errors integer NOT NULL, last_error text NOT NULL, "
            "at timestamptz NOT NULL DEFAULT now())"
        )

        def create(cursor: Any) -> None:
            with cursor.connection.transaction():
                cursor.execute(
                    "SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))", [self._lock()]
                )
                cursor.execute(results)
                cursor.execute(errors)

        self._database.run(create)

    def have(self, keys: Collection[str]) -> set[str]:
        """Those of the keys that are stored at this version or a newer one."""
        query = f"SELECT key FROM {self._table()} WHERE key = ANY(%s) AND version >= %s"

        def ask(cursor: Any) -> set[str]:
            cursor.execute(query, [list(keys), self._version])
            return {key for (key,) in cursor.fetchall()}

        return self._database.run(ask)

    def put(self, rows: Sequence[Row]) -> None:
        """Stores all rows or none, in one statement.

        Raises:
            RowRefused: a value cannot be stored in this table.
            DatabaseError: the database is not well.
        """
        given = newest(list(rows))
        values = [as_json(row) for row in given.values()]
        upsert = (
            f"INSERT INTO {self._table()} AS stored (key, version, value) "
            "SELECT key, %s, value::jsonb FROM unnest(%s::text[], %s::text[]) AS given (key, value)"
            " ORDER BY key ON CONFLICT (key) DO UPDATE SET version = excluded.version, "
            "value = excluded.value, stored_at = now() WHERE excluded.version > stored.version"
        )
        import psycopg

        try:
            self._execute(upsert, [self._version, list(given), values])
        except (psycopg.DataError, psycopg.IntegrityError) as error:
            raise RowRefused(
                f"PostgreSQL refuses the row: {error.diag.message_primary} ({error.sqlstate})"
            ) from None

    def count_error(self, key: str, error: str) -> int:
        """Notes one more error of the key; returns how many there are now."""
        count = (
            f"INSERT INTO {self._table('_errors')} AS known (key, errors, last_error) "
            "VALUES (%s, 1, %s) ON CONFLICT (key) DO UPDATE SET errors = known.errors + 1, "
            "last_error = excluded.last_error, at = now() RETURNING errors"
        )
        text = error.replace("\0", "\\0")[:MOST_ERROR_TEXT]

        def note(cursor: Any) -> int:
            cursor.execute(count, [key, text])
            return cursor.fetchone()[0]

        return self._database.run(note)

    def forget_errors(self, keys: Collection[str]) -> None:
        """The keys succeeded: their errors count no more."""
        self._execute(f"DELETE FROM {self._table('_errors')} WHERE key = ANY(%s)", [list(keys)])

    def claim(self, keys: Collection[str]) -> set[str]:
        """Claims what no other worker has claimed; all keys where `claims` is False."""
        if not self._claims:
            return set(keys)
        with self._claiming:
            return self._claim(set(keys))

    def release(self, keys: Collection[str]) -> None:
        """Gives claims back; a connection that was lost has given them back itself."""
        with self._claiming:
            held = sorted(self._claimed & set(keys))
            self._claimed -= set(held)
            if not held or self._claimed_on != self._database.connections:
                return
            try:
                self._execute(
                    "SELECT pg_advisory_unlock(hashtextextended(%s || key, 2)) "
                    "FROM unnest(%s::text[]) AS key",
                    [self._lock(), held],
                )
            except Exception:
                self._database.close()

    def close(self) -> None:
        """Closes the connection; the next use opens one."""
        self._claimed.clear()
        self._database.close()

    def _claim(self, keys: set[str]) -> set[str]:
        def lock(cursor: Any) -> set[str]:
            if self._claimed_on != self._database.connections:
                self._claimed.clear()
                self._claimed_on = self._database.connections
            wanted = sorted(keys - self._claimed)
            cursor.execute(
                "SELECT key, pg_try_advisory_lock(hashtextextended(%s || key, 2)) "
                "FROM unnest(%s::text[]) AS key",
                [self._lock(), wanted],
            )
            return {key for key, claimed in cursor.fetchall() if claimed}

        self._claimed |= self._database.run(lock)
        return self._claimed & keys

    def _execute(self, statement: str, values: list[Any]) -> None:
        def execute(cursor: Any) -> None:
            cursor.execute(statement, values)

        self._database.run(execute)

    def _table(self, suffix: str = "") -> str:
        *schema, table = self._name
        return ".".join(f'"{part}"' for part in [*schema, table + suffix])

    def _lock(self) -> str:
        return f"spotproof {'.'.join(self._name)} "
