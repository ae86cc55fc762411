"""The policy that decides when to save wastes little, on simulated interruptions of many kinds."""

import pytest

from spotproof_runtime import Every
from tests.runtime.waste_simulator import (
    HOUR,
    Program,
    landings,
    least_waste,
    simulated_waste,
    waste_of_fixed,
)
from tests.runtime.waste_table import BASE, CASES, MARKETS, result


@pytest.mark.parametrize("chance", [0.0, 0.9])
@pytest.mark.parametrize(("program", "name"), CASES)
def test_no_fixed_interval_wastes_a_tenth_less(program: Program, name: str, chance: float) -> None:
    found = result(program, name, chance)
    assert found.ours <= 1.1 * found.least
    assert found.at_first <= 1.25 * found.least


@pytest.mark.parametrize(
    ("name", "chance", "goal"),
    [
        ("every 2.3 h", 0.0, 0.065),
        ("every 6 h", 0.0, 0.037),
        ("every 2.3 h", 0.9, 0.032),
        ("every 6 h", 0.9, 0.016),
    ],
)
def test_the_waste_keeps_within_its_goal(name: str, chance: float, goal: float) -> None:
    assert result(BASE, name, chance).ours <= goal


def test_saving_every_hour_wastes_three_times_as_much_and_six_times_when_saves_land() -> None:
    hourly = result(BASE, "every 2.3 h", 0.0).hourly
    assert hourly > 3.3 * result(BASE, "every 2.3 h", 0.0).ours
    assert hourly > 6.5 * result(BASE, "every 2.3 h", 0.9).ours


def test_with_half_an_hour_as_the_limit_a_calm_market_would_waste_too_much() -> None:
    market = MARKETS["calm"]
    lifetimes, lands = market.lifetimes(800, seed=1), landings(800, 0.9, seed=2)
    ours = simulated_waste(BASE, lifetimes, lands, lives_per_run=108, longest_seconds=0.5 * HOUR)
    assert ours > 1.1 * least_waste(BASE, lifetimes, lands)[1]


@pytest.mark.parametrize("chance", [0.0, 0.9])
def test_saves_of_uneven_length_that_hang_at_times_do_not_mislead(chance: float) -> None:
    uneven = Program(save_noise=0.3, stuck_chance=0.01)
    count = 400 if chance else 150
    lifetimes, lands = MARKETS["rough"].lifetimes(count, 3), landings(count, chance, 4)
    ours = simulated_waste(uneven, lifetimes, lands, lives_per_run=count)
    others = [
        simulated_waste(uneven, lifetimes, lands, lives_per_run=count, fixed=Every(seconds=t))
        for t in (300, 400, 600, 900, 1300, 1800)
    ]
    assert ours <= 1.1 * min(others)


def test_going_to_the_next_save_at_once_is_the_same_as_asking_after_each_step() -> None:
    program = Program(step_seconds=7)
    lifetimes, lands = MARKETS["storm"].lifetimes(60, 5), landings(60, 0.5, 6)
    quick, asked = (
        simulated_waste(program, lifetimes, lands, lives_per_run=60, jump=jump)
        for jump in (True, False)
    )
    assert quick == pytest.approx(asked, rel=0.01)


def test_the_search_for_the_least_waste_computes_what_the_simulation_does() -> None:
    lifetimes, lands = MARKETS["rough"].lifetimes(200, 7), landings(200, 0.5, 8)
    for seconds in (100, 900, 1800):
        simulated = simulated_waste(
            BASE, lifetimes, lands, lives_per_run=200, fixed=Every(seconds=seconds)
        )
        assert waste_of_fixed(BASE, lifetimes, lands, seconds) == pytest.approx(simulated, rel=0.01)
