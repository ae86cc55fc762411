"""Planning: how often a program should save, what that wastes, and whether its save fits."""

from dataclasses import dataclass

from spotproof_gke import scenarios
from spotproof_gke.capacity import Capacity
from spotproof_gke.grace import Budget, termination_budget
from spotproof_gke.interval import (
    Interval,
    Waste,
    best_interval,
    expected_waste,
    lives,
    number_problems,
)
from spotproof_gke.problems import Problem, did_you_mean, raise_if_any
from spotproof_gke.scenarios import Scenario

LANDING_CHANCE = 0.9
"""How many saves on SIGTERM are taken to land when they fit: notice is given as best effort."""

RESTORE_SECONDS = 120.0
"""From the start of the program until its work goes on, when nothing is said."""


@dataclass(frozen=True)
class Plan:
    """How often to save, and what comes of it.

    Attributes:
        scenario: How often nodes are taken away.
        nodes: How many nodes the program needs at once.
        between_seconds: Mean time between interruptions of the program.
        save_seconds: How long a save takes until it counts.
        blocking_seconds: How long it holds up the work.
        restore_seconds: From the start of the program until its work goes on.
        interval: How often to save.
        landing_chance: The share of interruptions whose save on SIGTERM is taken to land.
        waste: What is wasted at this interval.
        budget: What a pod has between SIGTERM and the end of its node.
        fits: Whether a save fits into it.
        notes: What else to know, each a sentence.
    """

    scenario: Scenario
    nodes: int
    between_seconds: float
    save_seconds: float
    blocking_seconds: float
    restore_seconds: float
    interval: Interval
    landing_chance: float
    waste: Waste
    budget: Budget
    fits: bool
    notes: tuple[str, ...]


def plan(
    *,
    save_seconds: float | None = None,
    state_bytes: int | None = None,
    bytes_per_second: float | None = None,
    blocking_seconds: float | None = None,
    restore_seconds: float = RESTORE_SECONDS,
    scenario: str | None = None,
    interruptions_per_node_hour: float | None = None,
    nodes: int = 1,
    budget: Budget | None = None,
    landing_chance: float | None = None,
) -> Plan:
    """Plans the saves of a program.

    Args:
        save_seconds: How long a save takes until it counts; else give the next two.
        state_bytes: The size of a checkpoint.
        bytes_per_second: How fast it is written, measured from a pod to its bucket.
        blocking_seconds: How long a save holds up the work; `save_seconds` when None, less for
            asynchronous saves.
        restore_seconds: From the start of the program until its work goes on.
        scenario: How often nodes are taken away: `calm`, `normal`, `rough` or `storm`; `normal`
            when neither this nor a rate is given.
        interruptions_per_node_hour: The same as counted on one's own nodes.
        nodes: How many nodes the program needs at once; losing one interrupts it.
        budget: What a pod has when its node is taken away, see `grace.termination_budget`; that
            of a Spot node when None.
        landing_chance: The share of interruptions whose save on SIGTERM lands; when None, 0.9
            where a save fits the budget, else 0.

    Raises:
        ProblemsError: with all that is wrong with the arguments.
    """
    raise_if_any(
        "checkpoint plan",
        [
            *_save_problems(save_seconds, state_bytes, bytes_per_second, blocking_seconds),
            *_market_problems(scenario, interruptions_per_node_hour, nodes),
            *number_problems("restore_seconds", restore_seconds),
            *(
                []
                if landing_chance is None
                else number_problems("landing_chance", landing_chance, most=1.0)
            ),
        ],
    )
    save_seconds = _save_seconds(save_seconds, state_bytes, bytes_per_second)
    blocking = save_seconds if blocking_seconds is None else blocking_seconds
    budget = termination_budget(Capacity.SPOT) if budget is None else budget
    fits = budget.seconds is None or save_seconds <= budget.seconds
    if landing_chance is None:
        landing_chance = LANDING_CHANCE if fits else 0.0
    market = (
        scenarios.own(interruptions_per_node_hour)
        if interruptions_per_node_hour is not None
        else scenarios.scenario(scenario or "normal")
    )
    between = market.between_seconds(nodes)
    interval = best_interval(blocking, between, landing_chance)
    waste = expected_waste(
        interval.seconds,
        blocking,
        restore_seconds,
        lives(between, market.lifetime_sigma(nodes)),
        landing_chance,
        max(save_seconds - blocking, 0.0),
    )
    return Plan(
        scenario=market,
        nodes=nodes,
        between_seconds=between,
        save_seconds=save_seconds,
        blocking_seconds=blocking,
        restore_seconds=restore_seconds,
        interval=interval,
        landing_chance=landing_chance,
        waste=waste,
        budget=budget,
        fits=fits,
        notes=_notes(interval, save_seconds, restore_seconds, between, budget, fits),
    )


