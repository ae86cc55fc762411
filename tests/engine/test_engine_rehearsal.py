"""A rehearsal of every stack, what it reports when a step fails, and what it leaves alone."""

import hashlib
import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox import stacks
from sandbox.emulated import EmulatedStack
from sandbox.environment import Sandbox
from sandbox.paths import ROOT
from sandbox.recovery.guard import NeedsRecoveryError, guard
from sandbox.recovery.recover import Options, recover
from sandbox.recovery.terminal import Terminal
from sandbox.rehearse import rehearse
from tests.engine.support import engine

TYPED_FROM_PAGES = ("sandbox", "prod")
"""Rehearsed where pages are followed: test_newcomer, test_sandbox_page."""
LIFE = ["preview", "up", "up again, unchanged", "refresh, unchanged"]
END = ["destroy", "state is empty", "cloud is empty"]


@pytest.mark.parametrize("stack", [one for one in stacks.names() if one not in TYPED_FROM_PAGES])
def test_every_stack_of_the_project_lives_and_goes(tmp_path, stack):
    report = rehearse(stack, engine(), Sandbox(tmp_path / "sandbox"))

    assert report.ok, report.failure_text()
    names = [step.name for step in report.steps]
    assert names == LIFE + END
    written = json.loads((tmp_path / "sandbox" / "report.json").read_text())
    assert written["ok"] is True
    assert [step["name"] for step in written["steps"]] == names


def test_a_rehearsal_touches_nothing_of_the_users(tmp_path, monkeypatch):
    used = engine()
    decoys = tmp_path / "decoys"
    for name in ("home/.pulumi", "home/.config/gcloud", "home/.kube", "pulumi", "backend"):
        (decoys / name).mkdir(parents=True)
        (decoys / name / "decoy").write_text("the user's\n")
    monkeypatch.setenv("HOME", str(decoys / "home"))
    monkeypatch.setenv("PULUMI_HOME", str(decoys / "pulumi"))
    monkeypatch.setenv("PULUMI_BACKEND_URL", f"file://{decoys / 'backend'}")
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "the user's")
    before = _hashes(decoys), _hashes(ROOT / "stacks"), (ROOT / "Pulumi.yaml").read_bytes()

    root = _project(tmp_path, "import pulumi\npulumi.export('x', 1)\n")
    assert rehearse("dev", used, Sandbox(tmp_path / "sandbox"), root).ok

    after = _hashes(decoys), _hashes(ROOT / "stacks"), (ROOT / "Pulumi.yaml").read_bytes()
    assert after == before
    assert list(_hashes(root / "stacks")) == ["Pulumi.dev.yaml"]


def test_a_failing_step_ends_the_rehearsal_with_what_it_printed(tmp_path):
    program = "import pulumi\nraise ValueError('no such machine')\n"

    report = rehearse("dev", engine(), Sandbox(tmp_path / "s"), _project(tmp_path, program))

    assert not report.ok
    assert [step.name for step in report.steps] == ["preview"]
    assert "no such machine" in report.failure_text()
    assert "FAILED" in report.table()
    assert json.loads((tmp_path / "s" / "report.json").read_text())["ok"] is False


def test_a_program_that_never_comes_to_rest_fails_the_second_up(tmp_path):
    program = "import time, pulumi\npulumi.ComponentResource('a:b:C', f'c{time.time()}')\n"

    report = rehearse("dev", engine(), Sandbox(tmp_path / "s"), _project(tmp_path, program))

    assert [(step.name, step.ok) for step in report.steps][-1] == ("up again, unchanged", False)


def test_the_standing_sandbox_shows_that_nothing_changed(tmp_path):
    root = _project(tmp_path, "import pulumi\npulumi.export('x', 1)\n")
    stack = EmulatedStack(Sandbox(tmp_path / "s"), "dev", engine(), root)
    for _ in range(2):
        stack.prepare()
        result = stack.capture(*stack.command("up")[1:])
        assert result.returncode == 0, result.stdout

    assert "1 unchanged" in result.stdout


def test_after_env_a_plain_pulumi_runs_in_the_sandbox(tmp_path):
    root = _project(tmp_path, "import pulumi\npulumi.export('x', 1)\n")
    stack = EmulatedStack(Sandbox(tmp_path / "s"), "dev", engine(), root)
    stack.prepare()
    typed = f"{stack.sandbox.exports(engine())}\npulumi up --yes >&2 && pulumi stack output x"
    environment = {**os.environ, "PULUMI_ACCESS_TOKEN": "the user's"}

    run = subprocess.run(
        ["sh", "-e", "-c", typed], env=environment, capture_output=True, text=True, timeout=120
    )

    assert run.stdout == "1\n", run.stderr


def _project(tmp_path: Path, program: str) -> Path:
    root = tmp_path / "root"
    for folder in ("stacks", "infra"):
        (root / folder).mkdir(parents=True)
    (root / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text())
    (root / ".venv").symlink_to(ROOT / ".venv")
    (root / "stacks" / "Pulumi.dev.yaml").write_text("config: {gcp:project: p}\n")
    (root / "infra" / "__main__.py").write_text(program)
    return root


def _hashes(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
    }


def test_a_killed_run_does_not_lock_the_sandbox_for_ever(tmp_path):
    program = "import pathlib, time\npathlib.Path('begun').touch()\ntime.sleep(600)\n"
    root = _project(tmp_path, program)
    stack = EmulatedStack(Sandbox(tmp_path / "s"), "dev", engine(), root)
    stack.prepare()
    begun = root / "infra" / "begun"
    killed = subprocess.Popen(
        [engine().pulumi, *stack.command("up", "--skip-preview")[1:]],
        cwd=stack.sandbox.project,
        env=stack.sandbox.environment(engine()),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _wait_until(begun.exists)
    killed.kill()
    killed.wait()
    (root / "infra" / "__main__.py").write_text("")

    stack.prepare()
    with pytest.raises(NeedsRecoveryError, match="make recover STACK=dev"):
        guard(stack.pulumi(), "up", [])

    assert recover(stack.pulumi(), Options(yes=True), Terminal()) == 0

    assert stack.capture(*stack.command("up")[1:]).returncode == 0


def _wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.05)
