"""Large states are judged in reasonable time; how long it takes, `make bench` tells."""

from pathlib import Path

import pytest

from bench.setting import Setting, Sizes
from bench.states import MOST_SECONDS, judging, write_state
from bench.timing import Sample
from sandbox.paths import ALL_POLICY_PACKS, policy_pack
from tests.engine.support import engine

SLACK = 10
QUADRATIC = 5
"""Time for each resource would be ten times as long at ten times the resources."""


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(engine(), tmp_path, runs=1, sizes=Sizes())


def test_a_state_of_5000_resources_is_judged_in_reasonable_time(setting: Setting) -> None:
    ours = [policy_pack(one) for one in ALL_POLICY_PACKS]
    samples: dict[int, Sample] = {}
    for number in (500, 5000):
        state = write_state(setting.folder / f"{number}.json", number)
        samples[number] = judging(setting, state, ours)()
        shown = (setting.folder / "output.txt").read_text()
        assert "[mandatory]" not in shown, "the state that is measured breaks no policy"

    # Processor time: other programs may run beside this one.
    assert samples[5000].cpu < SLACK * MOST_SECONDS
    assert samples[5000].cpu / 5000 < QUADRATIC * samples[500].cpu / 500
