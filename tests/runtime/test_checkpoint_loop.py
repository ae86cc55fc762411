"""No step is done twice or left out, and a program that is told to end saves what it can."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from spotproof_runtime import Every, Interrupted
from spotproof_runtime.checkpoints.errors import SaveFailedError, StoreError
from tests.runtime.checkpoint_runs import (
    EachStep,
    FakeStop,
    Log,
    checkpoints,
    is_interrupted,
    load,
    restore,
    train,
    wait_for,
    write,
)
from tests.runtime.gated_store import Gate, gated

ROOT = Path(__file__).parents[2]


@pytest.fixture
def run(tmp_path: Path) -> str:
    return str(tmp_path / "run")


def live(
    run: str, total: int, stop: FakeStop, at: Any = None, log: Log | None = None, **settings: Any
) -> tuple[list[int], bool]:
    """One life that is told to end `at` a step and moment; its steps, and if it came to its end."""
    done: list[int] = []
    made = checkpoints(run, log, stop=stop, **settings)
    start, state = made.restore(load, default=lambda: 0)
    assert state == start
    try:
        for step in made.steps(start, total):
            if at == (step, "before"):
                stop.request(100)
            done.append(step)
            made.offer(step, lambda directory, step=step: write(directory, step + 1))
            if at == (step, "after"):
                stop.request(100)
    except Interrupted:
        return done, False
    return done, True


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("every", [1, 3, 100])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_interrupted_anywhere_each_step_is_done_once(
    run: str, background: bool, every: int, moment: str
) -> None:
    settings: dict[str, Any] = {"background": background, "interval": Every(steps=every)}
    all_done: list[int] = []
    for at in (0, 1, 4, 5, 8):
        stop = FakeStop()
        done, finished = live(run, 10, stop, (at, moment), **settings)
        all_done += done
        assert finished == stop.is_done
    done, finished = live(run, 10, FakeStop(), **settings)
    assert all_done + done == list(range(10))
    assert finished


def test_the_last_step_is_saved_whatever_the_interval(run: str) -> None:
    stop = FakeStop()
    made = checkpoints(run, stop=stop, interval=Every(steps=100))
    for step in made.steps(0, 7):
        made.offer(step, lambda directory, step=step: write(directory, step + 1))
    assert stop.is_done
    assert made.all_steps() == [7]
    assert restore(run) == 7


def test_a_finished_run_that_is_started_again_does_nothing(run: str) -> None:
    train(run, 5)
    assert live(run, 5, FakeStop()) == ([], True)


def test_told_to_end_in_the_last_step_the_work_is_done(run: str) -> None:
    stop = FakeStop()
    assert live(run, 3, stop, (2, "before")) == ([0, 1, 2], True)
    assert stop.is_done


def test_told_to_end_before_the_first_step_nothing_is_begun(run: str) -> None:
    train(run, 2)
    stop = FakeStop()
    made = checkpoints(run, log := Log(), stop=stop)
    made.restore(load, default=lambda: 0)
    stop.request(10)
    is_interrupted(made, 2, 5, lambda step: None)
    assert log.of("interrupted")[0] | {"seconds": 0} == {
        "event": "interrupted",
        "outcome": "saved",
        "step": 2,
        "lost_steps": 0,
        "seconds": 0,
    }


def test_told_to_end_while_restoring_it_ends(run: str) -> None:
    train(run, 2)
    stop = FakeStop()
    stop.request(10)
    log = Log()
    with pytest.raises(Interrupted):
        checkpoints(run, log, stop=stop).restore(load, default=lambda: 0)
    assert [each["outcome"] for each in log.of("interrupted")] == ["none"]


def test_a_loop_that_forgets_to_restore_does_not_start_from_zero_over_what_is_there(
    run: str,
) -> None:
    train(run, 3)
    made = checkpoints(run)
    with pytest.raises(ValueError, match=r"3 steps are saved .* call restore first"):
        next(made.steps(0, 5))
    made.restore(load, default=lambda: 0)
    assert next(made.steps(0, 5)) == 0


def test_steps_beyond_the_total_are_another_runs(run: str) -> None:
    with pytest.raises(ValueError, match=r"steps\(7, 5\): 7 steps are done already"):
        next(checkpoints(run).steps(7, 5))


def test_a_save_between_steps_is_not_called_when_none_is_due(run: str) -> None:
    called: list[int] = []
    made = checkpoints(run, interval=Every(steps=4))
    for step in range(9):
        made.offer(step, lambda d, step=step: (called.append(step), write(d, step + 1)))
    assert called == [3, 7]
    assert made.all_steps() == [4, 8]


@pytest.mark.parametrize(
    "interval", [0.0001, Every(seconds=0.0001), Every(epochs=1, steps_per_epoch=1)]
)
def test_an_interval_in_seconds_or_epochs_is_kept(run: str, interval: Any) -> None:
    made = checkpoints(run, interval=interval, keep=10)
    made.restore(load, default=lambda: 0)
    for step in range(3):
        time.sleep(0.001)
        made.offer(step, lambda directory, step=step: write(directory, step + 1))
    assert made.all_steps() == [1, 2, 3]


@pytest.mark.parametrize("interval", [0, -5, True, float("nan"), float("inf")])
def test_an_interval_that_cannot_be_is_refused_at_once(run: str, interval: float) -> None:
    with pytest.raises(ValueError, match="seconds"):
        checkpoints(run, interval=interval)


def test_a_program_can_decide_by_itself_when_to_save(run: str) -> None:
    class Odd(EachStep):
        def due(self, step: int, now: float | None = None) -> bool:
            return step % 2 == 1

    assert train(run, 6, interval=Odd(), keep=9).all_steps() == [1, 3, 5, 6]
    assert train(run, 8, interval=Odd(), keep=9).all_steps() == [1, 3, 5, 6, 7, 8]


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gate:
    return gated(tmp_path / "run", monkeypatch)


def outcome_of(gate: Gate, stop: FakeStop, log: Log, during: Any, estimate: str) -> dict[str, Any]:
    """Step 1 is on its way when the program is told to end in step 2."""
    os.environ["SPOTPROOF_SAVE_ESTIMATE_SECONDS"] = estimate
    try:
        made = checkpoints("unused", log, stop=stop, background=True)
    finally:
        del os.environ["SPOTPROOF_SAVE_ESTIMATE_SECONDS"]

    def body(step: int) -> None:
        if step == 0:
            gate.open.clear()
        if step == 1:
            during()
        made.offer(step, lambda directory: write(directory, step + 1))

    is_interrupted(made, 0, 5, body)
    gate.open.set()
    [found] = log.of("interrupted")
    return found


def test_a_save_that_fits_is_made(gate: Gate) -> None:
    def during() -> None:
        gate.open.set()
        stop.request(60)

    stop, log = FakeStop(), Log()
    found = outcome_of(gate, stop, log, during, "5")
    assert (found["outcome"], found["step"], found["lost_steps"]) == ("saved", 2, 0)


def test_when_none_fits_the_one_under_way_is_finished(gate: Gate) -> None:
    def during() -> None:
        stop.request(10)
        threading.Timer(0.1, gate.open.set).start()

    stop, log = FakeStop(), Log()
    # Once the one under way has ended, the time that it took is known: leave less than that.
    stop.remaining = lambda: 1e-7 if gate.open.is_set() else 10  # type: ignore[method-assign]
    found = outcome_of(gate, stop, log, during, "60")
    assert (found["outcome"], found["step"], found["lost_steps"]) == ("flushed", 1, 1)


def test_what_does_not_end_in_time_is_given_up(gate: Gate) -> None:
    stop, log = FakeStop(), Log()
    found = outcome_of(gate, stop, log, lambda: stop.request(0.05), "0")
    assert (found["outcome"], found["step"], found["lost_steps"]) == ("too_late", 0, 2)


def test_a_last_save_that_fails_is_an_interruption_still(gate: Gate) -> None:
    def during() -> None:
        gate.broken = True
        gate.open.set()
        stop.request(60)

    stop, log = FakeStop(), Log()
    assert outcome_of(gate, stop, log, during, "1")["outcome"] == "too_late"
    assert log.of("save_failed")


def test_without_time_or_a_save_under_way_nothing_is_done(gate: Gate) -> None:
    stop, log = FakeStop(), Log()
    made = checkpoints("unused", log, stop=stop, background=True, interval=Every(steps=100))

    def body(step: int) -> None:
        stop.request(0)
        made.offer(step, lambda directory: write(directory, step + 1))

    is_interrupted(made, 0, 5, body)
    assert (log.of("interrupted")[0]["outcome"], made.all_steps()) == ("none", [])


def test_a_loop_that_offers_now_and_then_goes_on_to_its_next_offer(run: str) -> None:
    stop, done = FakeStop(), []
    made = checkpoints(run, stop=stop)

    def body(step: int) -> None:
        done.append(step)
        if step % 5 == 4:
            made.offer(step, lambda directory: write(directory, step + 1))
        if step == 11:
            stop.request(60)

    is_interrupted(made, 0, 100, body)
    assert done[-1] == 14
    assert restore(run) == 15


def test_a_loop_that_never_offers_ends_after_the_step(run: str) -> None:
    stop, done = FakeStop(), []

    def body(step: int) -> None:
        done.append(step)
        stop.request(60)

    is_interrupted(checkpoints(run, stop=stop), 0, 100, body)
    assert done == [0]


def test_an_error_in_the_background_is_raised_by_the_next_offer(gate: Gate) -> None:
    made = checkpoints("unused", background=True)
    gate.broken = True
    made.offer(0, lambda directory: write(directory, 1))
    wait_for(lambda: not made._saver.background.busy)
    with pytest.raises(SaveFailedError, match="broken"):
        made.offer(1, lambda directory: write(directory, 2))


def test_an_error_in_the_background_is_raised_by_waiting(gate: Gate) -> None:
    made = checkpoints("unused", background=True)
    gate.broken = True
    made.offer(0, lambda directory: write(directory, 1))
    with pytest.raises(SaveFailedError, match="broken"):
        made.wait_until_finished()


def test_a_store_that_fails_because_the_end_comes_is_an_interruption(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop, log = FakeStop(), Log()

    def break_off(name: str, source: object, crc32c: str) -> None:
        stop.request(0)
        raise StoreError("no time left")

    made = checkpoints("unused", log, stop=stop)
    monkeypatch.setattr(gate, "put", break_off)
    is_interrupted(made, 0, 5, lambda step: made.offer(step, lambda d: write(d, step + 1)))
    assert [each["outcome"] for each in log.of("interrupted")] == ["too_late"]


def test_a_restore_that_fails_because_the_end_comes_is_an_interruption(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = FakeStop()

    def break_off(prefix: str) -> None:
        stop.request(0)
        raise StoreError("no time left")

    made = checkpoints("unused", stop=stop)
    monkeypatch.setattr(gate, "list", break_off)
    with pytest.raises(Interrupted):
        made.restore(load, default=lambda: 0)


def test_waiting_for_a_save_ends_with_the_program(gate: Gate) -> None:
    stop = FakeStop()
    made = checkpoints("unused", stop=stop, background=True)
    gate.open.clear()
    made.offer(0, lambda directory: write(directory, 1))
    stop.request(0.05)
    with pytest.raises(Interrupted):
        made.wait_until_finished()
    gate.open.set()


@pytest.mark.parametrize(("spoil", "code"), [("", 0), ("shutil.rmtree('run')", 1)])
def test_a_program_that_just_ends_waits_for_its_upload_and_is_no_success_if_that_fails(
    tmp_path: Path, spoil: str, code: int
) -> None:
    program = f"""