def _save_seconds(
    seconds: float | None, state_bytes: int | None, bytes_per_second: float | None
) -> float:
    if state_bytes is not None and bytes_per_second is not None:
        return state_bytes / bytes_per_second
    assert seconds is not None
    return seconds


def _notes(
    interval: Interval,
    save_seconds: float,
    restore_seconds: float,
    between: float,
    budget: Budget,
    fits: bool,
) -> tuple[str, ...]:
    notes: list[str] = []
    if not fits:
        notes.append(
            f"a save takes {save_seconds:.0f} s and a pod has {budget.seconds} s when its node is "
            f"taken away ({budget.why}): what was done since the last save is lost each time; "
            f"{budget.mend(save_seconds)}"
        )
    if interval.warning:
        notes.append(interval.warning)
    if restore_seconds >= between / 4:
        notes.append(
            f"starting again takes {restore_seconds:.0f} s and the program is interrupted every "
            f"{between:.0f} s on average: many lives end before their work goes on"
        )
    return tuple(notes)


def _save_problems(
    save_seconds: float | None,
    state_bytes: int | None,
    bytes_per_second: float | None,
    blocking_seconds: float | None,
) -> list[Problem]:
    given = {
        "save_seconds": (save_seconds, False),
        "state_bytes": (state_bytes, False),
        "bytes_per_second": (bytes_per_second, True),
        "blocking_seconds": (blocking_seconds, False),
    }
    problems = [
        problem
        for key, (value, above) in given.items()
        if value is not None
        for problem in number_problems(key, value, above=above)
    ]
    by_size = state_bytes is not None or bytes_per_second is not None
    if save_seconds is not None and by_size:
        problems.append(
            Problem(
                "save_seconds",
                save_seconds,
                "is given beside state_bytes or bytes_per_second, which say the same",
                "give either the seconds or the size and the speed",
            )
        )
    elif save_seconds is None and (state_bytes is None or bytes_per_second is None):
        missing = "bytes_per_second" if state_bytes is not None else "state_bytes"
        problems.append(
            Problem(
                missing if by_size else "save_seconds",
                None,
                "how long a save takes is not known",
                "give save_seconds, or both state_bytes and bytes_per_second",
            )
        )
    if problems or blocking_seconds is None:
        return problems
    whole = _save_seconds(save_seconds, state_bytes, bytes_per_second)
    if blocking_seconds > whole:
        rule = f"a save holds up the work for no longer than it takes, {whole:g} s"
        return [Problem("blocking_seconds", blocking_seconds, rule, "give less, or leave it out")]
    return []


def _market_problems(
    scenario: str | None, interruptions_per_node_hour: float | None, nodes: object
) -> list[Problem]:
    problems: list[Problem] = []
    known = scenarios.names()
    if scenario is not None and scenario not in known:
        problems.append(
            Problem("scenario", scenario, "is no known scenario", did_you_mean(scenario, known))
        )
    if scenario is not None and interruptions_per_node_hour is not None:
        problems.append(
            Problem(
                "interruptions_per_node_hour",
                interruptions_per_node_hour,
                f"is given beside scenario {scenario!r}, which says the same",
                "give one of the two",
            )
        )
    elif interruptions_per_node_hour is not None:
        problems += number_problems(
            "interruptions_per_node_hour", interruptions_per_node_hour, above=True
        )
    if isinstance(nodes, bool) or not isinstance(nodes, int) or nodes < 1:
        problems.append(
            Problem("nodes", nodes, "must be a whole number, 1 or more", "give the number of nodes")
        )
    return problems
