"""The disk of this machine, where a checkpoint lies on its way to the store and back."""

import errno
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from spotproof_runtime.checkpoints.errors import CheckpointError
from spotproof_runtime.checkpoints.scratch import make_scratch

_FAULTS_OF_THE_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO}
_ADVICE = "make room there, or give a larger place as staging"


def new_directory(kind: str, parent: Path | None) -> Path:
    """A new directory for a local copy; `remove_scratch` removes it.

    Args:
        kind: what it is for, a word in its name.
        parent: where it is made, the system's temporary directory when None.

    Raises:
        CheckpointError: it cannot be made.
    """
    try:
        if parent is not None:
            parent.mkdir(parents=True, exist_ok=True)
        return make_scratch(kind, parent)
    except OSError as error:
        where = parent or "a temporary directory"
        raise CheckpointError(
            f"cannot make a directory in {where}: {error.strerror}; {_ADVICE}"
        ) from error


@contextmanager
def local_errors(path: Path) -> Generator[None, None, None]:
    """Says of a fault of the disk which local copy could not be written.

    Args:
        path: the copy; the error's own file is named where it has one.

    Raises:
        CheckpointError: the disk is full, for one; other errors are the program's own and stay.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in _FAULTS_OF_THE_DISK:
            raise
        where, why = error.filename or path, error.strerror or error
        raise CheckpointError(f"cannot write {where}: {why}; {_ADVICE}") from error
