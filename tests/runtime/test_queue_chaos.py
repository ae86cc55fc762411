"""Workers are killed, messages come five times, the sink goes away: each result is there once.

The full form is 2,000 messages, with SPOTPROOF_CHAOS=full in the environment.
"""

import itertools
import os
import random
import signal
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from spotproof_runtime import Item
from tests.runtime.fleet import Fleet
from tests.runtime.services import Postgres, wait_for

FULL = os.environ.get("SPOTPROOF_CHAOS") == "full"
MESSAGES = 2_000 if FULL else 250
WORKERS = 8 if FULL else 5
COPIES = 5
SINK_AWAY_SECONDS = 5.0 if FULL else 3.0
MOST_SECONDS = 600.0 if FULL else 100.0


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


def test_every_result_is_there_once_whatever_is_killed(
    fleet: Fleet, database: Postgres, record_property: Callable[[str, object], None]
) -> None:
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
    record_property(
        "figure",
        f"{MESSAGES} messages, {COPIES}-fold, {WORKERS} workers, {len(fleet.killed)} kills, sink "
        f"away for {outage[1] - outage[0]:.0f} s: {fleet.rows()} rows in {seconds:.0f} s; computed "
        f"twice: {twice.killed} killed before the store, {twice.outage} around the outage, "
        f"{len(twice.unexplained)} otherwise",
    )
    assert fleet.rows() == MESSAGES
    assert twice.unexplained == []
    assert codes == [0] * len(codes), "told to end, a worker leaves with 0"
    assert fleet.queue.pull(dead=True, seconds=1) == []
