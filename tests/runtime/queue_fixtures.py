"""Fixtures of the queue: services that start when a test first asks for them, and fleets."""

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.runtime.services import Postgres, postgres, pubsub_emulator

if TYPE_CHECKING:
    from spotproof_runtime import SqliteSink
    from tests.runtime.fleet import Fleet
    from tests.runtime.queues import Queue

_tables = itertools.count(1)


@pytest.fixture(scope="session")
def emulator() -> Iterator[str]:
    """Address of Google's Pub/Sub emulator, which the clients find in the environment."""
    before = os.environ.get("PUBSUB_EMULATOR_HOST")
    with pubsub_emulator() as address:
        os.environ["PUBSUB_EMULATOR_HOST"] = address
        yield address
    if before is None:
        del os.environ["PUBSUB_EMULATOR_HOST"]
    else:
        os.environ["PUBSUB_EMULATOR_HOST"] = before


@pytest.fixture(scope="session")
def database() -> Iterator[Postgres]:
    """A PostgreSQL that a test may stop, if it starts it again."""
    with postgres() as server:
        yield server


@pytest.fixture
def queue(emulator: str) -> "Queue":
    """A queue of the test's own."""
    from tests.runtime.queues import new_queue

    return new_queue()


@pytest.fixture
def sink(tmp_path: Path) -> "Iterator[SqliteSink]":
    """A sink of the test's own."""
    from spotproof_runtime import SqliteSink

    made = SqliteSink(tmp_path / "results.sqlite")
    yield made
    made.close()


@pytest.fixture
def new_fleet(emulator: str, database: Postgres, tmp_path: Path) -> "Iterator[Callable[[], Fleet]]":
    """Makes fleets without workers yet, each on a queue and a table of its own."""
    from spotproof_runtime import PostgresSink  # only such a test needs the libraries
    from tests.runtime.fleet import Fleet
    from tests.runtime.queues import new_queue

    made: list[Fleet] = []

    def new() -> Fleet:
        table = f"fleet_{os.getpid()}_{next(_tables)}"
        sink = PostgresSink(table, url=database.url)
        sink.create_tables()
        sink.close()
        queue = new_queue(ack_deadline_seconds=10)
        made.append(Fleet(queue, table, database.url, tmp_path / table, work_seconds=0.05))
        return made[-1]

    yield new
    for each in made:
        each.close()


@pytest.fixture
def fleet(new_fleet: "Callable[[], Fleet]") -> "Fleet":
    """One such fleet."""
    return new_fleet()
