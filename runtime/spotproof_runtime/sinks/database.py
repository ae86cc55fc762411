"""The connection of a PostgreSQL sink: opened late, opened again, silent about its address."""

import contextlib
import os
from collections.abc import Callable
from typing import Any, TypeVar

from spotproof_gke.contract import DATABASE_URL_VARIABLE
from spotproof_runtime.settings import SettingsError

Result = TypeVar("Result")

CONNECT_SECONDS = 10
"""How long a connection may take to open."""

SILENCE_MS = 20_000
"""How long a peer may be silent before its connection counts as lost: a node of the database's
that vanished sends no goodbye."""

_NO_SUCH_TABLE = "42P01"

_PASSING_CLASSES = {"08", "40", "53", "55", "57", "58"}
"""Classes of SQLSTATE that pass: connection, rollback, resources, state of an object, operator,
system (postgresql.org/docs/15/errcodes-appendix.html, read on 2026-11-30)."""


class DatabaseError(Exception):
    """The database is not well. Its text never holds the address.

    Attributes:
        state: the SQLSTATE that it gave, None where it gave none, for example when it is away.
    """

    def __init__(self, text: str, state: str | None = None) -> None:
        super().__init__(text)
        self.state = state

    @property
    def may_pass(self) -> bool:
        """Whether it may be well later: it is away, starting, full or short of something."""
        return self.state is None or self.state[:2] in _PASSING_CLASSES


class Database:
    """One connection to PostgreSQL, opened at first use and again after it was lost.

    Args:
        url: a libpq URL or `key=value` string; `SPOTPROOF_DATABASE_URL` when omitted.

    Raises:
        SettingsError: neither is there, or it is no UTF-8.
        ImportError: psycopg is not installed.
    """

    def __init__(self, url: str | None = None) -> None:
        try:
            import psycopg
        except ImportError:
            raise ImportError(
                "PostgresSink needs psycopg: pip install 'spotproof-runtime[postgres]'"
            ) from None
        self._psycopg = psycopg
        self._url = url or os.environ.get(DATABASE_URL_VARIABLE, "")
        if not self._url:
            raise SettingsError(
                f"no address of the database: set {DATABASE_URL_VARIABLE} (from a Secret) or pass "
                "url=, for example postgresql://USER@HOST/DATABASE"
            )
        try:
            self._url.encode()
        except UnicodeEncodeError:
            raise SettingsError(
                f"the address of the database is no UTF-8: correct {DATABASE_URL_VARIABLE} (in its "
                "Secret); its value is not shown"
            ) from None
        self._connection: Any = None
        self.connections = 0
        """How many connections were opened; what one held is gone when it rises."""

    def __repr__(self) -> str:
        return "Database(<address not shown>)"

    def run(self, work: Callable[[Any], Result]) -> Result:
        """Runs `work(cursor)`; each statement is a transaction of its own.

        A lost connection is opened again, once: the work runs again, so it must leave the same
        twice. An open connection learns only by its use that the server was restarted.

        Raises:
            DatabaseError: the database cannot be reached or refuses.
            psycopg.DataError: it cannot take a value.
        """
        reused = self._connection is not None
        try:
            return self._once(work)
        except DatabaseError:
            if not reused or self._connection is not None:
                raise
        return self._once(work)

    def close(self) -> None:
        """Closes the connection; the next use opens one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.close()

    def _once(self, work: Callable[[Any], Result]) -> Result:
        connection = self._opened()
        try:
            with connection.cursor() as cursor:
                return work(cursor)
        except (self._psycopg.DataError, self._psycopg.errors.IntegrityError):
            raise
        except self._psycopg.Error as error:
            if connection.broken or connection.closed:
                self.close()
            raise DatabaseError(self._described(error), error.sqlstate) from None
        except BaseException:
            self.close()  # in the middle of a statement: what state it is in nobody knows
            raise

    def _opened(self) -> Any:
        if self._connection is None:
            try:
                self._connection = self._psycopg.connect(
                    self._url,
                    autocommit=True,
                    prepare_threshold=None,  # poolers lose prepared statements
                    connect_timeout=CONNECT_SECONDS,
                    tcp_user_timeout=SILENCE_MS,
                    keepalives_idle=CONNECT_SECONDS,
                    keepalives_interval=5,
                    keepalives_count=2,
                    application_name="spotproof-worker",
                )
            except self._psycopg.Error as error:
                raise DatabaseError(self._described(error), error.sqlstate) from None
            self.connections += 1
            self._notice_vanished_client(self._connection)
        return self._connection

    def _notice_vanished_client(self, connection: Any) -> None:
        """Lets the server drop this session, and its claims, soon after the node is gone."""
        with contextlib.suppress(self._psycopg.Error):
            connection.execute(
                f"SET tcp_keepalives_idle = {CONNECT_SECONDS}; SET tcp_keepalives_interval = 5; "
                f"SET tcp_keepalives_count = 2; SET tcp_user_timeout = {SILENCE_MS}"
            )

    def _described(self, error: Exception) -> str:
        """What happened, by code: the text of the driver may repeat parts of the address."""
        state: str | None = getattr(error, "sqlstate", None)
        diagnosis: Any = getattr(error, "diag", None)
        message = getattr(diagnosis, "message_primary", None) if state else None
        kind = type(error).__name__
        if message:
            hint = "; call PostgresSink.create_tables() once" if state == _NO_SUCH_TABLE else ""
            return f"PostgreSQL: {message} ({kind}, SQLSTATE {state}){hint}"
        reason = _reason(str(error))
        return f"PostgreSQL cannot be reached: {reason} ({kind}); address: see the Secret"


_REASONS = {
    "connection refused": "connection refused",
    "timeout expired": "no answer in time",
    "could not translate host name": "no such host",
    "name or service not known": "no such host",
    "password authentication failed": "password authentication failed",
    "no password supplied": "no password supplied",
    "no pg_hba.conf entry": "the server takes no such connection",
    "starting up": "the server is starting up",
    "shutting down": "the server is shutting down",
    "server closed the connection": "the server closed the connection",
    "connection reset": "the server closed the connection",
    "too many": "the server has too many connections",
    "certificate": "the certificates do not fit",
    "ssl": "no agreement on TLS",
    "no such file": "no such socket or file",
    "does not exist": "no such database or role",
    "invalid": "the address cannot be read",
    "missing": "the address cannot be read",
}
"""What a driver's message contains, and what is said in its place, in the order of precedence: the
message itself may hold parts of the address."""


def _reason(text: str) -> str:
    lower = text.lower()
    for part, reason in _REASONS.items():
        if part in lower:
            return reason
    return "connection failed or lost"
