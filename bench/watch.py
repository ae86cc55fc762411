"""Peak memory and CPU time of the processes behind a run, by what they are for.

The numbers are the kernel's own (VmHWM, user and system time), read from /proc until each process
ends; so the last moments of a process may be missed, at most `EVERY_SECONDS` of them.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

EVERY_SECONDS = 0.02
PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
# In this order: our language host has the name of the program's runner in its command.
_MARKS = {
    "provider": ("sandbox.cloud.serve", "bench.nothing"),
    "language host": ("sandbox.engine.language_python",),
    "program": ("pulumi-language-python-exec",),
    "pack": ("pulumi.policy",),
}


@dataclass
class Process:
    """What one process has used: peak memory in MB, CPU time in seconds."""

    role: str
    peak_mb: float = 0.0
    cpu: float = 0.0


@dataclass
class Watch:
    """The processes that were seen, by their ids."""

    processes: dict[int, Process] = field(default_factory=dict)

    def peak_mb(self, role: str) -> float:
        """The peak of the largest process of a role; 0 where none was seen."""
        return max((one.peak_mb for one in self._of(role)), default=0.0)

    def cpu(self, role: str) -> float:
        """The CPU time of all processes of a role together."""
        return sum(one.cpu for one in self._of(role))

    def _of(self, role: str) -> list[Process]:
        return [one for one in self.processes.values() if one.role == role]

    def look(self) -> None:
        """Reads all descendants of this process once."""
        for pid in _descendants(os.getpid()):
            try:
                role = _role((PROC / str(pid) / "cmdline").read_bytes())
                peak, cpu = _peak_mb(pid), _cpu_seconds(pid)
            except (OSError, ValueError, LookupError):
                continue  # it has ended meanwhile
            seen = self.processes.get(pid)
            if seen is None or seen.role != role:
                # A process is a copy of its parent until it starts its own program.
                seen = self.processes[pid] = Process(role)
            seen.peak_mb, seen.cpu = max(seen.peak_mb, peak), max(seen.cpu, cpu)


def is_possible() -> bool:
    """Whether this system tells peaks in /proc."""
    return (PROC / "self" / "status").is_file()


@contextmanager
def watching() -> Iterator[Watch]:
    """Watches the descendants of this process until the block ends."""
    watch, ended = Watch(), threading.Event()

    def keep_looking() -> None:
        while not ended.wait(EVERY_SECONDS):
            watch.look()

    thread = threading.Thread(target=keep_looking, daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        ended.set()
        thread.join()


def _descendants(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in os.listdir(PROC):
        if entry.isdigit():
            try:
                stat = (PROC / entry / "stat").read_text()
            except OSError:
                continue
            children.setdefault(int(_after_name(stat)[1]), []).append(int(entry))
    found, waiting = [], [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _after_name(stat: str) -> list[str]:
    """The fields after the name, which may itself hold blanks and brackets."""
    return stat.rpartition(")")[2].split()


def _role(command: bytes) -> str:
    words = command.decode(errors="replace").split("\0")
    if os.path.basename(words[0]) == "pulumi":
        return "engine"
    line = " ".join(words)
    return next((role for role, marks in _MARKS.items() if any(m in line for m in marks)), "other")


def _peak_mb(pid: int) -> float:
    for line in (PROC / str(pid) / "status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise LookupError("a process without memory has ended")


def _cpu_seconds(pid: int) -> float:
    fields = _after_name((PROC / str(pid) / "stat").read_text())
    return (int(fields[11]) + int(fields[12])) / _TICKS
