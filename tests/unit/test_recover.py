"""A recovery asks before it changes, says what it did, and knows locks of every backend."""

import json
import os
import stat
from pathlib import Path

import pytest

from sandbox.recovery import recover as module
from sandbox.recovery.guard import NeedsRecoveryError, guard
from sandbox.recovery.orphans import Orphan
from sandbox.recovery.recover import Options, RecoveryError, recover
from tests.unit.fake_pulumi import Fake, Person, bucket, dead_process, killed, lock_file, nobody

YES = Options(yes=True)


@pytest.fixture(autouse=True)
def no_orphans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "orphaned_providers", lambda project: [])


@pytest.mark.parametrize("backend", ["gs://state", "https://api.pulumi.com", "file:///none"])
def test_a_healthy_stack_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], backend: str
) -> None:
    fake = Fake(tmp_path, backend)

    assert recover(fake.pulumi(), Options(), nobody()) == 0

    assert "nothing to recover" in capsys.readouterr().out
    assert fake.changes == []


def test_a_stack_with_a_lock_elsewhere_and_a_create(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = killed(Fake(tmp_path))
    fake.in_cloud("acme-data")

    assert recover(fake.pulumi(), YES, nobody()) == 0

    said = capsys.readouterr().out
    assert "process 412 of ann@build-7, another host, since 2026-11-30T04:05:26Z" in said
    assert "interrupted while creating gcp:storage/bucket:Bucket 'bucket'" in said
    assert "acme-data is in the cloud" in said
    assert fake.ids == ["acme-data"]
    assert fake.changes == [
        "cancel -s prod --yes",
        "stack import -s prod",
        "refresh -s prod --yes --skip-preview",
    ]
    assert fake.calls[-1] == ["preview", "-s", "prod"]
    assert recover(fake.pulumi(), YES, nobody()) == 0
    assert "nothing to recover" in capsys.readouterr().out


def test_what_is_not_in_the_cloud_is_dropped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = killed(Fake(tmp_path))

    assert recover(fake.pulumi(), YES, nobody()) == 0

    assert "acme-data is not in the cloud; the next update creates it" in capsys.readouterr().out
    assert fake.ids == []
    assert "pending_operations" not in fake.state


def test_pulumi_cloud_says_that_an_update_is_in_progress(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = Fake(tmp_path, "https://api.pulumi.com", stack="acme/prod")
    page = "https://app.pulumi.com/acme/spotproof/prod"
    stacks = [
        {"name": "acme/dev", "updateInProgress": True},
        {"name": "other/prod", "updateInProgress": True},
        {"name": "acme/prod", "updateInProgress": True, "url": page},
    ]
    fake.write("stacks.json", json.dumps(stacks))
    person = Person("n")

    with pytest.raises(RecoveryError, match="the lock stays"):
        recover(fake.pulumi(), Options(), person)

    assert f"that Pulumi Cloud counts as in progress ({page})" in capsys.readouterr().out
    assert "cannot be seen from here" in person.questions[0]
    assert fake.changes == []
    assert recover(fake.pulumi(), YES, nobody()) == 0
    assert fake.changes == [
        "cancel -s acme/prod --yes",
        "refresh -s acme/prod --yes --skip-preview",
    ]


def test_without_a_terminal_nothing_changes_unless_told(tmp_path: Path) -> None:
    fake = killed(Fake(tmp_path))

    with pytest.raises(RecoveryError, match=r"nothing is changed.*make recover STACK=prod YES=1"):
        recover(fake.pulumi(), Options(), nobody())

    assert fake.changes == []


@pytest.mark.parametrize(
    ("answers", "done", "changes"),
    [
        (["n"], "nothing is changed", 0),
        (["", ""], "nothing is changed", 0),
        (["y", "n"], "the lock is released", 1),
    ],
)
def test_a_no_ends_it(tmp_path: Path, answers: list[str], done: str, changes: int) -> None:
    fake = killed(Fake(tmp_path))

    with pytest.raises(RecoveryError, match="stopped at your word") as stopped:
        recover(fake.pulumi(), Options(), Person(*answers))

    assert f"Done so far: {done}. To go on: `make recover STACK=prod`" in str(stopped.value)
    assert len(fake.changes) == changes
    assert fake.state["pending_operations"]


def test_at_a_terminal_the_engine_asks_before_it_refreshes(tmp_path: Path) -> None:
    fake = killed(Fake(tmp_path))
    person = Person("y", "y")

    assert recover(fake.pulumi(), Options(), person) == 0

    assert "Cancel it only if it does not" in person.questions[0]
    assert fake.changes[-1] == "refresh -s prod"


def test_an_interrupt_says_what_is_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fake = killed(Fake(tmp_path))

    with pytest.raises(KeyboardInterrupt):
        recover(fake.pulumi(), Options(), Person("y", KeyboardInterrupt))

    assert "interrupted.\nDone so far: the lock is released. To go on" in capsys.readouterr().out
    assert fake.changes == ["cancel -s prod --yes"]


@pytest.mark.parametrize(
    ("step", "done"),
    [
        ("cancel", "the lock is released. To"),
        ("stack-import", "the lock is released; the pending operations are out of the state"),
    ],
)
def test_an_interrupt_lets_the_step_come_to_its_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], step: str, done: str
) -> None:
    fake = killed(Fake(tmp_path))
    fake.in_cloud("acme-data")
    fake.write(f"interrupt-{step}", "")

    with pytest.raises(KeyboardInterrupt):
        recover(fake.pulumi(), YES, nobody())

    assert f"interrupted.\nDone so far: {done}" in capsys.readouterr().out
    assert not (tmp_path / "lock").exists()
    (tmp_path / f"interrupt-{step}").unlink()
    assert recover(fake.pulumi(), YES, nobody()) == 0
    assert fake.ids == ["acme-data"]


