"""Local copies go with their process, however it ends, and no others do."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from spotproof_runtime.checkpoints.scratch import make_scratch, remove_scratch, remove_stale

HOLDER = """
import sys
from pathlib import Path
from spotproof_runtime.checkpoints.scratch import make_scratch
made = make_scratch("restore", Path(sys.argv[1]))
(made / "weights").write_bytes(bytes(1000))
print(made, flush=True)
sys.stdin.read()
"""


def hold(parent: Path) -> tuple["subprocess.Popen[str]", Path]:
    """A process that has a local copy."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(parent)], stdin=pipe, stdout=pipe, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_what_a_killed_process_has_left_goes_and_what_others_use_or_own_stays(
    tmp_path: Path,
) -> None:
    dead, left = hold(tmp_path)
    alive, used = hold(tmp_path)
    try:
        dead.send_signal(signal.SIGKILL)
        dead.wait(30)
        (tmp_path / "restore-of-mine").mkdir()
        elsewhere = tmp_path / "spotproof-00000000-restore-abc"
        elsewhere.mkdir()
        linked = tmp_path / left.name.replace("restore", "linked")
        linked.symlink_to(tmp_path / "restore-of-mine")
        assert left.exists()
        mine = make_scratch("save", tmp_path)
        kept = {used, mine, tmp_path / "restore-of-mine", elsewhere, linked}
        assert set(tmp_path.iterdir()) == kept
        remove_stale(tmp_path)
        assert set(tmp_path.iterdir()) == kept, "its own is locked too"
        remove_scratch(mine)
        assert not mine.exists()
    finally:
        alive.kill()
        alive.wait(30)


def test_a_lock_that_cannot_be_had_does_not_keep_a_program_from_its_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, os.strerror(95))

    monkeypatch.setattr("fcntl.flock", refuse)
    made = make_scratch("save", tmp_path)
    assert made.is_dir()
    remove_stale(tmp_path)
    assert made.is_dir()


def test_descriptors_do_not_pile_up(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        remove_scratch(make_scratch("save", tmp_path))
    assert len(os.listdir("/proc/self/fd")) == before
