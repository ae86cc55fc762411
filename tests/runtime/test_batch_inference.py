"""The reference worker, as the process that its image starts, ended by real signals."""

import json
import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from spotproof_gke.contract import EXIT_DONE, EXIT_ERROR
from spotproof_runtime import Item
from spotproof_runtime.local_queue import ACK_DEADLINE_SECONDS, LocalQueue
from tests.runtime.containers import copy_into, read_image, start
from tests.runtime.lives import Life
from tests.runtime.queues import new_queue
from tests.runtime.services import Postgres

Work = Callable[..., Life]


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    """Starts a worker, in an image of its own."""
    image = read_image("batch_inference")
    copy_into(image, tmp_path / "image")
    lives: list[Life] = []

    def begin(*arguments: str, env: dict[str, str] | None = None) -> Life:
        errors = tmp_path / f"{len(lives)}.jsonl"
        process = start(image, tmp_path / "image", arguments=arguments, env=env, errors=errors)
        lives.append(Life(process, errors))
        return lives[-1]

    yield begin
    for life in lives:
        life.kill()


def _rows(folder: Path) -> dict[str, list[float]]:
    with closing(sqlite3.connect(folder / "results.sqlite")) as results:
        found = results.execute("SELECT key, value FROM embeddings").fetchall()
    return {key: json.loads(value)["vector"] for key, value in found}


def test_on_a_laptop_one_command_does_all_of_it_and_nothing_twice(
    work: Work, tmp_path: Path
) -> None:
    laptop = ("--laptop", str(tmp_path / "laptop"), "--documents", "30")
    first = work(*laptop)
    assert json.loads(first.ends(EXIT_DONE))["stored"] == 30
    rows = _rows(tmp_path / "laptop")
    assert sorted(rows) == [f"document-{number:06}" for number in range(30)]
    assert {len(vector) for vector in rows.values()} == {64}
    again = work(*laptop)
    assert again.ends(EXIT_DONE) == ""
    assert not again.events("message_started")


def test_on_a_laptop_each_document_has_its_row_after_sigterm_and_sigkill(
    work: Work, tmp_path: Path
) -> None:
    laptop = ("--laptop", str(tmp_path / "laptop"), "--documents", "40", "--pause-seconds", "0.02")
    told = work(*laptop)
    told.wait_for("message_acked", count=5)
    told.signal(signal.SIGTERM)
    told.ends(EXIT_DONE)
    killed = work(*laptop)
    killed.wait_for("message_acked", count=5)
    killed.signal(signal.SIGKILL)
    killed.ends(-signal.SIGKILL)
    assert len(_rows(tmp_path / "laptop")) < 40
    began = time.monotonic()
    work(*laptop).ends(EXIT_DONE)
    assert len(_rows(tmp_path / "laptop")) == 40
    assert time.monotonic() - began < 4 * ACK_DEADLINE_SECONDS


def test_sigterm_while_it_loads_its_libraries_gives_back_and_is_a_good_end(
    work: Work, tmp_path: Path
) -> None:
    life = work("--laptop", str(tmp_path / "laptop"), env={"PYTHONVERBOSE": "1"})
    life.wait_for_text("spotproof_runtime/signal_watch")
    life.wait_for_text("numpy/__init__")
    life.signal(signal.SIGTERM)
    life.ends(EXIT_DONE)
    assert not life.events("message_started")


def test_with_a_queue_and_a_database_sigterm_gives_back_and_a_second_worker_ends_the_rest(
    work: Work,
    emulator: str,
    database: Postgres,
    record_property: Callable[[str, object], None],
) -> None:
    queue = new_queue()
    keys = [f"text-{number}" for number in range(30)]
    queue.publish(*([Item(key, f"words of {key}")] for key in keys))
    table = f"results_{os.getpid()}"
    env = {
        "PUBSUB_EMULATOR_HOST": emulator,
        "SPOTPROOF_SUBSCRIPTION": queue.subscription,
        "SPOTPROOF_DATABASE_URL": database.url,
    }
    arguments = ("--sink", f"postgres:{table}", "--messages", "2", "--pause-seconds", "0.02")
    first = work(*arguments, env=env)
    first.wait_for("message_acked", count=3)
    first.signal(signal.SIGTERM)
    done = json.loads(first.ends(EXIT_DONE))
    record_property("figure", f"worker, SIGTERM to exit: {first.seconds_to_end:.2f} s")
    assert done["stored"] < len(keys)
    second = work(*arguments, env=env)
    _wait_for_rows(database.url, table, len(keys), second)
    second.signal(signal.SIGTERM)
    again = json.loads(second.ends(EXIT_DONE))
    assert done["stored"] + again["stored"] == len(keys)
    assert "hunter2" not in first.text() + second.text()
    assert not queue.pull(seconds=1)


def _wait_for_rows(url: str, table: str, count: int, life: Life) -> None:
    def seen() -> bool:
        with psycopg.connect(url) as connection:
            found: Any = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        return found[0] == count

    life.wait_until(seen, f"{count} rows")


def test_a_text_that_is_none_is_set_aside_and_the_others_are_not(
    work: Work, tmp_path: Path
) -> None:
    folder = tmp_path / "laptop"
    folder.mkdir()
    queue = LocalQueue(folder / "queue.sqlite")
    from spotproof_runtime.queue import publish

    publish([Item("good", "a text"), Item("bad", {"no": "text"})], queue.topic, client=queue)
    life = work("--laptop", str(folder), "--documents", "1")
    life.ends(EXIT_DONE)
    assert {"good"} == set(_rows(folder)) - {"document-000000"}
    assert queue.dead_letters() == 1
    assert queue.left() == 0


@pytest.mark.parametrize(
    ("arguments", "env", "said"),
    [
        ((), {"SPOTPROOF_DATABASE_URL": "postgresql://h/d"}, "SPOTPROOF_SUBSCRIPTION"),
        ((), {"SPOTPROOF_SUBSCRIPTION": "projects/p/subscriptions/s"}, "SPOTPROOF_DATABASE_URL"),
        (("--sink", "mysql:x"), {}, "mysql"),
        (("--laptop", "laptop", "--messages", "11"), {}, "messages_per_batch=11"),
        (("--laptop", __file__), {}, __file__),
    ],
    ids=["no subscription", "no database", "unknown sink", "too many", "no folder"],
)
def test_a_mistake_is_one_message_and_an_error_not_a_traceback(
    work: Work, arguments: tuple[str, ...], env: dict[str, str], said: str
) -> None:
    life = work(*arguments, env={"PUBSUB_EMULATOR_HOST": "127.0.0.1:9", **env})
    life.ends(EXIT_ERROR)
    assert said in life.text()
    assert "Traceback" not in life.text()


@pytest.mark.parametrize(
    ("argument", "value"),
    [("--documents", "-5"), ("--pause-seconds", "-1"), ("--pause-seconds", "soon")],
)
def test_a_number_that_cannot_be_is_refused_by_name(work: Work, argument: str, value: str) -> None:
    life = work("--laptop", "laptop", argument, value)
    life.ends(2)
    assert f"{argument}: {value}: " in life.text()
