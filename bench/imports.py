"""What it costs a program to load the components, beside the SDK that they are made of."""

import os

from bench.report import Row
from bench.setting import Setting, compared
from bench.timing import Sample, timed
from sandbox.paths import ROOT, VENV_PYTHON

PAIRS = (
    ("import spotproof", "import pulumi_gcp"),
    ("from spotproof import SpotGpuPool", "from pulumi_gcp.container import NodePool"),
)
"""Ours, and what a program without our components would load in its place."""


def imports(setting: Setting) -> list[Row]:
    """A Python that loads the components, over one that loads the SDK alone."""
    output = setting.folder / "import.log"

    def run(statement: str) -> Sample:
        return timed([VENV_PYTHON, "-c", statement], ROOT, os.environ, output)

    rows: list[Row] = []
    for goal, pair in zip((1.0, None), PAIRS, strict=True):
        samples = setting.interleaved({one: lambda one=one: run(one) for one in pair})
        rows.append(compared(f"`{pair[0]}` over `{pair[1]}`", samples, *pair, goal=goal))
    return rows
