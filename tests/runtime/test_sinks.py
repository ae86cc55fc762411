"""Results are there once, whole, and no late writer of an older version changes them."""

import json
import multiprocessing
import sqlite3
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from spotproof_runtime.settings import SettingsError
from spotproof_runtime.sinks import PostgresSink, Row, RowRefused, SqliteSink, sink_for
from spotproof_runtime.sinks.database import DatabaseError
from tests.runtime.queues import FakeStop
from tests.runtime.services import Postgres, free_port, wait_for

KINDS = ["sqlite", "postgres"]


class Sinks:
    """Makes sinks of one kind that share one table."""

    def __init__(self, kind: str, folder: Path, request: pytest.FixtureRequest) -> None:
        self.kind = kind
        self._folder = folder
        self._made: list[Any] = []
        if kind == "postgres":
            self._server: Postgres = request.getfixturevalue("database")
            self._table = "t_" + folder.name.replace("-", "_").lower()[-40:]
            self(0).create_tables()

    def __call__(self, version: int = 0) -> Any:
        if self.kind == "sqlite":
            made: Any = SqliteSink(self._folder / "results.sqlite", version=version)
        else:
            made = PostgresSink(self._table, url=self._server.url, version=version)
        self._made.append(made)
        return made

    def values(self) -> dict[str, str]:
        if self.kind == "sqlite":
            with sqlite3.connect(self._folder / "results.sqlite") as connection:
                return dict(connection.execute("SELECT key, value FROM results").fetchall())
        with psycopg.connect(self._server.url) as connection:
            rows = connection.execute(f"SELECT key, value::text FROM {self._table}").fetchall()
            return dict(rows)

    def close(self) -> None:
        for made in self._made:
            made.close()


@pytest.fixture(params=KINDS)
def sinks(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sinks]:
    made = Sinks(request.param, tmp_path, request)
    yield made
    made.close()


def test_a_late_writer_of_an_older_version_changes_nothing(sinks: Sinks) -> None:
    old, new = sinks(1), sinks(2)
    old.put([Row("a", "old")])
    assert new.have(["a"]) == set(), "what is older is worked on again"
    new.put([Row("a", "new")])
    old.put([Row("a", "late")])
    assert sinks.values() == {"a": '"new"'}
    assert old.have(["a"]) == new.have(["a"]) == {"a"}


def test_within_a_version_the_first_result_stays(sinks: Sinks) -> None:
    sink = sinks()
    sink.put([Row("a", 1)])
    sink.put([Row("a", 2), Row("b", 2)])
    assert sinks.values() == {"a": "1", "b": "2"}


def test_all_rows_or_none(sinks: Sinks) -> None:
    sink = sinks()
    with pytest.raises(RowRefused, match="'bad'"):
        sink.put([Row("a", 1), Row("bad", float("nan"))])
    assert sink.have(["a", "bad"]) == set()


@pytest.mark.parametrize("value", [float("inf"), {1, 2}, "a\0b", {"a": ["\0"]}, b"bytes"])
def test_a_value_that_is_not_json_is_the_rows_fault(sinks: Sinks, value: Any) -> None:
    sink = sinks()
    with pytest.raises(RowRefused):
        sink.put([Row("a", value)])
    sink.put([Row("a", "good")])
    assert sink.have(["a"]) == {"a"}


@pytest.mark.parametrize("value", [None, "ä\\u0000", {"deep": [1, {"x": 1.5}]}, 10**30, "'; --"])
def test_a_value_comes_back_as_it_was(sinks: Sinks, value: Any) -> None:
    sinks().put([Row("a'\"|%s", value)])
    assert {key: json.loads(text) for key, text in sinks.values().items()} == {"a'\"|%s": value}


def test_errors_are_counted_by_key_and_forgotten(sinks: Sinks) -> None:
    first, second = sinks(), sinks()
    assert [
        first.count_error("a", "x"),
        second.count_error("a", "y\0"),
        second.count_error("b", "z"),
    ] == [1, 2, 1]
    second.forget_errors(["a"])
    assert first.count_error("a", "x") == 1
    assert first.count_error("b", "x") == 2


def test_many_writers_of_the_same_keys_do_not_block_each_other_for_ever(sinks: Sinks) -> None:
    rows = [Row(str(number), number) for number in range(40)]
    errors: list[Exception] = []

    def write(backwards: bool) -> None:
        sink = sinks()
        try:
            for start in range(0, 40, 10):
                part = rows[start : start + 10]
                sink.put(part[::-1] if backwards else part)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(bool(n % 2),)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert errors == []
    assert len(sinks.values()) == 40


def _write_from_process(path: Path, number: int, ready: Any, results: Any) -> None:
    try:
        sink = SqliteSink(path)
        ready.wait(timeout=30)
        for each in range(20):
            sink.put([Row(f"{each}", number), Row(f"{number}-{each}", number)])
            sink.count_error("shared", "x")
        results.put("")
    except Exception as error:
        results.put(repr(error))


