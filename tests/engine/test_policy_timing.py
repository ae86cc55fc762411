"""Large states are judged in reasonable time; how long it takes, `make bench` tells."""

from pathlib import Path

import pytest

from bench.cases import _idle_pack
from bench.setting import Setting, Sizes
from bench.states import MOST_SECONDS, judging, write_state
from sandbox.paths import ALL_POLICY_PACKS, policy_pack
from tests.engine.support import engine, run_pulumi

SLACK = 10
QUADRATIC = 5
"""Time for each resource would be ten times as long at ten times the resources."""


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(engine(), tmp_path, runs=1, sizes=Sizes())


def test_a_state_of_5000_resources_costs_little_over_an_empty_pack(setting: Setting) -> None:
    states = {number: write_state(setting.folder / f"{number}", number) for number in (500, 5000)}
    ours = [policy_pack(one) for one in ALL_POLICY_PACKS]
    idle = [_idle_pack(setting.folder / "idle")]

    few, many = (judging(setting, states[number], ours)().wall for number in (500, 5000))
    nothing = judging(setting, states[5000], idle)().wall

    assert many - nothing < SLACK * MOST_SECONDS
    assert many / 5000 < QUADRATIC * few / 500


def test_the_state_that_is_measured_breaks_no_policy(sandbox_dir: Path, tmp_path: Path) -> None:
    state = write_state(tmp_path / "state.json", 400)
    flags = [part for one in ALL_POLICY_PACKS for part in ("--policy-pack", policy_pack(one))]

    run = run_pulumi(tmp_path, ["policy", "analyze", "--file", state, *flags], sandbox_dir).check()

    assert "[mandatory]" not in run.stdout
