"""What interruptions cost some work on Spot, in the scenario that is taken when none is named."""

from math import exp, inf

from spotproof_gke import checkpoint_plan, scenarios
from spotproof_gke.checkpoint_plan import Plan
from spotproof_gke.strategy.question import Question
from spotproof_gke.strategy.sentences import duration, nodes, seconds
from spotproof_gke.strategy.verdict import Because, because

SCENARIO = "normal"
"""The scenario that answers are given for, one of `scenarios.names()`."""

SAVE_SECONDS = 60.0
"""How long a save is taken to need when nobody says it."""

LEAST_GOODPUT = 0.6
"""The least share of the time on Spot that has to stay work; our choice.

Spot is at most 91 % off and flex-start at most 53 %: far below it the dearer node is the cheaper.
"""

MOST_REPEATS = 2.0
"""How many times as long work without checkpoints may take on Spot; our choice as above."""


def saving(question: Question) -> Plan:
    """How often such work saves on Spot, and what it wastes."""
    seconds = SAVE_SECONDS if question.save_seconds is None else question.save_seconds
    return checkpoint_plan.plan(save_seconds=seconds, nodes=question.nodes, scenario=SCENARIO)


def repeats(question: Question) -> float:
    """How many times as long work takes on Spot that begins again after each interruption.

    With interruptions at any time alike, every M on average, work of length L takes
    `M * (exp(L / M) - 1)`.
    """
    if question.hours is None:
        return 1.0
    between_hours = scenarios.scenario(SCENARIO).between_seconds(question.nodes) / 3600
    lives = question.hours / between_hours
    return (exp(lives) - 1) / lives if lives < 50 else inf


def share(question: Question) -> Because:
    """What stays work on Spot, as a reason."""
    plan = saving(question)
    return because(
        "spot-share",
        nodes_word=nodes(question.nodes),
        percent=_percent(plan),
        between=seconds(plan.between_seconds),
    )


def wastes(question: Question) -> Because:
    """The same as a reason against Spot."""
    return because(
        "flex-because-spot-wastes",
        nodes_word=nodes(question.nodes),
        percent=_percent(saving(question)),
        least=f"{100 * LEAST_GOODPUT:.0f}",
    )


def again(question: Question) -> Because:
    """How many times as long it takes on Spot to begin again and again, as a reason against it."""
    times = repeats(question)
    return because(
        "flex-because-restart",
        duration=duration(question.hours or 0.0),
        times=f"{times:.0f}" if times < 1000 else "a thousand or more",
        most=f"{MOST_REPEATS:g}",
    )


def _percent(plan: Plan) -> str:
    return f"{100 * plan.waste.goodput:.0f}"
