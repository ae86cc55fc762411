"""How fast the queue worker is beside a bare streaming pull that does the same work."""

import json
import subprocess

from bench.report import Row
from bench.runtime import PYTHON
from bench.setting import Setting
from bench.timing import BenchError, ratio
from sandbox.paths import ROOT

GOAL = 1 / 0.9
"""The most that a message may take over what it takes with a bare streaming pull."""

MODULE = "tests.runtime.queue_throughput"


def queue_worker(setting: Setting) -> list[Row]:
    """Messages of 0.1 s of work, stored in PostgreSQL, from Google's Pub/Sub emulator."""
    if not PYTHON.exists():
        raise BenchError(f"{PYTHON} is not there; run `make setup-runtime`")
    command = [str(PYTHON), "-m", MODULE, str(setting.runs)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    if ran.returncode != 0:
        raise BenchError(
            f"`{' '.join(command)}` ended with {ran.returncode}:\n{ran.stderr[-2000:]}"
        )
    found: dict[str, list[float]] = json.loads(ran.stdout)
    pairs = [
        (1 / worker, 1 / bare) for worker, bare in zip(found["worker"], found["bare"], strict=True)
    ]
    return [
        Row(
            "QueueWorker: a message of 0.1 s of work over one with a bare streaming pull",
            len(pairs),
            wall=ratio(pairs),
            goal=GOAL,
            detail=" / ".join(
                f"{1000 * sum(side) / len(side):.0f} ms" for side in zip(*pairs, strict=True)
            ),
            data=dict(found),
        )
    ]
