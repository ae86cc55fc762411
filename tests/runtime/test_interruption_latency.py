"""How soon a program knows of SIGTERM while its main thread is busy in native code."""

import signal
import time
from collections.abc import Callable
from statistics import median

import pytest

from tests.runtime.program import running

ROUNDS = 4
GOAL_MS = 10

PROGRAM = """
import hashlib, sys, zlib
import numpy
from spotproof_runtime import Interrupted, Interruption

data = bytes(30_000_000)
matrix = numpy.ones((2500, 2500))
for _ in range({rounds}):
    try:
        with Interruption() as stop:
            print("ready")
            {call}
            stop.wait(60)
            print("noticed", stop.noticed_at)
    except Interrupted:
        pass
"""

RELEASE_THE_LOCK = {
    "hashing": "hashlib.pbkdf2_hmac('sha256', b'key', b'', 1_000_000)",
    "product of matrices": "matrix @ matrix",
    "compression": "zlib.compress(data, 9)",
}
HOLD_THE_LOCK = {
    "sum of a range": "sum(range(15_000_000))",
    # This one holds the lock too, but looks for signals itself now and then.
    "power of integers": "3 ** 2_000_000",
}


def latencies_ms(call: str) -> list[float]:
    """From the signal to the flag, in milliseconds, with the call under way."""
    found: list[float] = []
    with running(PROGRAM.format(rounds=ROUNDS, call=call)) as program:
        for _ in range(ROUNDS):
            program.read_until("ready")
            time.sleep(0.05)  # it prints that just before the call
            sent = program.send(signal.SIGTERM)
            found.append(1000 * (float(program.read_until("noticed")) - sent))
    return found


def shown(kind: str, found: list[float]) -> str:
    return f"signal to flag, {kind}: {median(found):.1f} ms, at worst {max(found):.1f} ms"


@pytest.mark.parametrize("name", RELEASE_THE_LOCK)
def test_a_call_that_releases_the_lock_does_not_delay_the_flag(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    found = latencies_ms(RELEASE_THE_LOCK[name])
    record_property("figure", shown(f"{name} (lock released, goal {GOAL_MS} ms)", found))
    assert median(found) < 10 * GOAL_MS


@pytest.mark.parametrize("name", HOLD_THE_LOCK)
def test_a_call_that_holds_the_lock_does_not_lose_the_flag(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    found = latencies_ms(HOLD_THE_LOCK[name])
    record_property("figure", shown(f"{name} (lock held)", found))
    assert max(found) < 15_000
