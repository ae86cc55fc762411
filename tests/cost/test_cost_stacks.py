"""The stacks of this project, declared in process and estimated as a first preview would show."""

import json
import runpy
from datetime import date
from pathlib import Path

import pytest
import yaml

from spotproof_gke.cost.estimate import Estimate, estimate
from spotproof_gke.cost.lines import Use
from spotproof_gke.cost.plans import plan_of
from tests.cost.documents import preview, row
from tests.unit.declared import declare
from tests.unit.test_random_stacks import PROGRAM, as_engine

STACKS = sorted((Path(__file__).parents[2] / "stacks").glob("Pulumi.*.yaml"))
EXPECTED = (
    "--stored-gib",
    "--traffic-gib",
    "--messages-gib",
    "Autopilot is paid by what pods ask for",
    "a3-megagpu-8g is not in the table",
    "no price of a machine with nvidia-h100-mega-80gb",
)
"""Why parts of our stacks are unknown; anything else would be a gap of the estimate."""


@pytest.fixture(scope="module", params=STACKS, ids=lambda path: path.name.split(".")[1])
def made(request: pytest.FixtureRequest) -> Estimate:
    config = yaml.safe_load(request.param.read_text(encoding="utf-8"))["config"]
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PULUMI_CONFIG", json.dumps(as_engine(config)))
        program = str(PROGRAM)
        declared = declare(lambda: runpy.run_path(program, run_name="__main__"), preview=True)
    cloud = [one for one in declared if one.type.startswith(("gcp:", "kubernetes:"))]
    rows = [{**row(one.type, one.name), "inputs": one.props} for one in cloud]
    return estimate(plan_of("test", preview(*rows)), Use(), date(2026, 11, 30))


def test_only_what_a_plan_cannot_tell_is_unknown(made: Estimate) -> None:
    assert made.lines
    for line in made.unknown:
        assert any(words in line.unknown for words in EXPECTED), line
    assert not made.not_priced


def test_smallest_size_costs_the_cluster_and_its_system_pool(made: Estimate) -> None:
    autopilot = any("Autopilot" in line.what for line in made.lines)

    assert made.low == 0 if autopilot else 150 < made.low < 1000
    assert bool(made.needs) is not autopilot
