"""SIGTERM while a program starts, also as the first process of a container."""

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.runtime.program import LIMIT_SECONDS, Ended, Program, running

OWN_NAMESPACE = ["unshare", "--pid", "--fork", "--kill-child"]

SLOW_IMPORT = """
print("ready")
import time
time.sleep(1)  # in place of an import that takes long
from spotproof_runtime import Interruption
with Interruption() as stop:
    print("started", stop.wait(1))
"""

FIRST_LINE = """
from spotproof_runtime import Interruption
with Interruption() as stop:
    print("ready")
    import time
    time.sleep(1)
    stop.exit_if_requested()
    print("started")
"""


def _namespaces() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*OWN_NAMESPACE, "true"], capture_output=True).returncode == 0


FIRST_PROCESS = pytest.mark.skipif(not _namespaces(), reason="needs a PID namespace, so root")


def child_of(program: Program) -> int:
    children = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
    return int(children[0])


def as_first_process(source: str, tmp_path: Path, *, by_run: bool) -> Ended:
    """Runs a program as the first process of a container and sends it SIGTERM when it is ready."""
    path = tmp_path / "program.py"
    path.write_text(source)
    module = ["-m", "spotproof_runtime.run"] if by_run else []
    with running(path, prefix=OWN_NAMESPACE, options=module) as program:
        program.read_until("ready")
        program.send(signal.SIGTERM, pid=child_of(program))
        return program.end()


@FIRST_PROCESS
def test_the_first_process_of_a_container_does_not_hear_sigterm_before_its_interruption(
    tmp_path: Path,
) -> None:
    ended = as_first_process(SLOW_IMPORT, tmp_path, by_run=False)
    assert (ended.code, ended.output[-1]) == (0, "started False"), "then `run` is of no use"


@FIRST_PROCESS
@pytest.mark.parametrize(
    ("source", "by_run"), [(SLOW_IMPORT, True), (FIRST_LINE, False), (FIRST_LINE, True)]
)
def test_a_program_can_be_ended_while_it_imports(source: str, by_run: bool, tmp_path: Path) -> None:
    ended = as_first_process(source, tmp_path, by_run=by_run)
    assert (ended.code, ended.output) == (143, ["ready"]), ended.errors


def test_an_interruption_takes_over_from_run(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("""
from spotproof_runtime import Interruption
with Interruption() as stop:
    print("ready")
    print("saving", stop.wait(60))
""")
    with running(path, options=["-m", "spotproof_runtime.run"]) as program:
        program.read_until("ready")
        program.send(signal.SIGTERM)
        ended = program.end()
    assert (ended.code, ended.output[-1]) == (143, "saving True")


@pytest.mark.parametrize("milliseconds", [50, 100])
def test_sigterm_just_after_the_start_of_the_interpreter_ends_the_program(
    milliseconds: int,
) -> None:
    text = "from spotproof_runtime import Interruption\nwith Interruption() as stop: stop.wait(60)"
    with running(text) as program:
        time.sleep(milliseconds / 1000)
        program.send(signal.SIGTERM)
        ended = program.end()
    assert ended.code in (143, -signal.SIGTERM), ended.errors
    assert ended.seconds < 10


def test_run_gives_a_program_its_arguments_and_folder(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("NAME = 'beside'")
    path = tmp_path / "program.py"
    path.write_text("import sys, beside\nprint(__name__, sys.argv, beside.NAME)\nsys.exit(3)")
    for target, argv0 in ((str(path), str(path)), ("-m program", str(path))):
        found = subprocess.run(
            [sys.executable, "-m", "spotproof_runtime.run", *target.split(), "--epochs", "3"],
            capture_output=True, text=True, cwd=tmp_path, timeout=LIMIT_SECONDS,
        )  # fmt: skip
        assert found.stdout.strip() == f"__main__ {[argv0, '--epochs', '3']} beside", found.stderr
        assert found.returncode == 3


@pytest.mark.parametrize("arguments", [[], ["-m"], ["--help"], ["/no/such/program.py"]])
def test_run_without_a_program_says_how_it_is_used(arguments: list[str]) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "spotproof_runtime.run", *arguments],
        capture_output=True, text=True, timeout=LIMIT_SECONDS,
    )  # fmt: skip
    assert found.returncode == 1
    assert "usage: python -m spotproof_runtime.run" in found.stderr
    assert "Traceback" not in found.stderr