import os, shutil, sys, time
from spotproof_runtime import Checkpoints, Every
from spotproof_runtime.checkpoints.directory_store import DirectoryStore
put = DirectoryStore.put
def slow(self, name, source, crc32c):
    time.sleep(0.1)
    if {bool(spoil)} and name.startswith("commits/"):
        raise OSError(5, "broken")
    return put(self, name, source, crc32c)
DirectoryStore.put = slow
ck = Checkpoints("run", interval=Every(steps=1))
ck.offer(0, lambda d: (d / "a").write_text("a"))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == code, done.stderr
    committed = [*tmp_path.glob("run/commits/*.json")]
    assert len(committed) == (0 if spoil else 1)
    if spoil:
        assert "cannot save step 1" in done.stderr


def fail_to_write(directory: Path) -> None:
    raise RuntimeError("PytorchStreamWriter failed writing file: disk is full")


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("moment", ["before the save", "during the save"])
def test_an_error_of_the_programs_own_in_the_last_save_is_an_interruption_still(
    run: str, background: bool, moment: str, caplog: pytest.LogCaptureFixture
) -> None:
    stop, log = FakeStop(), Log()
    made = checkpoints(run, log, stop=stop, background=background)

    def body(step: int) -> None:
        def fail(directory: Path) -> None:
            stop.request(10)
            fail_to_write(directory)

        if moment == "before the save":
            stop.request(10)
        made.offer(step, fail)

    is_interrupted(made, 0, 5, body)
    assert [each["outcome"] for each in log.of("interrupted")] == ["too_late"]
    assert "disk is full" in log.of("save_failed")[0]["error"]
    assert "in fail_to_write" in caplog.text, "the traceback says where"


def test_an_error_of_the_programs_own_is_raised_when_nothing_ends(run: str) -> None:
    log = Log()
    made = checkpoints(run, log)
    with pytest.raises(RuntimeError, match="disk is full"):
        made.offer(0, fail_to_write)
    assert len(log.of("save_failed")) == 1
