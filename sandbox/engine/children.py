"""Child processes that never outlive the call, or the process, that started them."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

GRACE_SECONDS = 2.0


class Children:
    """Starts children in process groups of their own and can end all of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._closed = False

    def start(
        self,
        command: Sequence[str | Path],
        cwd: str,
        env: Mapping[str, str],
        stdout: int | None = None,
        stderr: int | None = None,
    ) -> "subprocess.Popen[bytes]":
        """Starts a child; its group is ended with `end` or `end_all`.

        Raises:
            OSError: it could not be started.
            RuntimeError: `end_all` has been called.
        """
        with self._lock:
            if self._closed:
                raise RuntimeError("the engine is stopping")
            child = subprocess.Popen(
                command,
                cwd=cwd,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
            self._running[child.pid] = child
        return child

    def wait(self, child: "subprocess.Popen[bytes]") -> int:
        """Waits for a child, and ends what it left running in its group."""
        code = child.wait()
        self.end(child)
        return code

    def end(self, child: "subprocess.Popen[bytes]") -> None:
        """Ends a child's group: SIGTERM, then SIGKILL for what is there after the grace."""
        if child.pid in self._running:
            _end([child])
            self._running.pop(child.pid, None)

    def end_all(self) -> None:
        """Ends every group, and lets no child be started any more."""
        with self._lock:
            self._closed = True
            children = list(self._running.values())
        _end(children)


def _end(children: Sequence["subprocess.Popen[bytes]"]) -> None:
    alive = [child for child in children if _signal(child, signal.SIGTERM)]
    deadline = time.monotonic() + GRACE_SECONDS
    while alive and time.monotonic() < deadline:
        for child in alive:
            child.poll()  # a dead child that nobody reaped would count as a member of its group
        alive = [child for child in alive if _signal(child, 0)]
        time.sleep(0.02)
    for child in alive:
        _signal(child, signal.SIGKILL)


def _signal(child: "subprocess.Popen[bytes]", number: int) -> bool:
    """Signals the child's group; false when nobody is left in it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)
        return True
    return False


def when_orphaned(action: Callable[[], None], every_seconds: float = 0.5) -> None:
    """Calls an action, in a thread, once the process that started this one is gone."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(every_seconds)
        action()

    threading.Thread(target=watch, daemon=True).start()
