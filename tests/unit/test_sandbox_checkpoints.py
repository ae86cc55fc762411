"""The engine leaves out checkpoints where it would throw them away, and nowhere else."""

from pathlib import Path

import pytest

from sandbox.emulated import EmulatedStack
from sandbox.engine import Engine
from sandbox.environment import Sandbox


@pytest.mark.parametrize(
    ("action", "left_out"),
    [("preview", True), ("up", False), ("refresh", False), ("destroy", False)],
)
def test_only_a_preview_leaves_out_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, action: str, left_out: bool
) -> None:
    # One that is set outside must not reach an update: a crash would lose what it has made.
    monkeypatch.setenv("PULUMI_SKIP_CHECKPOINTS", "true")
    engine = tmp_path / "pulumi"
    engine.write_text('#!/bin/sh\necho "${PULUMI_SKIP_CHECKPOINTS:-no}"\n')
    engine.chmod(0o755)
    sandbox = Sandbox(tmp_path / "sandbox")
    sandbox.project.mkdir(parents=True)
    stack = EmulatedStack(sandbox, "dev", Engine(engine, "v3.274.1", "path", "the test's"))

    shown = stack.capture(*stack.command(action)[1:]).stdout

    assert shown.strip() == ("true" if left_out else "no")
