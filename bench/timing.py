"""How long a command takes: wall time, and the CPU time of it and everything that it started."""

import ctypes
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

STRAGGLERS_SECONDS = 30
_SET_CHILD_SUBREAPER = 36


class BenchError(Exception):
    """A measurement is not possible; the text says what happened."""


@dataclass(frozen=True)
class Sample:
    """One run.

    Attributes:
        wall: seconds from start to end.
        cpu: seconds of user and system time, those of plugins, programs and packs included.
    """

    wall: float
    cpu: float


def adopt_orphans() -> bool:
    """Makes plugins that outlive their engine children of this process, so that all count.

    Returns:
        Whether the system can do it; only Linux can.
    """
    if sys.platform != "linux":
        return False
    return ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def timed(command: Sequence[str | Path], cwd: Path, env: Mapping[str, str], output: Path) -> Sample:
    """Runs a command, its output going to a file, and waits for all that it started.

    Raises:
        BenchError: it failed; the text holds the end of its output.
    """
    before = _children_cpu()
    with output.open("wb") as file:
        started = time.monotonic()
        process = subprocess.Popen(
            command, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=file, stderr=file
        )
        code = process.wait()
        wall = time.monotonic() - started
    _reap_stragglers()
    if code != 0:
        shown = " ".join(str(part) for part in command)
        tail = "\n".join(output.read_text(errors="replace").strip().splitlines()[-20:])
        raise BenchError(f"`{shown}` ended with {code}:\n{tail}")
    return Sample(wall, _children_cpu() - before)


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _reap_stragglers() -> None:
    """The next run must not share the machine with what is left of this one."""
    deadline = time.monotonic() + STRAGGLERS_SECONDS
    while time.monotonic() < deadline:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            time.sleep(0.02)


@dataclass(frozen=True)
class Ratio:
    """The median of ratios of runs that were made one after the other, with the extremes."""

    median: float
    least: float
    most: float


def ratio(pairs: Sequence[tuple[float, float]]) -> Ratio:
    """How much more the first of each pair is than the second."""
    return spread([first / second for first, second in pairs])


def spread(values: Sequence[float]) -> Ratio:
    """Median and extremes of ratios that were taken otherwise."""
    return Ratio(median(values), min(values), max(values))
