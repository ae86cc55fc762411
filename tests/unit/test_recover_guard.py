"""A stack that needs a recovery is changed by nothing else first."""

import json
import os
import socket
from pathlib import Path

import pytest

from sandbox import __main__ as launcher
from sandbox import real
from sandbox.__main__ import main
from sandbox.engine import Engine
from sandbox.environment import Sandbox
from sandbox.recovery import recover as module
from sandbox.recovery.guard import NeedsRecoveryError, guard
from sandbox.recovery.recover import Options, RecoveryError, recover
from tests.unit.fake_pulumi import Fake, dead_process, killed, lock_file, nobody

YES = Options(yes=True)


@pytest.mark.parametrize("action", ["up", "refresh", "destroy"])
def test_a_changing_command_says_to_recover_first(tmp_path: Path, action: str) -> None:
    fake = killed(Fake(tmp_path))

    with pytest.raises(NeedsRecoveryError, match="make recover STACK=prod") as refused:
        guard(fake.pulumi(), action, [])

    assert "creating gcp:storage/bucket:Bucket 'bucket'" in str(refused.value)
    assert fake.calls == [["stack", "export", "-s", "prod"]], "one cheap look, and no more"


def test_locks_in_files_hold_up_a_changing_command(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    backend = lock_file(fake, dead_process())
    with pytest.raises(NeedsRecoveryError, match=r"was killed.*\n.*which is gone"):
        guard(fake.pulumi(backend), "up", [])

    lock = tmp_path / "backend-files/.pulumi/locks/organization/spotproof/prod/1.json"
    lock.write_text(lock.read_text().replace(socket.gethostname(), "build-7"))
    with pytest.raises(NeedsRecoveryError, match=r"locked by .*ann@build-7.*if it is dead"):
        guard(fake.pulumi(backend), "up", [])

    lock.unlink()
    with pytest.raises(NeedsRecoveryError, match=f"is being changed.*kill {os.getpid()}"):
        guard(fake.pulumi(lock_file(fake, os.getpid())), "up", [])


def test_a_preview_is_told_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    guard(killed(Fake(tmp_path)).pulumi(), "preview", [])

    assert "note: an update of stack 'prod' was killed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("action", "extra"),
    [
        ("up", ["--help"]),
        ("refresh", ["--clear-pending-creates"]),
        ("refresh", ["--import-pending-creates=urn", "--import-pending-creates=id"]),
        ("destroy", ["--preview-only"]),
    ],
)
def test_a_person_who_settles_it_or_only_reads_is_not_held_up(
    tmp_path: Path, action: str, extra: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    guard(killed(Fake(tmp_path)).pulumi(), action, extra)

    assert capsys.readouterr().err == ""


def test_a_stack_that_cannot_be_read_is_left_to_the_command(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    fake.write("fail-stack-export", "error: no stack named 'prod' found")

    guard(fake.pulumi(), "up", [])

    with pytest.raises(RecoveryError, match="cannot be read:\nerror: no stack named 'prod' found"):
        recover(fake.pulumi(), YES, nobody())


@pytest.fixture
def real_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """The stack `prod` of this project, with its state in a bucket."""
    fake = Fake(tmp_path)
    engine = Engine(fake.executable, "v3.280.0", "path", "")
    monkeypatch.setattr(real, "ensure", lambda official: engine)
    monkeypatch.setattr(real, "GENERATED", tmp_path)
    monkeypatch.setattr(module, "orphaned_providers", lambda project: [])
    for name in ("PULUMI_BACKEND_URL", "SPOTPROOF_SANDBOX_DIR", "YES"):
        monkeypatch.delenv(name, raising=False)
    return fake


def test_up_of_a_real_stack_stops_before_the_command(
    real_stack: Fake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begun: list[list[str]] = []
    monkeypatch.setattr(os, "execve", lambda path, words, environment: begun.append(words))
    monkeypatch.setattr(os, "chdir", lambda folder: None)
    killed(real_stack)

    assert main(["up", "--stack", "prod"]) == 1
    assert begun == []
    error = capsys.readouterr().err
    assert "error: an update of stack 'prod' was killed, and has left:" in error
    assert "Run `make recover STACK=prod`" in error

    real_stack.has([])
    assert main(["up", "--stack", "prod"]) == 0
    assert begun == [real.command("up", "prod")]


def test_a_real_stack_is_recovered_by_the_users_own_pulumi(
    real_stack: Fake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    killed(real_stack).in_cloud("acme-data")
    assert main(["recover", "--stack", "acme/prod"]) == 1
    assert "make recover STACK=acme/prod YES=1" in capsys.readouterr().err
    assert real_stack.changes == []

    monkeypatch.setenv("YES", "1")
    assert main(["recover", "--stack", "acme/prod"]) == 0

    assert real_stack.changes == [
        "cancel -s acme/prod --yes",
        "stack import -s acme/prod",
        "refresh -s acme/prod --yes --skip-preview",
    ]
    assert real_stack.calls[-1] == real.command("preview", "acme/prod")[1:]
    assert [one.name[:9] for one in (real_stack.folder / "recovery").iterdir()] == ["acme-prod"]


def test_a_stack_in_a_sandbox_keeps_its_lock_until_it_is_recovered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = Fake(tmp_path)
    engine = Engine(fake.executable, "v3.280.0", "build", "")
    monkeypatch.setattr("sandbox.__main__.ensure", lambda: engine)
    monkeypatch.setattr("sandbox.emulated.GENERATED", tmp_path)
    folder = tmp_path / "sandbox/backend/.pulumi/locks/organization/spotproof/sandbox"
    folder.mkdir(parents=True)
    lock = {"pid": dead_process(), "hostname": socket.gethostname(), "username": "ann"}
    (folder / "1.json").write_text(json.dumps({**lock, "timestamp": "2026-11-30T04:05:26Z"}))

    assert main(["up"]) == 1

    assert "make recover STACK=sandbox" in capsys.readouterr().err
    assert (folder / "1.json").exists()
    assert not any(call[0] == "up" for call in fake.calls)

    fake.write("fail-stack-export", "error: no stack")
    (folder / "1.json").unlink()
    assert main(["up"]) == 0
    assert fake.calls[-1][0] == "up"


def test_wrong_arguments_of_a_recovery_end_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["recover", "--stack", "prod", "--force"])

    assert "unrecognized arguments: --force" in capsys.readouterr().err


def test_an_update_that_was_killed_is_told_of_what_it_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An engine that is killed says nothing itself."""
    left: list[str] = []

    class Stack:
        def __init__(self, *_: object) -> None: ...
        def prepare(self) -> None: ...
        def pulumi(self) -> None: ...
        def command(self, *words: str, levels: str) -> list[str]:
            return ["pulumi", *words]

        def run(self, _: list[str]) -> int:
            left.append("a pending operation")
            return -9

    def look(*_: object) -> None:
        if left:
            raise NeedsRecoveryError("run make recover")

    monkeypatch.setattr(launcher, "EmulatedStack", Stack)
    monkeypatch.setattr(launcher, "standing_sandbox", lambda: Sandbox(tmp_path / "sandbox"))
    monkeypatch.setattr(launcher, "ensure", lambda: None)
    monkeypatch.setattr(launcher, "guard", look)

    assert launcher.main(["up"]) == 1
    assert "error: run make recover" in capsys.readouterr().err