def test_several_processes_share_a_file(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready, results = context.Barrier(4), context.Queue()
    path = tmp_path / "results.sqlite"
    processes = [
        context.Process(target=_write_from_process, args=(path, number, ready, results))
        for number in range(4)
    ]
    for process in processes:
        process.start()
    assert [results.get(timeout=60) for _ in processes] == [""] * 4
    for process in processes:
        process.join(timeout=30)
    sink = SqliteSink(path)
    assert len(sink.have([f"{each}" for each in range(20)])) == 20
    assert sink.count_error("shared", "x") == 81
    sink.close()


def test_workers_that_make_the_file_at_once_wait_for_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite refuses one of hundreds of them, without the wait that it was told."""
    refusals = [2]

    class Refused(sqlite3.Connection):
        def execute(self, statement: str, *given: Any) -> sqlite3.Cursor:
            if "journal_mode" in statement and refusals[0]:
                refusals[0] -= 1
                raise sqlite3.OperationalError("database is locked")
            return super().execute(statement, *given)

    monkeypatch.setattr("sqlite3.connect", partial(sqlite3.connect, factory=Refused))
    sink = SqliteSink(tmp_path / "results")
    sink.put([Row("a", 1)])
    assert sink.have(["a"]) == {"a"}
    sink.close()


def test_a_connection_is_opened_again_after_the_server_was_restarted(database: Postgres) -> None:
    sink = PostgresSink("again", url=database.url)
    sink.create_tables()
    sink.put([Row("a", 1)])
    database.stop()
    try:
        with pytest.raises(DatabaseError) as found:
            sink.have(["a"])
    finally:
        database.start()
    assert "hunter2" not in str(found.value)
    assert found.value.__cause__ is None
    assert sink.have(["a"]) == {"a"}
    sink.put([Row("b", 1)])
    database.stop()
    database.start()
    assert sink.have(["a", "b"]) == {"a", "b"}, "a stale connection is no error"
    sink.close()


def test_the_address_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"postgresql://joe:hunter2@127.0.0.1:{free_port()}/secretdb"
    monkeypatch.setenv("SPOTPROOF_DATABASE_URL", url)
    sink = PostgresSink("results")
    with pytest.raises(DatabaseError) as found:
        sink.have(["a"])
    assert "connection refused" in str(found.value)
    for secret in ("hunter2", "joe", "secretdb"):
        assert secret not in repr(sink) + str(found.value) + repr(vars(sink)["_database"])
    with pytest.raises(DatabaseError) as broken:
        PostgresSink("results", url="postgresql://joe:hunter2@[bad").have(["a"])
    assert "hunter2" not in str(broken.value)


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ("/postgres", "/secretdb", "no such database or role"),
        ("worker:", "joe:", "no such database or role"),
        ("127.0.0.1", "secret-host.invalid", "no such host"),
        ("postgresql://", "postgresql//", "the address cannot be read"),
        ("/postgres", "/postgres?sslmode=require", "no agreement on TLS"),
    ],
)
def test_what_is_wrong_with_an_address_is_said_without_the_address(
    database: Postgres, before: str, after: str, text: str
) -> None:
    url = database.url.replace(before, after)
    with pytest.raises(DatabaseError) as found:
        PostgresSink(url=url).have(["a"])
    assert text in str(found.value)
    for secret in ("hunter2", "joe", "secret-host", "secretdb"):
        assert secret not in str(found.value)


def test_without_an_address_the_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPOTPROOF_DATABASE_URL", raising=False)
    with pytest.raises(SettingsError, match="SPOTPROOF_DATABASE_URL"):
        PostgresSink()


def test_a_refusal_for_good_is_not_waited_for(database: Postgres) -> None:
    sink = PostgresSink("no_such_schema.captions", url=database.url)
    with pytest.raises(DatabaseError, match="schema"):
        sink.create_tables(FakeStop())


def test_waiting_for_a_database_ends_on_notice(caplog: pytest.LogCaptureFixture) -> None:
    stop = FakeStop()
    sink = PostgresSink("captions", url="postgresql://joe:pa55@127.0.0.1:1/db")
    threading.Timer(0.3, stop.request).start()
    sink.create_tables(stop)
    assert (
        "waiting for the database: PostgreSQL cannot be reached: connection refused" in caplog.text
    )
    assert "pa55" not in caplog.text


def test_a_missing_table_says_what_makes_it(database: Postgres) -> None:
    with pytest.raises(DatabaseError, match="create_tables"):
        PostgresSink("nowhere", url=database.url).have(["a"])


def test_a_claim_is_one_workers_until_its_connection_ends(database: Postgres) -> None:
    first, second = (PostgresSink("claims", url=database.url) for _ in range(2))
    assert first.claim(["a", "b"]) == {"a", "b"}
    assert first.claim(["a"]) == {"a"}, "claimed twice is claimed once"
    assert second.claim(["a", "c"]) == {"c"}
    first.release(["a"])
    assert second.claim(["a", "b"]) == {"a"}
    first.close()
    wait_for(lambda: second.claim(["b"]) == {"b"}, "the server has noticed", 10)
    second.close()


@pytest.mark.parametrize("table", ["", "a b", 'x"; DROP TABLE y', "a.b.c", "Upper", "1a", "a" * 51])
def test_a_table_name_that_needs_quotes_is_refused(table: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="lower-case"):
        PostgresSink(table, url="postgresql://h/d")
    with pytest.raises(ValueError, match="lower-case"):
        SqliteSink(tmp_path / "x", table)


@pytest.mark.parametrize("version", [-1, 2**63, 1.5, True, "1"])
def test_a_version_that_is_no_whole_number_is_refused(version: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="whole number"):
        SqliteSink(tmp_path / "x", version=version)


def test_a_sink_is_named_by_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPOTPROOF_DATABASE_URL", "postgresql://h/d")
    assert repr(sink_for("gs://bkt/out", version=3)) == "GcsSink('gs://bkt/out', version=3)"
    assert "results.db" in repr(sink_for(f"sqlite:{tmp_path}/results.db"))
    assert repr(sink_for("postgres:s.t")) == "PostgresSink('s.t', version=0)"
    for wrong in ("gs://bkt", "sqlite:", "mysql:x", "postgres://u:pa55@h/d"):
        with pytest.raises(ValueError, match="write") as found:
            sink_for(wrong)
        assert "pa55" not in str(found.value)
