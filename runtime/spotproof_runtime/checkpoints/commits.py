"""The commit of a checkpoint: one object that says what the checkpoint is made of.

A location holds `commits/STEP.json`, written last and never over another one, and the files under
`steps/STEP/ATTEMPT/`, whose names are used once only. A checkpoint exists when its commit does.
"""

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, cast

FORMAT = 1
"""The form of a commit that this release writes and reads."""

COMMITS = "commits/"
PAYLOADS = "steps/"

MAX_COMMIT_BYTES = 64 << 20
"""The largest commit that is read; one of 100,000 files has about 15 MB."""

_COMMIT = re.compile(r"commits/([0-9]{12})\.json")
_ATTEMPT = re.compile(r"[0-9a-f]{32}")
_CRC32C = re.compile(r"[A-Za-z0-9+/]{6}==")


class MalformedCommitError(ValueError):
    """The content of a commit is not what this library writes."""


class NewerCommitError(ValueError):
    """The commit has a form that only a newer release knows."""


@dataclass(frozen=True)
class CommittedFile:
    """A file of a checkpoint.

    Attributes:
        path: where `write` put it, relative to its directory.
        size_bytes: its size.
        crc32c: its CRC-32C in Base64.
        generation: that of its object when it was written; a copy of the run has others.
    """

    path: str
    size_bytes: int
    crc32c: str
    generation: int


@dataclass(frozen=True)
class Commit:
    """A checkpoint that is there.

    Attributes:
        step: how many steps its state has behind it.
        attempt: the one try to save it that its files belong to.
        files: all of its files.
        folders: folders without files.
        saved_at: when it was committed, seconds since 1970.
        runtime_version: release of this library that wrote it.
        data_position: where the data stood, as the program gave it.
        metadata: what else the program gave.
        history: what the run has measured, as `History.mapping` writes it.
    """

    step: int
    attempt: str
    files: tuple[CommittedFile, ...]
    folders: tuple[str, ...] = ()
    saved_at: float = 0.0
    runtime_version: str = ""
    data_position: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    history: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def name(self) -> str:
        """Name of the commit's object."""
        return commit_name(self.step)

    @property
    def payload(self) -> str:
        """What the names of the files' objects begin with."""
        return payload_prefix(self.step, self.attempt)

    @property
    def size_bytes(self) -> int:
        """Size of all files together."""
        return sum(file.size_bytes for file in self.files)


def commit_name(step: int) -> str:
    """Name of the commit of `step`; names sort as steps do."""
    return f"{COMMITS}{step:012d}.json"


def payload_prefix(step: int, attempt: str) -> str:
    """What the names of the files' objects begin with."""
    return f"{PAYLOADS}{step:012d}/{attempt}/"


def new_attempt() -> str:
    """A name that no try to save has had before."""
    return uuid.uuid4().hex


def step_of(name: str) -> int | None:
    """The step whose commit has this name, None when it is no commit's name."""
    found = _COMMIT.fullmatch(name)
    return int(found[1]) if found else None


def encode(commit: Commit) -> bytes:
    """The content of a commit's object."""
    files = [
        {
            "path": file.path,
            "size_bytes": file.size_bytes,
            "crc32c": file.crc32c,
            "generation": file.generation,
        }
        for file in commit.files
    ]
    content = {
        "format": FORMAT,
        "step": commit.step,
        "attempt": commit.attempt,
        "saved_at": commit.saved_at,
        "runtime_version": commit.runtime_version,
        "data_position": commit.data_position,
        "metadata": dict(commit.metadata),
        "history": dict(commit.history),
        "folders": list(commit.folders),
        "files": files,
    }
    return json.dumps(content, allow_nan=False, indent=1).encode()


def decode(content: bytes, step: int) -> Commit:
    """Reads a commit and trusts nothing in it.

    Args:
        content: that of the commit's object.
        step: the step that the object's name says.

    Raises:
        NewerCommitError: a newer release wrote it.
        MalformedCommitError: it is not a commit of `step`.
    """
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise MalformedCommitError(f"its commit is no JSON ({error})") from None
    top = _mapping(found)
    form = _integer(top, "format", least=1)
    if form > FORMAT:
        raise NewerCommitError(f"its commit has format {form}, this release knows up to {FORMAT}")
    if _integer(top, "step") != step:
        raise MalformedCommitError(f"its commit is of step {top['step']}")
    attempt = _text(top, "attempt")
    if not _ATTEMPT.fullmatch(attempt):
        raise MalformedCommitError(f"its commit names the attempt {attempt[:50]!r}")
    files = tuple(_file(_mapping(each)) for each in _sequence(top, "files"))
    folders = tuple(_inner_path(each) for each in _sequence(top, "folders"))
    if not files:
        raise MalformedCommitError("its commit has no files")
    _no_clash([file.path for file in files], folders)
    return Commit(
        step=step,
        attempt=attempt,
        files=files,
        folders=folders,
        saved_at=_number(top, "saved_at"),
        runtime_version=_text(top, "runtime_version"),
        data_position=top.get("data_position"),
        metadata=_mapping(top.get("metadata")),
        history=_mapping(top.get("history")),
    )


def _file(found: dict[str, Any]) -> CommittedFile:
    crc32c = _text(found, "crc32c")
    if not _CRC32C.fullmatch(crc32c):
        raise MalformedCommitError(f"its commit has the checksum {crc32c[:50]!r}")
    return CommittedFile(
        path=_inner_path(found.get("path")),
        size_bytes=_integer(found, "size_bytes"),
        crc32c=crc32c,
        generation=_integer(found, "generation"),
    )


def _inner_path(found: object) -> str:
    """A path that stays inside the checkpoint, written in the one way that is usual."""
    path = found if isinstance(found, str) else ""
    pure = PurePosixPath(path)
    if not pure.parts or pure.is_absolute() or ".." in pure.parts or str(pure) != path:
        raise MalformedCommitError(f"its commit names a file outside of it, {str(found)[:100]!r}")
    if "\0" in path:
        raise MalformedCommitError("its commit names a file with a zero byte")
    try:
        path.encode()
    except UnicodeEncodeError:
        raise MalformedCommitError("its commit names a file in no Unicode") from None
    return path


def _no_clash(paths: list[str], folders: tuple[str, ...]) -> None:
    seen = set(paths)
    parents = {str(parent) for path in (*paths, *folders) for parent in PurePosixPath(path).parents}
    parents.update(folders)
    if len(seen) != len(paths) or seen & parents:
        raise MalformedCommitError("its commit names a file twice")


def _mapping(found: object) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise MalformedCommitError("its commit is no commit of this library")
    return cast(dict[str, Any], found)


def _sequence(found: dict[str, Any], key: str) -> list[Any]:
    value = found.get(key)
    if not isinstance(value, list):
        raise MalformedCommitError(f"its commit has no {key}")
    return cast(list[Any], value)


def _integer(found: dict[str, Any], key: str, least: int = 0) -> int:
    value = found.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise MalformedCommitError(f"its commit has no {key}")
    return value


def _number(found: dict[str, Any], key: str) -> float:
    value = found.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedCommitError(f"its commit has no {key}")
    try:
        return float(value)
    except OverflowError:
        raise MalformedCommitError(f"its commit has no {key}") from None


def _text(found: dict[str, Any], key: str) -> str:
    value = found.get(key)
    if not isinstance(value, str):
        raise MalformedCommitError(f"its commit has no {key}")
    return value
