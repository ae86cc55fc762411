"""The table of restart delays says how much of a day a training stands still."""

import pytest

from bench.restart_delay import kinds, lost_percent, table
from spotproof_gke.rules.finding import Stack
from spotproof_gke.rules.job_readiness import failure_policy
from spotproof_gke.workloads.judge import resource_of

GROWING = [10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 600.0]


def test_a_delay_that_grows_costs_more_on_later_days() -> None:
    first, later = lost_percent(GROWING, 6.0)
    assert first == pytest.approx(100 * 150 / 86_400)
    assert later == pytest.approx(100 * 4 * 600 / 86_400)


def test_a_day_has_a_part_of_a_preemption_too() -> None:
    first, later = lost_percent([3.0], 2.3)
    assert first == pytest.approx(later) == pytest.approx(100 * 3 * (24 / 2.3) / 86_400)


def test_more_preemptions_in_a_day_than_were_measured_take_as_long_as_the_last() -> None:
    first, _ = lost_percent([10.0, 20.0], 6.0)
    assert first == pytest.approx(100 * (10 + 20 + 20 + 20) / 86_400)


def test_the_table_names_what_was_measured() -> None:
    lines = table({"job": GROWING}).splitlines()
    assert len({line.count("|") for line in lines}) == 1
    assert lines[-1].startswith("| job | 10.0 s | 160.0 s |  |")


def test_no_kind_of_job_that_is_compared_counts_a_lost_node() -> None:
    things = [resource_of(thing) for thing in kinds().values()]
    assert list(failure_policy(Stack(things))) == []
