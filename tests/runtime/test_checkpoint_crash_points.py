"""A run with three saves is killed at each point that there is, and always goes on.

`SPOTPROOF_CHAOS=full` kills at every kind of point, and the life after it once more; without it, at
those points that leave the store in different states.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.runtime.crash_points import LONG

MEMORY = Path("/dev/shm")
"""Where runs are killed: to a kill it is a disk like any other, and nothing waits for it."""

ROOT = Path(__file__).parents[2]
STORES = ["directory"] + (["gcs", "files", "mounted", "gcs-before"] if LONG else [])
LEAST_KILLS = {"directory": 30, "gcs": 15, "files": 60, "mounted": 60, "gcs-before": 15}

RUNS = [
    (store, keep, background)
    for store in STORES
    for keep in (1, 2)
    for background in ("blocking", "background")
]
if not LONG:
    # What is called does not depend on the store: each value of each kind is enough for the others.
    RUNS += [("gcs", 1, "background"), ("gcs", 2, "blocking"), ("mounted", 1, "blocking")]


@pytest.mark.parametrize(("store", "keep", "background"), RUNS)
def test_whatever_call_a_kill_falls_on_the_run_goes_on_from_what_was_saved(
    store: str,
    keep: int,
    background: str,
    tmp_path: Path,
    gcs_process: str,
    record_property: Callable[[str, object], None],
) -> None:
    command = [sys.executable, "-m", "tests.runtime.crash_points", store, str(keep), background]
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else tmp_path) as place:
        done = subprocess.run(
            [*command, place, gcs_process],
            cwd=ROOT,
            env=os.environ | {"TMPDIR": place},
            capture_output=True,
            text=True,
            timeout=600,
        )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    figure = f"killed at each call of three saves, {store}, keep {keep}, {background}"
    record_property("figure", f"{figure}: {found['kills']} kills")
    assert found["failures"] == [], done.stderr[-3000:]
    assert found["kills"] >= LEAST_KILLS[store]
