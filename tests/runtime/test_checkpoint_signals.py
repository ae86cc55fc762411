"""A real program that real signals end loses no more than it may, and its result is right."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from tests.runtime.checkpoint_program import next_state
from tests.runtime.checkpoint_runs import train, wait_for
from tests.runtime.gcs.faults import Fault
from tests.runtime.gcs.server import BUCKET, GcsServer
from tests.runtime.program import running

ROOT = Path(__file__).parents[2]
TOTAL = 150
EVERY = {"blocking": 7, "background": 30}
"""How many steps may be unsaved."""

SLOW_SECONDS = 0.15
"""How long an upload takes before its commit, which a kill then prevents: as long as 15 steps."""


class Run:
    """A run in several lives, each a process of its own."""

    def __init__(self, location: str, background: str, place: Path, environment: dict[str, str]):
        self.location = location
        self.background = background
        self.done = place / "done"
        self.result = place / "result"
        self.done.write_text("")
        self.environment = os.environ | environment

    def steps(self) -> list[int]:
        """All steps that were done, in all lives, in order."""
        return [int(line) for line in self.done.read_text().split()]

    def live(self, end: signal.Signals | None = None, after_steps: int = 0) -> tuple[int, str]:
        """One life, ended by a signal after so many steps of its own."""
        before = len(self.steps())
        numbers = [str(TOTAL), str(EVERY[self.background])]
        program = [sys.executable, "-m", "tests.runtime.checkpoint_program"]
        process = subprocess.Popen(
            [*program, self.location, *numbers, self.background, self.done, self.result],
            cwd=ROOT,
            env=self.environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            if end is not None:
                enough = before + after_steps
                wait_for(lambda: len(self.steps()) >= enough or process.poll() is not None, 60)
                process.send_signal(end)
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
        return process.returncode, said


def expected() -> str:
    state = ""
    for step in range(TOTAL):
        state = next_state(state, step)
    return state


def done_again(steps: list[int]) -> list[int]:
    """For each life but the last: how many of the steps it had done were done again."""
    return [before + 1 - after for before, after in pairwise(steps) if after != before + 1]


@pytest.fixture(params=["directory-blocking", "gcs-background"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    store, background = request.param.split("-")
    if store == "directory":
        return Run(str(tmp_path / "run"), background, tmp_path, {})
    server: GcsServer = request.getfixturevalue("gcs")
    server.faults.plan(Fault("slow", match="create run/steps/", seconds=SLOW_SECONDS, count=1000))
    told = {"STORAGE_EMULATOR_HOST": server.url}
    return Run(f"gs://{BUCKET}/run", background, tmp_path, told)


def test_sigterm_costs_at_most_one_step(
    run: Run, record_property: Callable[[str, object], None]
) -> None:
    lengths = random.Random(7)
    for _ in range(3):
        code, said = run.live(signal.SIGTERM, lengths.randint(1, 15))
        assert code == 143, said
        assert '"outcome": "saved"' in said
    code, said = run.live()
    assert code == 0, said
    assert run.result.read_text() == expected()
    lost = done_again(run.steps())
    assert max(lost, default=0) <= 1
    assert set(run.steps()) == set(range(TOTAL))
    record_property(
        "figure", f"steps lost to each of 3 SIGTERMs; {run.background}: {lost or 'none'}"
    )


def test_sigkill_costs_at_most_one_interval_also_while_an_upload_is_under_way(
    run: Run, record_property: Callable[[str, object], None]
) -> None:
    every = EVERY[run.background]
    for length in (2 * every + every // 3, every + every // 4, every + every // 2):
        code, said = run.live(signal.SIGKILL, length)
        assert code == -signal.SIGKILL, said
    code, said = run.live()
    assert code == 0, said
    assert run.result.read_text() == expected()
    lost = done_again(run.steps())
    assert max(lost, default=0) <= every
    record_property(
        "figure", f"steps lost to each of 3 SIGKILLs, {every} allowed; {run.background}: {lost}"
    )


@pytest.mark.parametrize("background", ["blocking", "background"])
def test_a_store_that_hangs_does_not_hold_the_program_beyond_its_end(
    gcs: GcsServer, tmp_path: Path, background: str
) -> None:
    told = {"STORAGE_EMULATOR_HOST": gcs.url, "SPOTPROOF_TERMINATION_BUDGET_SECONDS": "4"}
    run = Run(f"gs://{BUCKET}/run", background, tmp_path, told)
    gcs.faults.plan(Fault("slow", match="create run/steps/", seconds=60, count=1000))
    begun = time.monotonic()
    code, said = run.live(signal.SIGTERM, EVERY["blocking"])
    assert code == 143, said
    assert time.monotonic() - begun < 40
    assert '"outcome": "too_late"' in said


@pytest.mark.parametrize("call", ["list run/commits/", "read run/steps/"])
def test_a_restore_from_a_store_that_hangs_ends_at_once_with_nothing_to_save(
    gcs: GcsServer, tmp_path: Path, call: str
) -> None:
    train(f"gs://{BUCKET}/run", 1)
    gcs.faults.plan(Fault("slow", match=call, seconds=60, count=1000))
    program = f"""
from spotproof_runtime import Checkpoints, Interruption
with Interruption() as stop:
    checkpoints = Checkpoints("gs://{BUCKET}/run", stop=stop)
    print("ready")
    checkpoints.restore(lambda directory: 0, default=lambda: 0)
"""
    with running(program, STORAGE_EMULATOR_HOST=gcs.url, TMPDIR=str(tmp_path)) as life:
        life.read_until("ready")
        wait_for(lambda: any(call in each for each in gcs.faults.calls))
        life.send(signal.SIGTERM)
        ended = life.end()
    assert (ended.code, ended.seconds < 5) == (143, True), ended
    assert '"outcome": "none"' in ended.errors
    assert list(tmp_path.iterdir()) == [], "no local copy stays"
