"""Provider processes that live on without their engine, and may still be making something."""

import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sandbox.progress import elapsed, say
from spotproof_gke.stack_state.processes import commands, folder_of

WAIT_SECONDS = 360
"""A Go provider looks every 5 minutes whether its engine is there, and ends what it does first."""
_POLL_SECONDS = 0.5
_SAY_SECONDS = 20
_LOCAL = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Orphan:
    pid: int
    command: str


def orphaned_providers(project: Path) -> list[Orphan]:
    """The providers that an engine, now dead, started in a project's folder.

    A provider's last argument is its engine's address. Where a process's folder cannot be seen,
    as on macOS, providers of other projects count too.
    """
    return [
        Orphan(pid, " ".join(words))
        for pid, words in commands()
        if _is_provider(words) and _is_in(pid, project) and _engine_is_gone(words[-1])
    ]


def wait_for_orphans(
    find: Callable[[], list[Orphan]], seconds: float = WAIT_SECONDS
) -> list[Orphan]:
    """Waits until there are none, at most so long; returns those that are left."""
    started = said = time.monotonic()
    left = find()
    if left and seconds > 0:
        numbers = ", ".join(str(one.pid) for one in left)
        say(
            f"  the killed engine's provider still runs (process {numbers}) and may be finishing "
            f"what it has begun: waiting, at most {seconds:.0f} s"
        )
    while left and time.monotonic() - started < seconds:
        time.sleep(_POLL_SECONDS)
        left = find()
        if left and time.monotonic() - said > _SAY_SECONDS:
            said = time.monotonic()
            say(f"  … waiting for process {left[0].pid}: {elapsed(started)}")
    return left


def _is_provider(words: list[str]) -> bool:
    if os.path.basename(words[0]).startswith("pulumi-resource-"):
        return True
    return "sandbox.cloud.serve" in words


def _is_in(pid: int, project: Path) -> bool:
    folder = folder_of(pid)
    return folder is None or folder.is_relative_to(project.resolve())


def _engine_is_gone(address: str) -> bool:
    host, _, port = address.rpartition(":")
    if host not in _LOCAL or not port.isdigit():
        return False
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=1).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False
