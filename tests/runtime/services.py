"""The real parts that tests of the queue need: Google's Pub/Sub emulator and PostgreSQL."""

import contextlib
import ctypes
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

EMULATOR_JARS = "/usr/lib/google-cloud-sdk/platform/pubsub-emulator/lib"
POSTGRES_BIN = "/usr/lib/postgresql/15/bin"
START_SECONDS = 60.0


class ServiceMissing(RuntimeError):
    """A service is not installed; the tests that need it fail, they are not skipped."""


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(ready: Callable[[], bool], what: str, seconds: float = START_SECONDS) -> None:
    """Waits until `ready()`; fails by naming what was waited for."""
    ends = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > ends:
            raise TimeoutError(f"not within {seconds:.0f} s: {what}")
        time.sleep(0.02)


def listens(port: int) -> bool:
    """Whether somebody answers on a port of this machine."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def end_with_parent(number: int) -> None:
    """Called in a child: the kernel sends it a signal when its parent is gone, however it went."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, number)  # PR_SET_PDEATHSIG


@contextlib.contextmanager
def pubsub_emulator() -> Iterator[str]:
    """Google's Pub/Sub emulator; gives `HOST:PORT` for PUBSUB_EMULATOR_HOST."""
    folder = Path(os.environ.get("SPOTPROOF_PUBSUB_EMULATOR_DIR", EMULATOR_JARS))
    jars = sorted(folder.glob("cloud-pubsub-emulator-*.jar"))
    java = shutil.which("java")
    if not jars or java is None:
        raise ServiceMissing(
            f"no Pub/Sub emulator (java: {java}, jar: {folder}/cloud-pubsub-emulator-*.jar). "
            "Install google-cloud-cli-pubsub-emulator and a Java runtime (default-jre-headless), "
            "or name the jar's folder in SPOTPROOF_PUBSUB_EMULATOR_DIR"
        )
    port = free_port()
    process = subprocess.Popen(
        [java, "-Xmx512m", "-jar", str(jars[-1]), "--host=127.0.0.1", f"--port={port}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=lambda: end_with_parent(signal.SIGKILL),
    )
    try:
        wait_for(lambda: process.poll() is not None or listens(port), "the emulator listens")
        if process.poll() is not None:
            raise RuntimeError(f"the Pub/Sub emulator ended at once with {process.returncode}")
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


class Postgres:
    """A PostgreSQL of its own in a temporary directory, that can be stopped and started."""

    def __init__(self, folder: Path) -> None:
        self._binaries = Path(os.environ.get("SPOTPROOF_POSTGRES_BIN", POSTGRES_BIN))
        if not (self._binaries / "postgres").exists():
            raise ServiceMissing(
                f"no PostgreSQL 15 in {self._binaries}. Install postgresql-15, or name the folder "
                "of its programs in SPOTPROOF_POSTGRES_BIN"
            )
        self._data = folder / "data"
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            self._user: str | None = _first_user("postgres", "nobody")
            shutil.chown(folder, self._user)
        else:
            self._user = None
        made = subprocess.run(
            [
                self._binaries / "initdb",
                *("-D", self._data, "-U", "worker", "-A", "trust", "-E", "UTF8"),
                *("--no-sync", "--locale=C"),
            ],
            capture_output=True,
            text=True,
            user=self._user,
            cwd="/",
        )
        if made.returncode:
            raise RuntimeError(f"initdb failed: {made.stderr}")

    @property
    def url(self) -> str:
        """Address for psycopg; the password is there to see that nobody shows it."""
        return f"postgresql://worker:hunter2-secret@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        """Starts the server and waits until it answers."""
        self._process = subprocess.Popen(
            [
                self._binaries / "postgres",
                *("-D", self._data, "-p", str(self._port), "-h", "127.0.0.1", "-k", ""),
                *("-c", "fsync=off", "-c", "max_connections=60", "-c", "shared_buffers=32MB"),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            user=self._user,
            cwd="/",
            preexec_fn=lambda: end_with_parent(signal.SIGINT),
        )
        wait_for(self._answers, "PostgreSQL answers")

    def stop(self) -> None:
        """Stops the server at once: sessions end, committed rows stay."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self._process.send_signal(signal.SIGQUIT)
                self._process.wait(timeout=20)
            self._process = None

    def _answers(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            raise RuntimeError(f"PostgreSQL ended at once with {self._process.returncode}")
        command = [self._binaries / "pg_isready", "-h", "127.0.0.1", "-p", str(self._port)]
        return subprocess.run(command, capture_output=True, cwd="/").returncode == 0


@contextlib.contextmanager
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL that runs."""
    # Another user runs it, who may not enter the folders of a test.
    folder = Path(tempfile.mkdtemp(prefix="spotproof-postgres-", dir="/tmp"))
    folder.chmod(0o755)
    server = None
    try:
        server = Postgres(folder)
        server.start()
        yield server
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _first_user(*names: str) -> str:
    for name in names:
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    raise RuntimeError(f"no user of {names} to run PostgreSQL as: it refuses root")
