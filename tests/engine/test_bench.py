"""The benchmark works, and what it compares is the same on both sides."""

import json
import subprocess
import sys
from pathlib import Path

from bench.setting import SMALL, Setting
from bench.watch import is_possible, watching
from sandbox.paths import ROOT
from tests.engine.support import engine


def test_components_are_measured_against_a_bare_program_of_the_same_plan(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    arguments = ["--small", "--runs", "1", "--only", "components", "--json", str(file)]

    done = subprocess.run(
        [sys.executable, "-m", "bench", *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip

    # It ends with an error when the two plans differ.
    assert done.returncode == 0, done.stderr
    assert "our components over bare pulumi-gcp" in done.stdout
    (row,) = json.loads(file.read_text())["rows"]
    assert row["goal"] == 1.10
    assert row["verdict"] == ("ok" if row["wall"]["median"] <= 1.10 else "MISSED")
    for side in ("our components", "bare pulumi-gcp"):
        (sample,) = row["data"][side]
        assert sample["wall"] > 0
        assert sample["cpu"] > 0


def test_a_provider_that_does_nothing_brings_up_the_program_of_the_emulator(tmp_path: Path) -> None:
    setting = Setting(engine(), tmp_path, runs=1, sizes=SMALL)
    types = {}
    for name in ("emulator", "nothing"):
        room = setting.many(name, SMALL.start, 1, 2, idle=name == "nothing")
        with watching() as seen:
            room.up()
        assert not is_possible() or seen.peak_mb("provider") > 10
        types[name] = sorted(one["type"] for one in room.state() if one["type"].startswith("gcp:"))

    assert len(types["emulator"]) == SMALL.start
    assert types["nothing"] == types["emulator"]
