"""Fixtures: a server for a test, one for the whole session, and places for checkpoints."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from spotproof_runtime.checkpoints import checkpoints as facade
from spotproof_runtime.checkpoints.directory_store import DirectoryStore
from spotproof_runtime.checkpoints.store import ObjectStore
from spotproof_runtime.stop import Stop
from tests.runtime.gcs.server import BUCKET, GcsServer

ROOT = Path(__file__).parents[3]


@pytest.fixture
def gcs(monkeypatch: pytest.MonkeyPatch) -> Iterator[GcsServer]:
    """A server in this process, which the client library is told of."""
    # When this process exits, the server is gone: there is nothing to tidy up.
    monkeypatch.setattr(facade, "when_exiting", lambda action: None)
    server = GcsServer(page_size=3).start()
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", server.url)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def gcs_process() -> Iterator[str]:
    """The address of a server in a process of its own."""
    command = [sys.executable, "-m", "tests.runtime.gcs"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


class Place:
    """A location for checkpoints, and what a test may do to it behind the library's back.

    Args:
        location: as a program gives it.
        files: the directory, or None for the server.
        server: the server, or None for a directory.
    """

    def __init__(self, location: str, files: Path | None, server: GcsServer | None) -> None:
        self.location = location
        self._files = files
        self._server = server

    def names(self) -> list[str]:
        """Names of all objects, relative to the location."""
        if self._server is not None:
            return [name.removeprefix("run/") for name in self._server.names("run/")]
        assert self._files is not None
        found = (path for path in self._files.rglob("*") if path.is_file())
        return sorted(path.relative_to(self._files).as_posix() for path in found)

    def name(self, part: str, step: int | None = None) -> str:
        """The only name that contains `part`, of the files of a step if one is given."""
        inside = "" if step is None else f"steps/{step:012d}/"
        found = [name for name in self.names() if part in name and inside in name]
        assert len(found) == 1, found
        return found[0]

    def content(self, name: str) -> bytes:
        if self._server is not None:
            return self._server.objects.get(BUCKET, f"run/{name}").content
        assert self._files is not None
        return (self._files / name).read_bytes()

    def spoil(self, name: str, content: bytes) -> None:
        """Replaces the content of an object that exists."""
        if self._server is not None:
            self._server.objects.spoil(BUCKET, f"run/{name}", content)
        else:
            assert self._files is not None
            (self._files / name).write_bytes(content)

    def remove(self, name: str) -> None:
        if self._server is not None:
            self._server.objects.delete(BUCKET, f"run/{name}", None)
        else:
            assert self._files is not None
            (self._files / name).unlink()


@pytest.fixture(params=["directory", "mounted", "gcs"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A directory, a mounted bucket, and a bucket."""
    if request.param == "gcs":
        server: GcsServer = request.getfixturevalue("gcs")
        return Place(f"gs://{BUCKET}/run", None, server)
    if request.param == "mounted":
        monkeypatch.setattr(facade, "open_store", _open_mounted)
    return Place(str(tmp_path / "run"), tmp_path / "run", None)


def _open_mounted(location: object, stop: Stop) -> ObjectStore:
    return DirectoryStore(Path(str(location)), no_link)


def no_link(source: Path, target: Path) -> None:
    """As in a mounted bucket: there are no hard links."""
    raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))


__all__ = ["Place", "gcs", "gcs_process", "no_link", "place"]