def test_the_state_is_kept_in_a_private_file_before_it_is_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = killed(Fake(tmp_path))
    before = json.loads((tmp_path / "state.json").read_text())

    recover(fake.pulumi(), YES, nobody())

    (kept,) = (tmp_path / "backups").iterdir()
    assert json.loads(kept.read_text()) == before
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert f"the state as it was is kept in {kept}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("failing", "text", "done"),
    [
        ("cancel", "`pulumi cancel` failed:\nno access", "nothing is changed"),
        ("stack-import", "does not take the state.*no access", "the lock is released"),
        ("refresh", "the refresh failed", "the lock is released; the pending operations"),
    ],
)
def test_a_failed_step_is_named_and_a_second_run_ends_it(
    tmp_path: Path, failing: str, text: str, done: str
) -> None:
    fake = killed(Fake(tmp_path))
    fake.in_cloud("acme-data")
    if failing == "refresh":
        fake.write("backend", lock_file(fake, dead_process()))
        (tmp_path / "lock").unlink()
    fake.write(f"fail-{failing}", "no access")

    with pytest.raises(RecoveryError, match=f"(?s){text}") as stopped:
        recover(fake.pulumi(), YES, nobody())

    assert f"Done so far: {done}" in str(stopped.value)
    (tmp_path / f"fail-{failing}").unlink()
    assert recover(fake.pulumi(), YES, nobody()) == 0
    assert fake.ids == ["acme-data"]
    assert not any("initErrors" in one for one in fake.state["resources"])


def test_a_state_that_somebody_else_changes_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    fake = killed(Fake(tmp_path))

    class Meddler(Person):
        def confirm(self, question: str) -> bool:
            fake.has([bucket(id="acme-data")])
            return True

    with pytest.raises(RecoveryError, match="changed by somebody else"):
        recover(fake.pulumi(), Options(), Meddler())

    assert fake.changes == ["cancel -s prod --yes"]


def test_a_plan_that_fails_is_told_apart_from_the_recovery(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = killed(Fake(tmp_path))
    fake.write("fail-preview", "policy violation")

    assert recover(fake.pulumi(), YES, nobody()) == 255

    assert "in order again, but its plan fails" in capsys.readouterr().out


def test_an_update_that_runs_is_not_cancelled(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    fake.write("backend", lock_file(fake, os.getpid()))

    with pytest.raises(RecoveryError, match=f"That is no dead update.*kill {os.getpid()}"):
        recover(fake.pulumi(), YES, Person())

    assert fake.changes == []


def test_an_interrupted_update_is_not_forgotten_before_the_refresh(tmp_path: Path) -> None:
    fake = Fake(tmp_path, "file:///none")
    there = bucket(id="acme-data")
    fake.has([there], ("updating", there), ("creating", bucket("acme-more")))
    fake.in_cloud("acme-data")
    fake.write("fail-refresh", "no access")
    with pytest.raises(RecoveryError):
        recover(fake.pulumi(), YES, nobody())

    with pytest.raises(NeedsRecoveryError, match="not refreshed by an earlier recovery"):
        guard(fake.pulumi(), "up", [])


def test_the_killed_engines_provider_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    fake = killed(Fake(tmp_path))
    orphan = Orphan(77, "pulumi-resource-gcp 127.0.0.1:1")
    monkeypatch.setattr(module, "orphaned_providers", lambda project: [orphan])

    with pytest.raises(RecoveryError, match=r"still works .process 77") as stopped:
        recover(fake.pulumi(), Options(yes=True, wait_seconds=0.1), nobody())

    assert "nothing is changed" in str(stopped.value)
    assert "process 77" in capfd.readouterr().err
    assert fake.changes == []
    assert recover(fake.pulumi(), Options(yes=True, wait_seconds=0), nobody()) == 0
