"""The interval between saves wastes least, keeps within its limits, and is planned in the open."""

from math import inf, nan

import pytest

from spotproof_gke import scenarios
from spotproof_gke.capacity import Capacity
from spotproof_gke.checkpoint_plan import Plan, plan
from spotproof_gke.grace import Budget, termination_budget
from spotproof_gke.interval import (
    Bound,
    best_interval,
    chance_of_landing,
    expected_waste,
    lives,
    mean_between,
)
from spotproof_gke.problems import ProblemsError

HOUR = 3600.0


@pytest.mark.parametrize(
    ("blocking", "hours", "chance", "seconds"),
    [(10, 2.3, 0.0, 407), (30, 2.3, 0.0, 705), (10, 6, 0.0, 657), (10, 2.3, 0.9, 1287)],
)
def test_between_the_limits_the_formula_decides(
    blocking: float, hours: float, chance: float, seconds: int
) -> None:
    found = best_interval(blocking, hours * HOUR, chance)
    assert round(found.seconds) == seconds
    assert found.bound is None
    assert found.warning is None


def test_a_slow_save_keeps_to_a_tenth_of_the_time_and_says_so() -> None:
    found = best_interval(60, 0.1 * HOUR)
    assert found.seconds == 600
    assert found.bound is Bound.SHORTEST
    assert "208 s would be best, so a save is too slow" in (found.warning or "")
    nearly = best_interval(60, 2900)
    assert (nearly.bound, nearly.warning) == (Bound.SHORTEST, None)


@pytest.mark.parametrize("blocking", [0.0, 0.001])
def test_a_save_that_costs_nothing_is_made_twice_a_minute_without_a_warning(
    blocking: float,
) -> None:
    found = best_interval(blocking, 0.5 * HOUR)
    assert (found.seconds, found.bound, found.warning) == (30, Bound.SHORTEST, None)


@pytest.mark.parametrize(("between", "chance"), [(30 * HOUR, 0.9), (inf, 0.0), (HOUR, 1.0)])
def test_a_quiet_market_saves_every_hour_at_least(between: float, chance: float) -> None:
    found = best_interval(10, between, chance)
    assert (found.seconds, found.bound, found.warning) == (3600, Bound.LONGEST, None)
    assert best_interval(10, between, chance, longest_seconds=900).seconds == 900


def test_the_tenth_of_the_time_counts_for_more_than_the_hour() -> None:
    assert best_interval(400, HOUR).seconds == 4000


def test_all_that_is_wrong_with_the_numbers_is_said_at_once() -> None:
    with pytest.raises(ProblemsError) as raised:
        best_interval(-1, 0, 1.5)
    assert len(raised.value.problems) == 3
    for wrong in (nan, -inf, True, "10", None):
        with pytest.raises(ProblemsError, match="blocking_seconds"):
            best_interval(wrong, HOUR)  # type: ignore[arg-type]


def test_before_anything_is_seen_the_mean_is_that_of_the_prior() -> None:
    assert mean_between(0, 0) == 3 * HOUR
    assert mean_between(0, 0, prior_seconds=HOUR) == HOUR


def test_counts_that_cannot_be_are_refused_by_name() -> None:
    with pytest.raises(ProblemsError) as raised:
        mean_between(-1, -1, 0, 0)
    keys = [problem.key for problem in raised.value.problems]
    assert keys == ["interruptions", "exposure_seconds", "prior_seconds", "prior_events"]
    with pytest.raises(ProblemsError, match="longest_seconds = 0: must be a number, above 0"):
        best_interval(10, HOUR, longest_seconds=0)


def test_one_quiet_night_does_not_run_away_and_many_events_decide() -> None:
    assert mean_between(0, 12 * HOUR) == 9 * HOUR
    assert mean_between(100, 230 * HOUR) == pytest.approx(2.3 * HOUR, rel=0.02)


def test_the_chance_of_landing_starts_at_a_half_and_follows_what_was_seen() -> None:
    assert chance_of_landing(0, 0) == 0.5
    assert chance_of_landing(0, 8) == 0.1
    assert chance_of_landing(90, 100) == pytest.approx(0.9, abs=0.01)
    with pytest.raises(ProblemsError, match="landed = 3"):
        chance_of_landing(3, 2)


