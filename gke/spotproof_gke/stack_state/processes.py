"""The processes of this host: from /proc, else from `ps`; small containers have no `ps`."""

import math
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_STATE, _STARTED = 0, 19
"""Fields of /proc/PID/stat behind the name in brackets: the state, and the start in ticks."""


def commands() -> Iterator[tuple[int, list[str]]]:
    """All processes that can be seen: number and words of the command."""
    if not _has_proc():
        for line in _ps("-axww", "-o", "pid=,args=").splitlines():
            number, _, command = line.strip().partition(" ")
            yield int(number), command.split()
        return
    for folder in _PROC.iterdir():
        if folder.name.isdigit() and (text := _read(folder / "cmdline")):
            yield int(folder.name), text.rstrip("\0").split("\0")


def folder_of(pid: int) -> Path | None:
    """The folder that a process works in; None where that cannot be seen."""
    try:
        return Path(os.readlink(_PROC / str(pid) / "cwd"))
    except OSError:
        return None


def age_seconds(pid: int) -> float | None:
    """How long a process has been running: None when it is gone, infinite when nothing tells."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:
        pass  # it is there, and another user's
    return _age_in_proc(pid) if _has_proc() else _age_by_ps(pid)


def _age_in_proc(pid: int) -> float | None:
    fields = _read(_PROC / str(pid) / "stat").rpartition(")")[2].split()
    booted = [line for line in _read(_PROC / "stat").splitlines() if line.startswith("btime ")]
    if len(fields) <= _STARTED or not booted:
        return math.inf
    if fields[_STATE] == "Z":
        return None
    started = int(booted[0].split()[1]) + int(fields[_STARTED]) / os.sysconf("SC_CLK_TCK")
    return time.time() - started


def _age_by_ps(pid: int) -> float | None:
    shown = _ps("-o", "stat=,etime=", "-p", str(pid)).split()
    if len(shown) != 2:
        return math.inf
    if shown[0].startswith("Z"):
        return None
    days, _, clock = shown[1].rpartition("-")
    seconds = 0
    for part in clock.split(":"):
        seconds = seconds * 60 + int(part)
    return int(days or 0) * 86400 + seconds


def _has_proc() -> bool:
    return (_PROC / "self" / "stat").exists()


def _read(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""


def _ps(*arguments: str) -> str:
    try:
        return subprocess.run(["ps", *arguments], capture_output=True, text=True).stdout
    except OSError:
        return ""
