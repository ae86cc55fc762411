"""One run at a time in a sandbox."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class BusyError(Exception):
    """Another run uses the sandbox; the text says which process."""


@contextmanager
def only_run(folder: Path, name: str) -> Iterator[None]:
    """Keeps a sandbox's folder for this process, by a lock file beside it.

    Raises:
        BusyError: another run has it.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            process = file.read().strip() or "just started"
            raise BusyError(
                f"{name} is running (process {process}). Wait for its end, or stop it."
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
