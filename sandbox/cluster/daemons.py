"""Processes that outlive the command which started them, unless they are told to end with it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sandbox.paths import ROOT
from spotproof_gke.stack_state.processes import age_seconds

GRACE_SECONDS = 20.0
_SAME_START_SECONDS = 2.0
_LOG_TAIL_CHARACTERS = 2000


class DaemonError(Exception):
    """A process ended, or did not do in time what was waited for; the text has its log's end."""


class Daemons:
    """The processes of one folder: their logs lie in it, and `processes.json` says who they are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._register = folder / "processes.json"
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._keeper: subprocess.Popen[bytes] | None = None

    def end_with_this_process(self) -> None:
        """Has the processes ended when this one is gone, also when it was killed.

        A process of its own waits for that. The kernel's own means would end them with the thread
        that started them, and is Linux's alone.
        """
        self._keeper = subprocess.Popen(
            [sys.executable, "-m", "sandbox.cluster.keeper", self.folder],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def start(
        self, name: str, command: Sequence[str | Path], env: Mapping[str, str] | None = None
    ) -> None:
        """Starts a process in a session of its own, so that a Ctrl-C does not reach it.

        Args:
            name: Its name in the register and of its log.
            command: The program and its arguments.
            env: Environment variables besides those of this process.
        """
        with self.log(name).open("wb") as log:
            child = subprocess.Popen(
                command,
                cwd=self.folder,
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._children[name] = child
        self._write({**self._read(), name: (child.pid, time.time())})

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def running(self) -> list[str]:
        """Names of the processes that are there, in the order of their start."""
        return [name for name, process in self._read().items() if _is_there(*process)]

    def wait(self, what: str, condition: Callable[[], bool], timeout_seconds: float) -> None:
        """Waits until `condition` holds.

        Raises:
            DaemonError: a process that this object started has ended, or the time is over.
        """
        deadline = time.monotonic() + timeout_seconds
        while not condition():
            for name, child in self._children.items():
                if child.poll() is not None:
                    raise DaemonError(
                        f"{name} ended with {child.returncode} ({self.log(name)}):\n"
                        f"{self.log(name).read_text(errors='replace')[-_LOG_TAIL_CHARACTERS:]}"
                    )
            if time.monotonic() > deadline:
                raise DaemonError(
                    f"{what} did not come within {timeout_seconds:.0f} s; the logs are in "
                    f"{self.folder}"
                )
            time.sleep(0.05)

    def stop(self) -> None:
        """Ends all processes, the last started first; harmless when repeated."""
        for name, (pid, started) in reversed(list(self._read().items())):
            _end(pid, started, self._children.get(name))
            self._children.pop(name, None)
        self._register.unlink(missing_ok=True)
        if self._keeper:
            self._keeper.kill()
            self._keeper.communicate()
            self._keeper = None

    def _read(self) -> Mapping[str, tuple[int, float]]:
        try:
            return json.loads(self._register.read_text())
        except (OSError, ValueError):
            return {}

    def _write(self, processes: Mapping[str, tuple[int, float]]) -> None:
        staging = self._register.with_suffix(".new")
        staging.write_text(json.dumps(processes))
        os.replace(staging, self._register)


def _is_there(pid: int, started: float) -> bool:
    """Whether the process is there, and not a later one of the same number."""
    age = age_seconds(pid)
    return age is not None and abs(time.time() - age - started) < _SAME_START_SECONDS


def _end(pid: int, started: float, child: "subprocess.Popen[bytes] | None") -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + GRACE_SECONDS
        if _is_there(pid, started):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        while time.monotonic() < deadline:
            if child:
                child.poll()
            if not _is_there(pid, started):
                return
            time.sleep(0.02)
