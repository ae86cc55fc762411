"""A program in a process of its own, to be ended by real signals."""

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

LIMIT_SECONDS = 30
"""After this a test has failed; nothing waits for as long when all is well."""


@dataclass(frozen=True)
class Ended:
    """How a program ended.

    Attributes:
        code: exit code, -15 when it was ended by SIGTERM itself.
        seconds: from the last signal to its end.
        output: the lines that it printed.
        errors: all of standard error.
    """

    code: int
    seconds: float
    output: list[str]
    errors: str


class Program:
    """A Python program that is running."""

    def __init__(self, command: list[str], environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
            start_new_session=True,
            text=True,
        )
        self._output: list[str] = []
        self._errors: list[str] = []
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._readers = [
            threading.Thread(target=read, daemon=True)
            for read in (self._read, self._read_errors, self._wait)
        ]
        self._ended = 0.0
        for reader in self._readers:
            reader.start()
        self._signalled = time.monotonic()

    @property
    def pid(self) -> int:
        return self._process.pid

    def read_until(self, line: str) -> str:
        """Waits for a line that starts with `line` and returns the rest of it."""
        until = time.monotonic() + LIMIT_SECONDS
        try:
            while (found := self._lines.get(timeout=until - time.monotonic())) is not None:
                if found.startswith(line):
                    return found[len(line) :].strip()
        except queue.Empty:
            raise AssertionError(f"no {line!r} in {LIMIT_SECONDS} s") from None
        raise AssertionError(f"it ended without {line!r}: {self.end().errors}")

    def read_until_error(self, part: str) -> None:
        """Waits for a line on standard error with `part` in it."""
        until = time.monotonic() + LIMIT_SECONDS
        while not any(part in line for line in list(self._errors)):
            assert time.monotonic() < until, f"no {part!r} in {LIMIT_SECONDS} s"
            time.sleep(0.01)

    def send(self, signum: int, *, group: bool = False, pid: int | None = None) -> float:
        """Sends a signal and returns the monotonic time.

        Args:
            signum: which one.
            group: whether it goes to the whole process group.
            pid: the process that it goes to, when it is another one.
        """
        self._signalled = time.monotonic()
        if group:
            os.killpg(self.pid, signum)
        else:
            os.kill(pid or self.pid, signum)
        return self._signalled

    def end(self) -> Ended:
        """Waits for its end."""
        for reader in self._readers:
            reader.join(LIMIT_SECONDS)
        if self._ended == 0:
            raise AssertionError(f"it has not ended in {LIMIT_SECONDS} s")
        seconds = self._ended - self._signalled
        return Ended(self._process.returncode, seconds, self._output, "".join(self._errors))

    def _wait(self) -> None:
        # With a time limit it would look only every 50 ms.
        self._process.wait()
        self._ended = time.monotonic()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._output.append(line.rstrip("\n"))
            self._lines.put(self._output[-1])
        self._lines.put(None)

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._errors.append(line)

    def kill(self) -> None:
        """Ends it and its group by force."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            return


@contextmanager
def running(
    source: str | Path,
    *,
    prefix: Sequence[str] = (),
    options: Sequence[str] = (),
    **environment: str,
) -> Iterator[Program]:
    """Runs a program, and ends it when the block is left.

    Args:
        source: its text, or the file that holds it.
        prefix: a command to run it by.
        options: those of the interpreter.
        environment: variables besides those of this process.
    """
    what = ["-c", source] if isinstance(source, str) else [str(source)]
    program = Program([*prefix, sys.executable, "-u", *options, *what], environment)
    try:
        yield program
    finally:
        program.kill()
        program.end()


def interrupted(
    source: str | Path, *, group: bool = False, after_seconds: float = 0, **environment: str
) -> Ended:
    """Runs a program, sends SIGTERM when it has printed `ready`, and waits for its end.

    Args:
        source: its text, or the file that holds it.
        group: whether the signal goes to the whole process group.
        after_seconds: how long after that line.
        environment: variables besides those of this process.
    """
    with running(source, **environment) as program:
        program.read_until("ready")
        time.sleep(after_seconds)
        program.send(signal.SIGTERM, group=group)
        return program.end()
