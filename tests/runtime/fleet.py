"""Worker processes on one queue, that a test kills and replaces."""

import json
import multiprocessing
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from spotproof_gke.contract import TERMINATION_BUDGET_VARIABLE
from tests.runtime.queue_process import Assignment, KillAt, work
from tests.runtime.queues import Queue

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["tests.runtime.queue_process", "google.cloud.pubsub_v1", "psycopg"])


@dataclass
class Fleet:
    """Worker processes, replaced when they are killed."""

    queue: Queue
    table: str
    url: str
    log: Path
    work_seconds: float
    budget_seconds: int = 15
    alive: list[Any] = field(default_factory=list[Any])
    killed: set[int] = field(default_factory=set[int])
    terminated: list[Any] = field(default_factory=list[Any])

    def start(self, kill_at: KillAt = KillAt.NEVER) -> Any:
        """A new worker, forked from a server that has the libraries loaded."""
        environment = {
            "SPOTPROOF_DATABASE_URL": self.url,
            "PUBSUB_EMULATOR_HOST": os.environ["PUBSUB_EMULATOR_HOST"],
            TERMINATION_BUDGET_VARIABLE: str(self.budget_seconds),
        }
        given = Assignment(
            environment,
            self.queue.subscription,
            self.table,
            str(self.log),
            self.work_seconds,
            kill_at,
        )
        process = _forks.Process(target=work, args=(given,), daemon=True)
        process.start()
        self.alive.append(process)
        return process

    def kill(self, process: Any, number: int) -> None:
        """Sends a signal to a worker; it is not replaced."""
        self.alive.remove(process)
        self.killed.add(process.pid)
        os.kill(process.pid, number)
        if number == signal.SIGTERM:
            self.terminated.append(process)

    def happened(self, what: str) -> int:
        """How often a step is in the log."""
        return sum(each == what for each, *_ in self.lines())

    def acknowledged(self) -> int:
        """How many messages the workers ended."""
        events = Path(f"{self.log}.events")
        lines = events.read_text().splitlines() if events.exists() else []
        told = [json.loads(line) for line in lines if '"message_acked"' in line]
        return sum(each["messages"] for each in told)

    def lines(self) -> list[tuple[str, str, int, float]]:
        """What the workers noted: step, key, process, time."""
        if not self.log.exists():
            return []
        parts = [line.split() for line in self.log.read_text().splitlines()]
        return [(what, key, int(pid), float(at)) for what, key, pid, at in parts]

    def ready(self) -> list[Any]:
        """Living workers that have come to their loop."""
        ready = {pid for what, _, pid, _ in self.lines() if what == "ready"}
        return [process for process in self.alive if process.pid in ready]

    def rows(self) -> int:
        """How many results are stored."""
        with psycopg.connect(self.url) as connection:
            found = connection.execute(f"SELECT count(*) FROM {self.table}").fetchone()
        return found[0] if found else 0

    def close(self) -> None:
        """Ends all workers."""
        for process in [*self.alive, *self.terminated]:
            process.kill()
            process.join()
