"""Whose a lock is, whether that process lives, and which providers outlived their engine."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.recovery.orphans import Orphan, orphaned_providers, wait_for_orphans
from spotproof_gke.stack_state import processes
from spotproof_gke.stack_state.locks import (
    ELSEWHERE,
    GONE,
    RUNNING,
    Lock,
    locks_in_files,
    locks_in_refusal,
)
from tests.unit.fake_pulumi import REFUSAL, Fake, dead_process, lock_file

CLOUD_REFUSAL = "[409] Conflict: Another update is currently in progress."


@pytest.fixture(params=["proc", "ps"], autouse=True)
def source(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hosts without /proc, as macOS, are asked by `ps`; small containers have no `ps`."""
    if request.param == "ps":
        monkeypatch.setattr(processes, "_has_proc", lambda: False)
    else:
        monkeypatch.setattr(processes, "_ps", lambda *arguments: pytest.fail("ps is not needed"))


@pytest.mark.parametrize(
    ("alive", "at", "holder"),
    [
        (True, "2099-01-01T00:00:00Z", RUNNING),
        (True, "2020-01-01T00:00:00Z", GONE),
        (True, "?", RUNNING),
        (False, "2099-01-01T00:00:00Z", GONE),
    ],
)
def test_a_lock_of_this_host_is_gone_with_its_process(alive: bool, at: str, holder: str) -> None:
    lock = Lock("ann", socket.gethostname(), os.getpid() if alive else dead_process(), at)

    assert lock.holder == holder


def test_a_zombie_holds_no_lock() -> None:
    zombie = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    assert zombie.stdout is not None
    zombie.stdout.read()
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)

    assert Lock("ann", socket.gethostname(), zombie.pid, "2099-01-01T00:00:00Z").holder == GONE
    zombie.wait()


@pytest.mark.parametrize(
    ("text", "locks"),
    [
        ("error: no resource named 'urn' found", []),
        (REFUSAL, [Lock("ann", "build-7", 412, "2026-11-30T04:05:26Z",
                        "gs://state/.pulumi/locks/organization/spotproof/prod/7d2b.json")]),
        (f"error: {CLOUD_REFUSAL}", [Lock()]),
        (REFUSAL.splitlines()[0], [Lock()]),
    ],
)  # fmt: skip
def test_a_refusal_tells_who_has_the_lock(text: str, locks: list[Lock]) -> None:
    assert locks_in_refusal(text) == locks
    assert all(lock.holder == ELSEWHERE for lock in locks)


def test_waiting_ends_when_the_provider_does() -> None:
    answers = [[Orphan(1, "p")], [Orphan(1, "p")], []]

    assert wait_for_orphans(lambda: answers.pop(0), 60) == []


@pytest.mark.parametrize(("engine_lives", "found"), [(True, 0), (False, 1)])
def test_a_provider_without_its_engine_is_found_in_its_project(
    tmp_path: Path, engine_lives: bool, found: int
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        if not engine_lives:
            server.close()
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        provider = _provider(tmp_path, port)
        try:
            assert len(orphaned_providers(tmp_path)) == found
            assert orphaned_providers(elsewhere) == []
        finally:
            provider.kill()
            provider.wait()


def _provider(folder: Path, port: int) -> "subprocess.Popen[bytes]":
    """A process that looks like a provider, and runs: its last word is its engine's address."""
    code = "import time; print(flush=True); time.sleep(60)"
    provider = subprocess.Popen(
        ["pulumi-resource-gcp", "-SE", "-c", code, f"127.0.0.1:{port}"],
        executable=sys.executable,
        cwd=folder,
        stdout=subprocess.PIPE,
    )
    assert provider.stdout is not None
    provider.stdout.readline()
    return provider


@pytest.mark.parametrize("pid", [0, -1, 10**30])
def test_a_number_that_no_process_has_is_no_running_holder(tmp_path: Path, pid: int) -> None:
    backend = lock_file(Fake(tmp_path), pid)
    (lock,) = locks_in_files(Path(backend.removeprefix("file://")), "spotproof", "prod")
    assert lock.holder == ELSEWHERE
    assert "cannot be read" in lock.describe()
