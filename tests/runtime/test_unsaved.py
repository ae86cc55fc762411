"""No more than one interval of work is ever unsaved, and that costs next to no waiting."""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from spotproof_runtime import Every, Interrupted, SaveInterval
from spotproof_runtime.unsaved import Unsaved
from tests.runtime.checkpoint_runs import FakeStop, Log, checkpoints, load, wait_for, write
from tests.runtime.gated_store import Gate, gated

STEPS = 2_000


@dataclass
class VirtualRun:
    """A training on a virtual clock, with one upload at work beside it and one that waits."""

    step_seconds: float
    upload_seconds: float
    fixed: Every | None = None
    now: float = 0.0
    waited_seconds: float = 0.0
    most_steps: int = 0
    most_seconds: float = 0.0
    safe: tuple[int, float] = (0, 0.0)
    """The newest committed step, and how long was worked until it."""
    running: tuple[float, int, float] | None = None
    """When the upload at work ends, and the same of its state."""
    waiting: tuple[int, float] | None = None

    def run(self) -> None:
        known: list[float] = []
        unsaved = Unsaved(lambda: known[-1] if known else 0.0, clock=lambda: self.now)
        policy = SaveInterval(fixed=self.fixed, unsaved=unsaved, clock=lambda: self.now)
        policy.begin(0)
        for done in range(1, STEPS + 1):
            self.now += self.step_seconds
            self.most_steps = max(self.most_steps, done - self.safe[0])
            self.most_seconds = max(self.most_seconds, self._worked() - self.safe[1])
            while self.running and self.running[0] <= self.now:
                self._commit(policy, known)
            if policy.due(done):
                self.waiting = (done, self._worked())
                self._next_upload(self.now)
                policy.saved(0.001)
            while policy.is_full(done) and self.running:
                waits = self.running[0] - self.now
                self.waited_seconds += waits
                self.now += waits
                policy.waited(waits)
                self._commit(policy, known)

    def _worked(self) -> float:
        return self.now - self.waited_seconds

    def _commit(self, policy: SaveInterval, known: list[float]) -> None:
        assert self.running
        end, *safe = self.running
        self.safe, self.running = (safe[0], safe[1]), None
        known.append(self.upload_seconds)
        policy.committed(safe[0])
        self._next_upload(end)

    def _next_upload(self, at: float) -> None:
        if self.waiting and not self.running:
            self.running, self.waiting = (at + self.upload_seconds, *self.waiting), None


@pytest.mark.parametrize("interval", [1, 2, 3, 7, 30, 100])
@pytest.mark.parametrize("upload_steps", [0.01, 0.4, 1, 5.5, 40, 300])
def test_a_fixed_interval_is_never_exceeded_in_steps(interval: int, upload_steps: float) -> None:
    run = VirtualRun(0.5, 0.5 * upload_steps, Every(steps=interval))
    run.run()
    assert run.most_steps <= interval
    if upload_steps <= interval / 3 and interval > 1:
        assert run.waited_seconds < 0.001 * run.now, "an upload that keeps up holds nothing up"


@pytest.mark.parametrize("interval", [1.0, 20.0, 300.0])
@pytest.mark.parametrize("upload_seconds", [0.1, 7.0, 90.0, 400.0])
def test_nor_in_seconds_but_for_the_step_at_work(interval: float, upload_seconds: float) -> None:
    run = VirtualRun(0.7, upload_seconds, Every(seconds=interval))
    run.run()
    assert run.most_seconds <= interval + run.step_seconds + 1e-6
    if upload_seconds <= interval / 3:
        assert run.waited_seconds < 0.001 * run.now


def test_an_estimated_interval_makes_room_for_its_uploads() -> None:
    run = VirtualRun(1.0, 120.0)
    run.run()
    assert run.waited_seconds == 0
    assert run.most_seconds < 2.5 * 120 * 1.25, "not the hour of before the first save"


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    store = gated(tmp_path / "run", monkeypatch)
    yield store
    store.open.set()


class Loop(threading.Thread):
    """A training loop that a test watches."""

    def __init__(self, stop: Any, log: Log, interval: Any, total: int) -> None:
        super().__init__(daemon=True)
        self.done = 0
        self.interrupted = False
        self._stop_asked = stop
        self._made = checkpoints("unused", log, stop=stop, background=True, interval=interval)
        self._total = total

    def run(self) -> None:
        start, _ = self._made.restore(load, default=lambda: 0)
        try:
            for step in self._made.steps(start, self._total):
                time.sleep(0.002)
                self.done = step + 1
                self._made.offer(step, lambda d, step=step: write(d, step + 1))
        except Interrupted:
            self.interrupted = True


@pytest.mark.parametrize("interval", [Every(steps=8), Every(seconds=0.1), 0.1])
def test_while_an_upload_hangs_the_work_waits_and_then_goes_on(gate: Gate, interval: Any) -> None:
    log = Log()
    gate.open.clear()
    loop = Loop(FakeStop(), log, interval, 200)
    loop.start()
    wait_for(lambda: gate.waiting and loop.done)
    wait_for(lambda: _rests(loop))
    if interval == Every(steps=8):
        assert loop.done == 8
    gate.open.set()
    loop.join(30)
    assert loop.done == 200
    assert log.of("save_awaited")[0]["seconds"] > 0.05


def _rests(loop: Loop) -> bool:
    """Whether no step is done for much longer than one takes."""
    before = loop.done
    time.sleep(0.15)
    return loop.done == before


def test_a_notice_ends_the_waiting_at_once(gate: Gate) -> None:
    stop, log = FakeStop(), Log()
    gate.open.clear()
    loop = Loop(stop, log, Every(steps=8), 200)
    loop.start()
    wait_for(lambda: loop.done == 8)
    wait_for(lambda: _rests(loop))
    stop.request(0.2)
    loop.join(10)
    assert loop.interrupted
    [found] = log.of("interrupted")
    assert (found["outcome"], found["lost_steps"]) == ("too_late", 8)


class Agreeing(FakeStop):
    """A stop that is told to end and goes on until other processes agree."""

    told = False


def test_a_process_that_goes_on_until_others_agree_waits_for_no_upload(gate: Gate) -> None:
    stop = Agreeing()
    gate.open.clear()
    loop = Loop(stop, Log(), Every(steps=8), 20)
    loop.start()
    wait_for(lambda: loop.done == 8)
    stop.told = True
    wait_for(lambda: loop.done == 20)
    gate.open.set()
    loop.join(30)
    assert not loop.is_alive()


def test_a_restore_goes_on_until_others_agree(gate: Gate) -> None:
    class Told(Agreeing):
        def on_notice(self, callback: Any) -> None:
            callback()

    made = checkpoints("unused", stop=Told())
    before = time.process_time()
    gate.slow_seconds = 1.0
    assert made.restore(load, default=lambda: 0) == (0, 0)
    assert time.process_time() - before < 0.5, "it waits, and does not turn in a circle"
