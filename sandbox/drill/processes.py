"""Nothing is left behind: signals that end a drill in order, and processes that end with it."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType

from sandbox.progress import say
from spotproof_gke.stack_state.processes import commands, folder_of

ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
GRACE_SECONDS = 20.0


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Turns the first signal that asks for an end into `KeyboardInterrupt`; more are passed over.

    What ends in order must not be interrupted in that.
    """
    asked: list[int] = []

    def ask(number: int, frame: FrameType | None) -> None:
        if asked:
            say("still stopping: what the drill started is being ended")
            return
        asked.append(number)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, ask) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_to_end(command: Sequence[str | Path], cwd: Path, env: Mapping[str, str]) -> tuple[int, str]:
    """Code and output of a command, none of whose processes outlives this call.

    An interrupt is passed on, and the command has some time to end in its own order.
    """
    child = subprocess.Popen(
        command,
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = child.communicate()
        return child.returncode, output
    except BaseException:
        child.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.communicate(timeout=GRACE_SECONDS)
        raise
    finally:
        _end_session(child.pid)
        child.wait()


def end_children_in(folder: Path) -> None:
    """Ends each process that this one started and that works in a folder or below."""
    deadline = time.monotonic() + GRACE_SECONDS
    number = signal.SIGTERM
    while found := [pid for pid, _ in commands() if _is_child_in(pid, folder)]:
        if time.monotonic() > deadline:
            number = signal.SIGKILL
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.05)


def _end_session(session: int) -> None:
    """Kills what is left of a session; a plugin of the engine leads a group of its own in it."""
    for pid, _ in commands():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getsid(pid) == session:
                os.kill(pid, signal.SIGKILL)


def _is_child_in(pid: int, folder: Path) -> bool:
    where = folder_of(pid)
    if where is None or not (where == folder or folder in where.parents):
        return False
    try:
        status = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return int(status[1]) == os.getpid() and status[0] != "Z"
