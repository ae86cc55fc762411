"""A signal to the whole group ends neither the workers that load data nor the wrong program."""

import signal
import sys
import time
from pathlib import Path

import pytest

from tests.runtime.program import LIMIT_SECONDS, interrupted, running

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="process groups and /proc")

BEGIN = """
import multiprocessing, os, signal, subprocess, sys, threading, time
from spotproof_runtime import Interruption, shield_worker

def square(number):
    time.sleep(0.05)
    return number * number

def whoami(_):
    time.sleep(0.05)
    return os.getpid()

"""

WORKERS = """
if __name__ == "__main__":
    with Interruption() as stop:
        context = multiprocessing.get_context("{method}")
        with context.Pool(2{shield}) as pool:
            pids = set(pool.map(whoami, range(8), chunksize=1))
            print("ready", *pids)
            stop.wait(60)
            time.sleep(0.3)
            print(sum(pool.map(square, range(8))))
            print(pids == set(pool.map(whoami, range(8), chunksize=1)))
"""


SLEEPER = """
def sleep(pipe):
    if "{method}" == "spawn":
        shield_worker()
    pipe.send("up")
    time.sleep(60)

if __name__ == "__main__":
    with Interruption() as stop:
        context = multiprocessing.get_context("{method}")
        ours, theirs = context.Pipe()
        process = context.Process(target=sleep, args=(theirs,))
        process.start()
        ours.recv()
        print("ready", process.pid)
        stop.wait(60)
"""


def is_running(pid: int) -> bool:
    """Whether there is such a process, and it is more than an exit code to be collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(pids: list[int]) -> None:
    until = time.monotonic() + LIMIT_SECONDS
    while any(is_running(pid) for pid in pids):
        assert time.monotonic() < until, f"still running after {LIMIT_SECONDS} s: {pids}"
        time.sleep(0.02)


def program(method: str, tmp_path: Path) -> Path:
    """A program with two workers, in a file, since spawned workers read it again."""
    shield = "" if method == "fork" else ", initializer=shield_worker"
    path = tmp_path / "program.py"
    path.write_text(BEGIN + WORKERS.format(method=method, shield=shield))
    return path


@LINUX
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_outlive_a_sigterm_to_the_group_and_do_their_work(
    method: str, tmp_path: Path
) -> None:
    ended = interrupted(program(method, tmp_path), group=True)
    assert ended.output[1:] == ["140", "True"], ended.errors
    assert ended.code == 143


@LINUX
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_worker_ends_with_a_program_that_is_killed(method: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(BEGIN + SLEEPER.format(method=method))
    with running(path) as started:
        pid = int(started.read_until("ready"))
        started.send(signal.SIGKILL)
        started.end()
        wait_until_gone([pid])


@LINUX
def test_a_worker_that_a_short_lived_thread_has_started_lives_on() -> None:
    text = """
def work(pipe):
    while True:
        pipe.send(pipe.recv())

def start():
    process.start()
    ours.send("started")
    ours.recv()

with Interruption() as stop:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(theirs,), daemon=True)
    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    time.sleep(0.3)
    ours.send("still there")
    print("ready", process.pid, ours.recv() if ours.poll(10) else "it is gone")
    stop.wait(60)
"""
    with running(BEGIN + text) as started:
        pid, what = started.read_until("ready").split(maxsplit=1)
        assert what == "still there"
        started.send(signal.SIGKILL)
        started.end()
        wait_until_gone([int(pid)])


@LINUX
def test_a_worker_can_still_be_terminated_by_its_program() -> None:
    text = """
with Interruption() as stop:
    process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
    process.start()
    time.sleep(0.2)
    process.terminate()
    process.join(30)
    print(process.exitcode, stop.requested)
"""
    with running(BEGIN + text) as started:
        ended = started.end()
    assert (ended.code, ended.output) == (0, [f"{-signal.SIGTERM} False"])


@LINUX
def test_a_signal_to_a_forked_child_is_no_notice_to_the_program() -> None:
    text = """
with Interruption() as stop:
    child = os.fork()
    if child == 0:
        print("child", stop.requested)
        time.sleep(60)
        os._exit(0)
    time.sleep(0.3)
    os.kill(child, signal.SIGTERM)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), stop.wait(0.2))
"""
    with running(BEGIN + text) as started:
        ended = started.end()
    assert (ended.code, ended.output) == (0, ["child False", f"{-signal.SIGTERM} False"])


@LINUX
def test_a_child_that_leaves_the_block_does_not_end_the_program() -> None:
    text = """
with Interruption() as stop:
    child = os.fork()
    if child == 0:
        sys.exit(7)
    _, status = os.waitpid(child, 0)
    print("ready", os.waitstatus_to_exitcode(status))
    stop.wait(60)
"""
    ended = interrupted(BEGIN + text)
    assert (ended.code, ended.output) == (143, ["ready 7"])


@LINUX
def test_a_child_is_not_interrupted_with_its_program() -> None:
    text = """
with Interruption() as stop:
    stop.request("a notice")
    child = os.fork()
    if child == 0:
        sys.exit(0)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status))
"""
    with running(BEGIN + text) as started:
        ended = started.end()
    assert (ended.code, ended.output) == (143, ["0"])


@LINUX
def test_a_forked_child_has_an_interruption_of_its_own_and_can_become_a_daemon() -> None:
    text = """
with Interruption() as stop:
    child = os.fork()
    if child == 0:
        os.setsid()
        with Interruption() as own:
            os.kill(os.getpid(), signal.SIGTERM)
            own.wait(60)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), stop.requested)
"""
    with running(BEGIN + text) as started:
        ended = started.end()
    assert (ended.code, ended.output) == (0, ["143 False"])


@LINUX
def test_a_subprocess_is_told_with_the_group_and_starts_without_our_handlers() -> None:
    text = """
with Interruption() as stop:
    process = subprocess.Popen(["sleep", "60"])
    other = subprocess.Popen(["sleep", "60"], process_group=0) if sys.version_info >= (3, 11) \\
        else subprocess.Popen(["sleep", "60"], start_new_session=True)
    print("ready", other.pid)
    stop.wait(60)
    print(process.wait(30), other.poll())
    other.terminate()
    print(other.wait(30))
"""
    ended = interrupted(BEGIN + text, group=True)
    assert ended.code == 143
    assert ended.output[1:] == [f"{-signal.SIGTERM} None", f"{-signal.SIGTERM}"]


def test_shielding_a_process_that_is_no_worker_changes_only_its_group() -> None:
    text = """
shield_worker(0)
print(os.getpgid(0) == os.getpid())
"""
    with running(BEGIN + text) as started:
        ended = started.end()
    assert (ended.code, ended.output) == (0, ["True"])


def test_an_interruption_in_what_a_spawned_worker_is_given_says_what_is_wrong() -> None:
    text = """
import pickle
with Interruption() as stop:
    try:
        pickle.dumps({"stop": stop})
    except TypeError as error:
        print("stays in its process" in str(error))
"""
    with running(BEGIN + text) as started:
        ended = started.end()
    assert (ended.code, ended.output) == (0, ["True"])
