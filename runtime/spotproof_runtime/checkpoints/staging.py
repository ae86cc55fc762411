"""A checkpoint on its way: files that a program has written into a local directory."""

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from spotproof_runtime.checkpoints.errors import CheckpointError, SaveFailedError
from spotproof_runtime.checkpoints.local_copies import local_errors, new_directory
from spotproof_runtime.checkpoints.scratch import remove_scratch

MAX_PATH_BYTES = 400
"""The longest path of a file within a checkpoint; an object's name has at most 1024 bytes."""


@dataclass(frozen=True)
class StagedFile:
    """A file as it was when `write` returned.

    Attributes:
        path: relative to the directory, with slashes.
        size_bytes: its size then.
        changed_ns: when it had last been changed then.
    """

    path: str
    size_bytes: int
    changed_ns: int


@dataclass(frozen=True)
class Notes:
    """What a commit says beside its files; JSON.

    Attributes:
        data_position: where the data stood, as the program gave it.
        metadata: what else the program gave.
        history: what the run has measured, as `History.mapping` writes it.
    """

    data_position: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    history: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def check(self, step: int) -> None:
        """Raises `SaveFailedError` when the program gave what JSON cannot hold."""
        for name, value in (("data_position", self.data_position), ("metadata", self.metadata)):
            try:
                json.dumps(value, allow_nan=False)
            except (TypeError, ValueError, RecursionError) as error:
                raise SaveFailedError(
                    step,
                    f"cannot save step {step}: {name} is no JSON ({error}); give plain numbers, "
                    "texts, lists and dictionaries, and write the rest into a file",
                ) from None


@dataclass(frozen=True)
class Staged:
    """A state in a local directory, not yet in the store.

    Attributes:
        step: how many steps the state has behind it.
        directory: where its files are.
        files: all of them.
        folders: folders without files.
        write_seconds: how long `write` took.
        notes: what the commit says beside its files.
    """

    step: int
    directory: Path
    files: tuple[StagedFile, ...]
    folders: tuple[str, ...]
    write_seconds: float
    notes: Notes

    def unchanged(self, file: StagedFile) -> bool:
        """Whether `file` is still as it was when `write` returned."""
        try:
            status = (self.directory / file.path).stat()
        except OSError:
            return False
        return (status.st_size, status.st_mtime_ns) == (file.size_bytes, file.changed_ns)

    def discard(self) -> None:
        """Removes the directory."""
        remove_scratch(self.directory)


def stage(
    step: int,
    write: Callable[[Path], object],
    parent: Path | None,
    clock: Callable[[], float],
    notes: Notes,
) -> Staged:
    """Has `write` fill a new directory and takes down what is in it.

    Args:
        step: how many steps the state has behind it.
        write: gets the directory.
        parent: where the directory is made, the system's temporary one when None.
        clock: monotonic seconds.
        notes: what the commit says beside its files.

    Raises:
        SaveFailedError: there is nothing in it, or something that cannot be kept, or no room.
    """
    notes.check(step)
    try:
        directory = new_directory(f"save-{step}", parent)
        try:
            begun = clock()
            with local_errors(directory):
                write(directory)
            files, folders = _inventory(step, directory)
            return Staged(step, directory, files, folders, clock() - begun, notes)
        except BaseException:
            remove_scratch(directory)
            raise
    except SaveFailedError:
        raise
    except CheckpointError as error:
        why = f"cannot save step {step}: {error}"
        raise SaveFailedError(step, why) from (error.__cause__ or error)


def _inventory(step: int, directory: Path) -> tuple[tuple[StagedFile, ...], tuple[str, ...]]:
    files: list[StagedFile] = []
    folders: list[str] = []
    problems: list[str] = []
    for entry in _entries(directory):
        path = PurePosixPath(os.path.relpath(entry.path, directory)).as_posix()
        fault = _fault(entry, path)
        if fault:
            problems.append(f"{path!r}: {fault}")
        elif entry.is_dir():
            if not any(os.scandir(entry.path)):
                folders.append(path)
        else:
            status = entry.stat()
            files.append(StagedFile(path, status.st_size, status.st_mtime_ns))
    if not files and not problems:
        problems.append("write put no file into the directory it was given; write the state there")
    if problems:
        raise SaveFailedError(step, f"cannot save step {step}: " + "; ".join(problems[:10]))
    return tuple(sorted(files, key=lambda file: file.path)), tuple(sorted(folders))


def _entries(directory: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(directory) as found:
        for entry in found:
            yield entry
            if entry.is_dir(follow_symlinks=False):
                yield from _entries(Path(entry.path))


def _fault(entry: os.DirEntry[str], path: str) -> str | None:
    """Why an entry cannot be kept; a link to a file is kept as the file that it leads to."""
    if not _is_text(path):
        return "its name is no UTF-8 or has a line break; rename it"
    if len(path.encode()) > MAX_PATH_BYTES:
        return f"its path has more than {MAX_PATH_BYTES} bytes; shorten it"
    if entry.is_symlink():
        if not os.path.exists(entry.path):
            return "the link leads nowhere; write the file itself"
        if entry.is_dir():
            return "it is a link to a directory; write the files themselves"
    if not entry.is_dir() and not stat.S_ISREG(entry.stat().st_mode):
        return "it is neither a file nor a directory; write only those"
    return None


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return "\n" not in path and "\r" not in path