@pytest.mark.parametrize("sigma", [None, 1.25, 1.99])
def test_lives_have_the_mean_asked_for(sigma: float | None) -> None:
    drawn = lives(2 * HOUR, sigma)
    assert sum(drawn) / len(drawn) == pytest.approx(2 * HOUR)
    median = drawn[len(drawn) // 2]
    assert median == pytest.approx(0.69 * 2 * HOUR, rel=0.01) if sigma is None else median < HOUR


def test_the_shares_of_waste_are_those_of_one_life_counted_by_hand() -> None:
    # 1,000 s: 100 to restore, 4 times 200 of work and 10 to save, then 60 of work that is lost.
    found = expected_waste(200, 10, 100, [1000])
    assert found.restoring == pytest.approx(0.1)
    assert found.saving == pytest.approx(0.04)
    assert found.lost == pytest.approx(0.06)
    landed = expected_waste(200, 10, 100, [1000], landing_chance=1)
    assert landed.lost == 0
    assert landed.saving == pytest.approx(50 / 1010)
    # The fourth save is still under way in the background: its 200 s are lost too.
    assert expected_waste(200, 10, 100, [1000], upload_seconds=70).lost == pytest.approx(0.26)


def test_a_life_that_ends_while_it_restores_is_all_waste() -> None:
    found = expected_waste(200, 10, 100, [50.0])
    assert (found.restoring, found.total) == (1.0, 1.0)


@pytest.mark.parametrize("sigma", [None, 1.7])
@pytest.mark.parametrize("chance", [0.0, 0.9])
def test_no_other_interval_wastes_a_tenth_less(sigma: float | None, chance: float) -> None:
    drawn = lives(2.3 * HOUR, sigma)
    ours = expected_waste(best_interval(10, 2.3 * HOUR, chance).seconds, 10, 120, drawn, chance)
    others = [expected_waste(t, 10, 120, drawn, chance).total for t in range(30, 5000, 30)]
    assert ours.total <= 1.1 * min(others)


def test_scenarios_get_worse_from_calm_to_storm() -> None:
    assert scenarios.names() == ["calm", "normal", "rough", "storm"]
    rates = [scenarios.scenario(name).per_node_hour for name in scenarios.names()]
    assert rates == [0.1, 0.25, 0.5, 1.4]
    goodputs = [plan(save_seconds=10, scenario=n).waste.goodput for n in scenarios.names()]
    assert goodputs == sorted(goodputs, reverse=True)


def test_a_burst_that_takes_several_nodes_of_one_program_counts_once() -> None:
    rough = scenarios.scenario("rough")
    assert rough.between_seconds() == 2 * HOUR
    assert rough.between_seconds(16) == pytest.approx(HOUR / (0.5 * 16 * (0.8 + 0.2 / 5)))


def _plan(**changed: object) -> Plan:
    return plan(**{"save_seconds": 10, **changed})  # type: ignore[arg-type]


def test_a_plan_by_size_and_speed_equals_the_plan_by_seconds() -> None:
    by_size = plan(state_bytes=10 * 2**30, bytes_per_second=2**30)
    assert by_size == _plan()


def test_a_save_within_the_budget_is_taken_to_land_and_one_above_it_is_not() -> None:
    fits = _plan(save_seconds=15)
    assert (fits.fits, fits.landing_chance, fits.notes) == (True, 0.9, ())
    late = _plan(save_seconds=16)
    assert (late.fits, late.landing_chance) == (False, 0.0)
    assert "a save takes 16 s and a pod has 15 s when its node is taken away" in late.notes[0]
    extended = termination_budget(Capacity.SPOT, shutdown_seconds=120)
    assert _plan(save_seconds=100, budget=extended).fits
    assert _plan(save_seconds=10_000, budget=Budget(None, "a drain waits")).fits


def test_asynchronous_saves_are_planned_by_what_they_hold_up() -> None:
    slow = _plan(save_seconds=300, scenario="rough")
    quick = _plan(save_seconds=300, blocking_seconds=3, scenario="rough")
    assert quick.interval.seconds < slow.interval.seconds
    assert quick.waste.total < slow.waste.total
    # What is still on its way to the bucket does not count yet.
    assert quick.waste.lost > _plan(save_seconds=3, scenario="rough", landing_chance=0).waste.lost


def test_a_plan_with_ones_own_rate_says_so() -> None:
    own = _plan(interruptions_per_node_hour=0.25)
    assert own.scenario.name == "own"
    assert own.waste == _plan(scenario="normal").waste
    assert _plan().scenario.name == "normal"


def test_a_market_that_lets_nobody_start_is_told_apart() -> None:
    notes = " ".join(_plan(save_seconds=21, scenario="storm", nodes=16).notes)
    assert "many lives end before their work goes on" in notes
    assert "a save is too slow" in notes


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"save_seconds": None}, "save_seconds: how long a save takes is not known"),
        ({"save_seconds": None, "state_bytes": 5}, "bytes_per_second: how long a save takes"),
        ({"state_bytes": 5, "bytes_per_second": 1}, "save_seconds = 10: is given beside state_b"),
        ({"scenario": "stormy"}, "scenario = 'stormy': is no known scenario; did you mean \"sto"),
        ({"scenario": "calm", "interruptions_per_node_hour": 1}, "is given beside scenario 'calm'"),
        ({"interruptions_per_node_hour": 0}, "interruptions_per_node_hour = 0: must be a number"),
        ({"nodes": 0}, "nodes = 0: must be a whole number, 1 or more"),
        ({"nodes": 1.5}, "nodes = 1.5: must be a whole number, 1 or more"),
        ({"landing_chance": 1.1}, "landing_chance = 1.1: must be a number, 0 or more and at most"),
        ({"restore_seconds": inf}, "restore_seconds = inf: must be a number"),
        ({"blocking_seconds": -1}, "blocking_seconds = -1: must be a number"),
        ({"save_seconds": None, "bytes_per_second": 1}, "state_bytes: how long a save takes"),
    ],
)
def test_an_argument_that_cannot_be_is_refused_with_its_rule(
    changed: dict[str, object], message: str
) -> None:
    with pytest.raises(ProblemsError) as raised:
        _plan(**changed)
    assert message in str(raised.value)
    assert len(raised.value.problems) == 1


def test_all_problems_of_a_plan_come_at_once() -> None:
    with pytest.raises(ProblemsError) as raised:
        plan(state_bytes=-1, scenario="x", nodes=0, landing_chance=9)
    assert len(raised.value.problems) == 5
