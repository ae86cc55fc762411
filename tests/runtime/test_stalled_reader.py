"""Nobody reads standard error: the events wait, and the last save does not."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from spotproof_runtime import EventLog
from tests.runtime.checkpoint_runs import restore, wait_for

FULL = """
import fcntl, os, sys
os.set_blocking(2, False)
try:
    while True:
        os.write(2, b"x" * 4096)
except BlockingIOError:
    pass
os.set_blocking(2, True)
"""

PROGRAM = """
import time
from pathlib import Path
from spotproof_runtime import Checkpoints, Every, Interruption
from tests.runtime.checkpoint_runs import load, write
with Interruption() as stop:
    checkpoints = Checkpoints(sys.argv[1], stop=stop, interval=Every(steps=1000))
    start, _ = checkpoints.restore(load, default=lambda: 0)
    print("ready", flush=True)
    for step in checkpoints.steps(start, 100_000):
        time.sleep(0.01)
        checkpoints.offer(step, lambda directory: write(directory, step + 1))
"""


def test_the_last_save_does_not_wait_for_who_reads_the_events(tmp_path: Path) -> None:
    location = str(tmp_path / "run")
    with subprocess.Popen(
        [sys.executable, "-c", FULL + PROGRAM, location],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(0.1)
            process.send_signal(signal.SIGTERM)
            begun = time.monotonic()
            process.wait(30)
            seconds = time.monotonic() - begun
        finally:
            process.kill()
    assert process.returncode == 143
    assert seconds < 5
    assert restore(location) > 0


@pytest.fixture
def pipe() -> Iterator[tuple[int, io.TextIOWrapper]]:
    """A pipe that takes no more: its reading end, and its writing end as a stream."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with open(writer, "w") as stream:
        try:
            while True:
                os.write(writer, b"x" * 4096)
        except BlockingIOError:
            os.set_blocking(writer, True)
        yield reader, stream
        os.close(reader)


def test_what_was_not_read_is_written_once_somebody_reads(
    pipe: tuple[int, io.TextIOWrapper],
) -> None:
    reader, stream = pipe
    log = EventLog(stream)
    begun = time.monotonic()
    for number in range(50):
        log.record("progress", step=number, text="y" * 500)
    log.record("checkpoint_skipped", why="z" * 50_000)
    assert time.monotonic() - begun < 2.5, "a quarter of a second, once"
    os.set_blocking(reader, False)
    read = bytearray()

    def caught_up() -> bool:
        log.record("notice")
        try:
            while chunk := os.read(reader, 1 << 20):
                read.extend(chunk)
        except BlockingIOError:
            pass
        return b"z" * 50_000 in read and b"notice" in read

    wait_for(caught_up)
    lines = [json.loads(line) for line in read.decode().lstrip("x").splitlines()]
    assert [line["step"] for line in lines[:50]] == list(range(50))
