"""Workers are killed, messages come five times, the sink goes away: each result is there once.

The full form is 2,000 messages, with SPOTPROOF_CHAOS=full in the environment.
"""

import itertools
import multiprocessing
import os
import random
import signal
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from spotproof_runtime import Item, PostgresSink
from tests.runtime.queue_process import work
from tests.runtime.queues import Queue, new_queue
from tests.runtime.services import Postgres, wait_for

FULL = os.environ.get("SPOTPROOF_CHAOS") == "full"
MESSAGES = 2_000 if FULL else 250
WORKERS = 8 if FULL else 5
COPIES = 5
WORK_SECONDS = 0.05
SINK_AWAY_SECONDS = 5.0 if FULL else 3.0
MOST_SECONDS = 600.0 if FULL else 100.0


@dataclass
class Fleet:
    """Worker processes, replaced when they are killed."""

    queue: Queue
    table: str
    url: str
    log: Path
    work_seconds: float = WORK_SECONDS
    alive: list[Any] = field(default_factory=list)
    killed: set[int] = field(default_factory=set)
    terminated: list[Any] = field(default_factory=list)

    def start(self) -> Any:
        """A new worker, forked from a server that has the libraries loaded."""
        environment = {
            "SPOTPROOF_DATABASE_URL": self.url,
            "PUBSUB_EMULATOR_HOST": os.environ["PUBSUB_EMULATOR_HOST"],
        }
        arguments = (self.queue.subscription, self.table, str(self.log), self.work_seconds)
        process = _forks.Process(target=work, args=(environment, *arguments), daemon=True)
        process.start()
        self.alive.append(process)
        return process

    def kill(self, process: Any, number: int) -> None:
        self.alive.remove(process)
        self.killed.add(process.pid)
        os.kill(process.pid, number)
        if number == signal.SIGTERM:
            self.terminated.append(process)

    def lines(self) -> list[tuple[str, str, int, float]]:
        if not self.log.exists():
            return []
        parts = [line.split() for line in self.log.read_text().splitlines()]
        return [(what, key, int(pid), float(at)) for what, key, pid, at in parts]

    def ready(self) -> list[Any]:
        ready = {pid for what, _, pid, _ in self.lines() if what == "ready"}
        return [process for process in self.alive if process.pid in ready]

    def rows(self) -> int:
        with psycopg.connect(self.url) as connection:
            found = connection.execute(f"SELECT count(*) FROM {self.table}").fetchone()
        return found[0] if found else 0

    def close(self) -> None:
        for process in [*self.alive, *self.terminated]:
            process.kill()
            process.join()


_tables = itertools.count(1)
_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["tests.runtime.queue_process", "google.cloud.pubsub_v1", "psycopg"])


@pytest.fixture
def fleet(emulator: str, database: Postgres, tmp_path: Path) -> Iterator[Fleet]:
    table = f"chaos_{os.getpid()}_{next(_tables)}"
    sink = PostgresSink(table, url=database.url)
    sink.create_tables()
    sink.close()
    made = Fleet(new_queue(ack_deadline_seconds=10), table, database.url, tmp_path / "log")
    yield made
    made.close()


@dataclass
class Twice:
    """Work that was done more than once, by reason."""

    killed: int = 0
    outage: int = 0
    unexplained: list[str] = field(default_factory=list)


def work_done_twice(fleet: Fleet, outage: tuple[float, float]) -> Twice:
    """Each computation but the last of a key must have been lost by a kill before it was stored.

    A claim ends with its connection, so what was computed while the sink was away may be computed
    by another when it is back.
    """
    computed: dict[str, list[tuple[float, int]]] = defaultdict(list)
    stored: set[tuple[str, int]] = set()
    for what, key, pid, at in fleet.lines():
        if what == "computed":
            computed[key].append((at, pid))
        elif what == "stored":
            stored.add((key, pid))
    twice = Twice()
    for key, times in computed.items():
        for at, pid in sorted(times)[:-1]:
            if pid in fleet.killed and (key, pid) not in stored:
                twice.killed += 1
            elif outage[0] - 2 <= at <= outage[1] + 2:
                twice.outage += 1
            else:
                twice.unexplained.append(f"{key} by {pid} at {at}")
    return twice


def test_every_result_is_there_once_whatever_is_killed(fleet: Fleet, database: Postgres) -> None:
    randomness = random.Random(8)
    copies = [[Item(f"item-{n}", n)] for n in range(MESSAGES) for _ in range(COPIES)]
    randomness.shuffle(copies)
    fleet.queue.publish(*copies)
    began = time.monotonic()
    for _ in range(WORKERS):
        fleet.start()
    wait_for(lambda: len(fleet.ready()) == WORKERS, "all workers are ready")
    signals = itertools.cycle([signal.SIGKILL, signal.SIGTERM])
    outage = (float("inf"), float("inf"))
    while (rows := fleet.rows()) < MESSAGES:
        assert time.monotonic() - began < MOST_SECONDS, f"{rows} of {MESSAGES} after that long"
        if rows > MESSAGES // 3 and outage[0] == float("inf"):
            away = time.monotonic()
            database.stop()
            time.sleep(SINK_AWAY_SECONDS)
            database.start()
            outage = (away, time.monotonic())
        time.sleep(1)
        if ready := fleet.ready():
            fleet.kill(randomness.choice(ready), next(signals))
            fleet.start()
    seconds = time.monotonic() - began
    wait_for(lambda: len(fleet.ready()) == WORKERS, "the last replacement is ready")
    for process in list(fleet.alive):
        fleet.kill(process, signal.SIGTERM)
    for process in fleet.terminated:
        process.join(timeout=60)
    codes = [process.exitcode for process in fleet.terminated]
    twice = work_done_twice(fleet, outage)
    print(
        f"\n{MESSAGES} messages, {COPIES}-fold, {WORKERS} workers, {len(fleet.killed)} kills, sink "
        f"away for {outage[1] - outage[0]:.0f} s: {fleet.rows()} rows in {seconds:.0f} s; computed "
        f"twice: {twice.killed} killed before the store, {twice.outage} around the outage, "
        f"{len(twice.unexplained)} otherwise"
    )
    assert fleet.rows() == MESSAGES
    assert twice.unexplained == []
    assert codes == [0] * len(codes), "told to end, a worker leaves with 0"
    assert fleet.queue.pull(dead=True, seconds=1) == []


@pytest.mark.parametrize(
    ("number", "goal_seconds"), [(signal.SIGTERM, 2), (signal.SIGKILL, 60)], ids=["term", "kill"]
)
def test_a_message_is_anothers_soon_after_its_worker_is_gone(
    fleet: Fleet, number: int, goal_seconds: int
) -> None:
    """The subscription leases for ten minutes; the worker's steps, here of 10 s, count."""
    fleet.queue = new_queue(ack_deadline_seconds=600)
    fleet.work_seconds = 300
    fleet.queue.publish([Item("a", 1)])
    process = fleet.start()
    wait_for(lambda: any(what == "began" for what, *_ in fleet.lines()), "the work began")
    time.sleep(2)  # beyond the first step, which nobody but Pub/Sub sees
    fleet.kill(process, number)
    gone = time.monotonic()
    received = fleet.queue.pull(seconds=goal_seconds * 2)
    print(
        f"\n{signal.Signals(number).name}: another's after {time.monotonic() - gone:.1f} s "
        f"(goal: {goal_seconds} s)"
    )
    assert len(received) == 1
