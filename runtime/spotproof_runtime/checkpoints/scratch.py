"""Local directories that go with their process, however it ends.

Each is locked with `flock(2)` by the process that made it, and the kernel drops the lock with the
process. So one whose lock can be taken has lost its process to a kill. A lock may say nothing to
other machines that share the disk, so only those of this machine, since it was booted, are judged.
"""

import fcntl
import os
import platform
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

_TRIES = 10
"""How often a directory is made anew that another process took for a stale one."""

_locks: dict[Path, int] = {}
_looked: set[Path] = set()


def make_scratch(kind: str, parent: Path | None) -> Path:
    """Makes a locked directory; once for each `parent`, stale ones in it are removed first.

    Args:
        kind: what it is for, a word in its name.
        parent: where it is made, the system's temporary directory when None.

    Raises:
        OSError: it cannot be made.
    """
    within = Path(tempfile.gettempdir()) if parent is None else parent
    if within not in _looked:
        _looked.add(within)
        remove_stale(within)
    for _ in range(_TRIES):
        made = Path(tempfile.mkdtemp(prefix=f"{_prefix()}{kind}-", dir=within))
        lock = _locked(made)
        if lock is not None:
            _locks[made] = lock
            return made
    return Path(tempfile.mkdtemp(prefix=f"spotproof-{kind}-", dir=within))


def remove_scratch(directory: Path) -> None:
    """Removes a directory and lets go of its lock; it is no error if that does not succeed."""
    shutil.rmtree(directory, ignore_errors=True)
    lock = _locks.pop(directory, None)
    if lock is not None:
        os.close(lock)


def remove_stale(parent: Path) -> None:
    """Removes what killed processes of this machine have left in `parent`."""
    prefix = _prefix()
    with suppress(OSError), os.scandir(parent) as found:
        stale = [
            Path(each.path)
            for each in found
            if each.name.startswith(prefix) and each.is_dir(follow_symlinks=False)
        ]
        for directory in stale:
            lock = _locked(directory)
            if lock is not None:
                shutil.rmtree(directory, ignore_errors=True)
                os.close(lock)


def _locked(directory: Path) -> int | None:
    """The lock of a directory; None where another process holds it, or it is there no more."""
    try:
        lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.stat(directory).st_ino == os.fstat(lock).st_ino:
            return lock
    except OSError:
        pass
    os.close(lock)
    return None


def _prefix() -> str:
    """What the names of this machine begin with, until it is booted again."""
    try:
        machine = Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
    except OSError:
        machine = platform.node()
    return f"spotproof-{machine}-"
