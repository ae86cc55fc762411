"""The exit code: 0 only when all the work is done, 143 interrupted, 1 error, 42 hopeless."""

import json
import signal

import pytest

from tests.runtime.program import interrupted, running

BEGIN = """
import hashlib, os, signal, sys, threading, time
from spotproof_gke.contract import EXIT_DONE
from spotproof_runtime import EventLog, Hopeless, Interrupted, Interruption

"""

STEPS = """
with Interruption({arguments}) as stop:
    for step in range(100):
        if step == 50:
            print("ready")
            stop.wait(60)
        if stop.requested:
            {then}
    else:
        stop.done()
"""


def steps(then: str, arguments: str = "") -> str:
    return BEGIN + STEPS.format(then=then, arguments=arguments)


@pytest.mark.parametrize(
    "then", ["break", "sys.exit(0)", "sys.exit()", "raise SystemExit", "stop.exit_if_requested()"]
)
def test_a_loop_that_leaves_on_the_flag_is_interrupted_however_it_leaves(then: str) -> None:
    ended = interrupted(steps(then))
    assert ended.code == 143
    assert "Traceback" not in ended.errors


def test_work_that_is_done_exits_with_0_also_when_it_was_interrupted() -> None:
    assert interrupted(steps("continue")).code == 0


def test_what_follows_the_block_runs_when_the_work_is_done_and_a_guard_has_ended_it() -> None:
    text = """
with Interruption() as stop:
    stop.done()
    print("ready")
    for _ in stop.guard(range(1_000_000)):
        time.sleep(0.01)
print("after")
"""
    ended = interrupted(BEGIN + text)
    assert (ended.code, ended.output[-1]) == (0, "after")


def test_what_follows_the_block_does_not_run_when_it_was_interrupted() -> None:
    ended = interrupted(steps("break") + "print('after')")
    assert (ended.code, ended.output) == (143, ["ready"])


@pytest.mark.parametrize("then", ["break", "stop.exit_if_requested()", "raise Interrupted"])
def test_a_worker_of_a_queue_that_is_interrupted_exits_with_0(then: str) -> None:
    assert interrupted(steps(then, "exit_code=EXIT_DONE")).code == 0


def test_a_program_that_ends_by_itself_exits_with_0() -> None:
    with running(BEGIN + "with Interruption() as stop: pass") as program:
        assert program.end().code == 0


@pytest.mark.parametrize("then", ["raise ValueError('a shape')", "sys.exit(3)"])
def test_an_error_keeps_its_exit_code_also_when_the_program_was_interrupted(then: str) -> None:
    ended = interrupted(steps(then))
    if "exit" in then:
        assert ended.code == 3
    else:
        assert ended.code == 1
        assert "Traceback" in ended.errors
        assert "ValueError: a shape" in ended.errors


def test_a_hopeless_program_exits_with_42_and_says_why() -> None:
    text = "with Interruption() as stop: raise Hopeless('no newer checkpoint in 5 lives')"
    with running(BEGIN + text) as program:
        ended = program.end()
    assert ended.code == 42
    assert "error: no newer checkpoint in 5 lives" in ended.errors
    assert "Traceback" not in ended.errors


def test_a_call_that_outlasts_the_budget_is_ended_with_143_before_the_kill() -> None:
    call = "hashlib.pbkdf2_hmac('sha256', b'', b'', 200_000_000)"
    text = f"with Interruption() as stop:\n    print('ready')\n    {call}"
    ended = interrupted(BEGIN + text, SPOTPROOF_TERMINATION_BUDGET_SECONDS="2")
    assert ended.code == 143
    assert 1.4 < ended.seconds < 2 + 13
    assert '"outcome": "too_late"' in ended.errors


def test_the_notice_is_recorded_before_the_program_ends() -> None:
    text = """
class Slow(EventLog):
    def record(self, event, **fields):
        time.sleep(0.3)
        super().record(event, **fields)

with Interruption(events=Slow()) as stop:
    print("ready")
    stop.wait(60)
"""
    ended = interrupted(BEGIN + text)
    assert '"event": "notice"' in ended.errors


def test_a_request_of_the_program_itself_or_ctrl_c_is_not_ended_by_force() -> None:
    text = """
with Interruption() as stop:
    stop.request("a notice")
    signal.raise_signal(signal.SIGINT)
    print("remaining", stop.remaining())
    time.sleep(1.5)
    print("went on")
"""
    with running(BEGIN + text, SPOTPROOF_TERMINATION_BUDGET_SECONDS="1") as program:
        ended = program.end()
    assert (ended.code, ended.output[-1]) == (143, "went on")


def test_sigterm_before_the_block_ends_the_program_as_it_ends_any_other() -> None:
    """The reason to write it as the first line: nothing is known before that."""
    with running("print('ready')\nimport time\ntime.sleep(60)") as program:
        program.read_until("ready")
        program.send(signal.SIGTERM)
        assert program.end().code == -signal.SIGTERM


@pytest.mark.parametrize(
    ("then", "code", "told"),
    [
        ('raise RuntimeError("no such column")', 1, "RuntimeError: no such column"),
        ('raise ValueError("postgresql://joe:pa55word@host/db")', 1, "ValueError"),
        ("sys.exit(3)", 3, "SystemExit: 3"),
        ('sys.exit("no data in /data")', 1, "SystemExit: no data in /data"),
        ("pass", 0, None),
        ("sys.exit(0)", 0, None),
        ("raise Interrupted", 143, None),
        ('raise Hopeless("give up")', 42, None),
    ],
)
def test_a_program_that_fails_says_so_in_an_event(then: str, code: int, told: str | None) -> None:
    with running(BEGIN + f"with Interruption() as stop:\n    {then}\n") as program:
        ended = program.end()
    assert ended.code == code
    events = [json.loads(line) for line in ended.errors.splitlines() if line.startswith("{")]
    failed = [event["error"] for event in events if event["event"] == "run_failed"]
    assert len(failed) == (told is not None)
    assert told is None or failed[0].startswith(told)
    assert "pa55word" not in "".join(failed)
