"""What is wasted in simulated markets, by the policy and by fixed intervals.

`python -m tests.runtime.waste_table` prints it. Means and spreads are those of published traces and
of the named scenarios (see `spotproof_gke/data/interruption_scenarios.yaml`); times are drawn anew,
the traces themselves are not used. A run lasts 45 days, as the traces do, and begins without
knowing anything.
"""

from dataclasses import dataclass
from functools import cache

from spotproof_gke import scenarios
from tests.runtime.waste_simulator import (
    HOUR,
    Market,
    Program,
    landings,
    least_waste,
    simulated_waste,
    waste_of_fixed,
)

RUN_HOURS = 45 * 24
FIRST_LIVES = 20
BASE = Program(save_seconds=10, restore_seconds=120)
SLOWER = Program(save_seconds=30, restore_seconds=180)

_SCENARIOS = [scenarios.scenario(name) for name in scenarios.names()]
MARKETS = {
    market.name: market
    for market in [
        Market("every 2.3 h", 2.3),
        Market("every 6 h", 6),
        Market("every 10 h", 10),
        Market("us-east-1a", 0.72, 1.25),
        Market("us-east-1c", 1.48, 1.49),
        Market("us-east-1f", 2.18, 1.67),
        Market("us-east-2a", 5.51, 1.92),
        Market("us-east-2b", 4.27, 1.66),
        Market("us-west-2a", 5.74, 1.85),
        Market("us-west-2b", 9.68, 1.99),
        Market("8 x V100", 0.76, 1.7),
        Market("16 nodes", 8 / 60, nodes=16),
        *(Market(s.name, 1 / s.per_node_hour, s.sigma, s.burst_share) for s in _SCENARIOS),
    ]
}
CASES = [(BASE, name) for name in MARKETS] + [(SLOWER, f"every {h} h") for h in ("2.3", "6", "10")]


@dataclass(frozen=True)
class Result:
    """Shares of the time that were wasted."""

    ours: float
    at_first: float
    """Ours in the first 20 lives of each run."""
    least: float
    least_seconds: float
    half_hourly: float
    hourly: float


@cache
def result(program: Program, name: str, chance: float) -> Result:
    market = MARKETS[name]
    # Where saves land, few interruptions cost anything, so it takes more of them to tell.
    count = 800 if chance else 300
    lifetimes, lands = market.lifetimes(count, seed=1), landings(count, chance, seed=2)
    least_seconds, least = least_waste(program, lifetimes, lands)
    return Result(
        ours=simulated_waste(
            program,
            lifetimes,
            lands,
            lives_per_run=min(count, round(RUN_HOURS / market.mean_hours)),
            nodes=market.nodes,
        ),
        at_first=simulated_waste(
            program, lifetimes, lands, lives_per_run=FIRST_LIVES, nodes=market.nodes
        ),
        least=least,
        least_seconds=least_seconds,
        half_hourly=waste_of_fixed(program, lifetimes, lands, 0.5 * HOUR),
        hourly=waste_of_fixed(program, lifetimes, lands, HOUR),
    )


def table() -> str:
    """All cases, one a line, in per cent."""
    lines = [
        f"{'market':<12} {'save':>5} {'land':>5} {'ours':>6} {'first 20':>8} {'least':>6} "
        f"{'at':>7} {'30 min':>7} {'1 h':>6}"
    ]
    for program, name in CASES:
        for chance in (0.0, 0.9):
            found = result(program, name, chance)
            lines.append(
                f"{name:<12} {program.save_seconds:>3.0f} s {chance:>5.0%} "
                f"{100 * found.ours:>6.2f} {100 * found.at_first:>8.2f} {100 * found.least:>6.2f} "
                f"{found.least_seconds:>5.0f} s {100 * found.half_hourly:>7.1f} "
                f"{100 * found.hourly:>6.1f}"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
