"""What the runtime library costs a program: its import, and its loop helpers."""

import json
import os
import subprocess
from collections.abc import Mapping

from bench.report import Row
from bench.setting import Setting, median_wall, seconds
from bench.timing import BenchError, ratio, timed
from sandbox.paths import ROOT, RUNTIME_VENV

STEP_SECONDS = 0.010
"""The step beside which the loop helpers are to cost nothing."""

IMPORT_GOAL_SECONDS = 0.100
PYTHON = RUNTIME_VENV / "bin" / "python"


def runtime(setting: Setting) -> list[Row]:
    """The import of the library beside a bare interpreter, and its loops beside a bare one."""
    if not PYTHON.exists():
        raise BenchError(f"{PYTHON} is not there; run `make setup-runtime`")
    return [_import(setting), *_loops(setting.runs)]


def _import(setting: Setting) -> Row:
    output = setting.folder / "import.log"
    sides = {
        name: lambda program=program: timed([PYTHON, "-c", program], ROOT, os.environ, output)
        for name, program in (
            ("Interruption", "from spotproof_runtime import Interruption"),
            ("bare Python", "pass"),
        )
    }
    samples = setting.interleaved(sides)
    ours, bare = samples["Interruption"], samples["bare Python"]
    # So short a run is lengthened by other work many times over; the shortest was hit least.
    more = min(one.wall for one in ours) - min(one.wall for one in bare)
    pairs = [(one.wall, other.wall) for one, other in zip(ours, bare, strict=True)]
    return Row(
        "import of the runtime library: beside a bare interpreter",
        len(pairs),
        wall=ratio(pairs),
        goal=IMPORT_GOAL_SECONDS,
        seconds=more,
        cpu=ratio([(one.cpu, other.cpu) for one, other in zip(ours, bare, strict=True)]),
        value=f"{ratio(pairs).median:.2f}, {1000 * more:.0f} ms more at best",
        detail=f"{median_wall(ours):.3f} / {median_wall(bare):.3f}",
        data={name: seconds(found) for name, found in samples.items()},
    )


def _loops(runs: int) -> list[Row]:
    found = _measured(runs)
    rows: list[Row] = []
    for helper, name in (("guard", "stop.guard"), ("checkpoints", "Checkpoints.steps and offer")):
        more = [one - bare for one, bare in zip(found[helper], found["bare"], strict=True)]
        shares = ratio([(STEP_SECONDS + each, STEP_SECONDS) for each in more])
        rows.append(
            Row(
                f"{name}: a step of 10 ms with it over one without",
                len(more),
                wall=shares,
                goal=1.01,
                value=f"{shares.median:.4f} ({shares.least:.4f} to {shares.most:.4f})",
                detail=f"{1e6 * (shares.median - 1) * STEP_SECONDS:.1f} µs a step",
                data={helper: found[helper], "bare": found["bare"]},
            )
        )
    return rows


def _measured(runs: int) -> Mapping[str, list[float]]:
    program = ROOT / "runtime" / "bench" / "loop.py"
    ran = subprocess.run([PYTHON, program, str(runs)], capture_output=True, text=True, timeout=600)
    if ran.returncode != 0:
        raise BenchError(f"`{program}` ended with {ran.returncode}:\n{ran.stderr.strip()}")
    return json.loads(ran.stdout)
