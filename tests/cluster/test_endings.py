"""A control plane ends with what started it, however that ends."""

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.cluster.daemons import Daemons
from spotproof_gke.stack_state.processes import commands

ROOT = Path(__file__).parents[2]
ENDS = [signal.SIGTERM, signal.SIGKILL]
WAIT_SECONDS = 120.0

SESSION = """
from pathlib import Path
import time

from tests.cluster.conftest import plane  # the fixture of every test with a control plane


def test_long(plane, tmp_path_factory):
    print("is up in", plane.folder, flush=True)
    time.sleep(600)
"""
STARTER = """
import sys, threading, time
from pathlib import Path
from sandbox.cluster.daemons import Daemons

daemons = Daemons(Path(sys.argv[1]))
daemons.end_with_this_process()
starting = threading.Thread(target=daemons.start, args=("sleeper", ["sleep", "600"]))
starting.start()
starting.join()
print("is up in", sys.argv[1], flush=True)
time.sleep(600)
"""


def _left_of(folder: Path) -> list[str]:
    return [" ".join(words) for _, words in commands() if any(str(folder) in w for w in words)]


def _await(condition: Callable[[], bool], what: Callable[[], object]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, what()
        time.sleep(0.1)


@contextlib.contextmanager
def _running(*command: str | Path) -> Iterator["subprocess.Popen[str]"]:
    """A process that has said that it is up; killed in the end."""
    process = subprocess.Popen(
        [sys.executable, *command], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    try:
        said = ""
        for line in process.stdout:
            said += line
            if "is up in" in line:
                break
        else:
            raise AssertionError(said)
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", ENDS, ids=lambda number: number.name)
def test_a_run_of_tests_that_is_killed_leaves_no_control_plane(
    tmp_path: Path, number: signal.Signals
) -> None:
    test, made = tmp_path / "test_long.py", tmp_path / "made"
    test.write_text(SESSION)
    options = ["-s", "-n", "0", "-p", "no:cacheprovider", f"--rootdir={ROOT}", f"--basetemp={made}"]
    with _running("-m", "pytest", *options, test) as run:
        assert any("kube-apiserver" in each for each in _left_of(made))

        run.send_signal(number)

        assert run.wait(WAIT_SECONDS) == -number
        _await(lambda: not _left_of(made), lambda: _left_of(made))


@pytest.mark.parametrize("number", ENDS, ids=lambda number: number.name)
def test_processes_end_with_the_process_that_started_them_not_with_its_thread(
    tmp_path: Path, number: signal.Signals
) -> None:
    with _running("-c", STARTER, tmp_path) as starter:
        assert Daemons(tmp_path).running() == ["sleeper"]

        starter.send_signal(number)

        starter.wait(WAIT_SECONDS)
        _await(lambda: not Daemons(tmp_path).running(), lambda: _left_of(tmp_path))


def test_processes_that_were_stopped_in_order_leave_nobody_who_waits(tmp_path: Path) -> None:
    daemons = Daemons(tmp_path)
    daemons.end_with_this_process()
    daemons.start("sleeper", ["sleep", "600"])

    daemons.stop()

    assert not _left_of(tmp_path)
