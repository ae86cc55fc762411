"""The command line of `spotproof interval`."""

from collections.abc import Iterator
from math import inf
from typing import Annotated, Any

import typer
from rich.text import Text

from spotproof_gke import scenarios
from spotproof_gke.capacity import Capacity
from spotproof_gke.checkpoint_plan import RESTORE_SECONDS, Plan, plan
from spotproof_gke.commands.plain_table import print_table
from spotproof_gke.commands.terminal import CommandError, Json, console, print_json
from spotproof_gke.grace import SHUTDOWN_SECONDS, Mode, termination_budget
from spotproof_gke.interval import Waste, expected_waste, lives
from spotproof_gke.problems import Problem, ProblemsError
from spotproof_gke.tables import table

COMPARED = {"every 30 minutes": 1800.0, "every hour": 3600.0}
"""Fixed intervals that the plan is compared with."""

_OPTIONS = {
    "state_bytes": "--state-gib",
    "bytes_per_second": "--mib-per-second",
    "interruptions_per_node_hour": "--between-hours",
    "save_seconds": "--save-seconds",
    "blocking_seconds": "--blocking-seconds",
    "restore_seconds": "--restore-seconds",
    "landing_chance": "--landing-chance",
}
"""Options by the argument of the plan that they give."""

GIB = 2**30
MIB = 2**20
_MOST = 1e12
"""No checkpoint is as large, and no bucket as fast."""

EPILOG = "\n\n".join(
    (
        "examples:",
        "spotproof interval --save-seconds 12  # one Spot node, taken away now and then",
        "spotproof interval --state-gib 40 --mib-per-second 800 --nodes 8 --scenario rough",
        "spotproof interval --save-seconds 90 --shutdown-seconds 120 --between-hours 6",
        "exit codes: 0 planned, also when a save does not fit; 2 wrong usage",
    )
)


def interval(
    save_seconds: Annotated[
        float | None,
        typer.Option(metavar="N", help="How long a save takes until it counts."),
    ] = None,
    state_gib: Annotated[
        float | None,
        typer.Option(metavar="N", help="Or the size of a checkpoint, in GiB."),
    ] = None,
    mib_per_second: Annotated[
        float | None,
        typer.Option(metavar="N", help="And how fast it is written, measured from a pod."),
    ] = None,
    blocking_seconds: Annotated[
        float | None,
        typer.Option(metavar="N", help="How long a save holds up the work, if less."),
    ] = None,
    restore_seconds: Annotated[
        float,
        typer.Option(metavar="N", help="From the start of the program until its work goes on."),
    ] = RESTORE_SECONDS,
    scenario: Annotated[
        str | None,
        typer.Option(metavar="NAME", help=f"One of {', '.join(scenarios.names())}."),
    ] = None,
    between_hours: Annotated[
        float | None,
        typer.Option(metavar="N", help="Or mean hours between losses of one node, as counted."),
    ] = None,
    nodes: Annotated[
        int,
        typer.Option(max=100_000, metavar="N", help="Nodes that the program needs all at once."),
    ] = 1,
    capacity: Annotated[Capacity, typer.Option(help="How they are obtained.")] = Capacity.SPOT,
    mode: Annotated[Mode, typer.Option(help="The cluster's mode.")] = Mode.STANDARD,
    shutdown_seconds: Annotated[
        int,
        typer.Option(metavar="N", help="Extended shutdown of the pool: 0, 30 or 120."),
    ] = 0,
    landing_chance: Annotated[
        float | None,
        typer.Option(metavar="P", help="Share of saves on SIGTERM that land, 0 to 1."),
    ] = None,
    json_: Json = False,
) -> None:
    """Tell how often a program should save its state, and what is wasted then.

    Losing one of its nodes interrupts a program that needs all of them. Scenarios are round
    figures from public traces; whoever has counted on their own cluster gives --between-hours.
    """
    if shutdown_seconds not in SHUTDOWN_SECONDS:
        known = ", ".join(map(str, SHUTDOWN_SECONDS))
        raise CommandError(f"--shutdown-seconds {shutdown_seconds}: GKE takes {known}")
    if shutdown_seconds and (capacity is not Capacity.SPOT or mode is Mode.AUTOPILOT):
        raise CommandError(
            f"--shutdown-seconds {shutdown_seconds}: GKE extends the shutdown of Spot nodes of "
            "Standard clusters alone; leave it out"
        )
    if between_hours is not None and not 0 < between_hours < inf:
        raise CommandError(f"--between-hours {between_hours:g}: give a number above 0")
    if capacity is not Capacity.SPOT and scenario is None and between_hours is None:
        raise CommandError(
            f"--capacity {capacity.value}: the scenarios are of Spot nodes; give --between-hours, "
            "the mean hours between losses of one node as counted"
        )
    try:
        made = plan(
            save_seconds=save_seconds,
            state_bytes=_whole(state_gib, GIB, "--state-gib"),
            bytes_per_second=_whole(mib_per_second, MIB, "--mib-per-second"),
            blocking_seconds=blocking_seconds,
            restore_seconds=restore_seconds,
            scenario=scenario,
            interruptions_per_node_hour=None if between_hours is None else 1 / between_hours,
            nodes=nodes,
            budget=termination_budget(capacity, mode, shutdown_seconds),
            landing_chance=landing_chance,
        )
    except ProblemsError as error:
        raise _in_options(error) from None
    if json_:
        print_json(_as_json(made))
    else:
        _print_text(made)


def _in_options(error: ProblemsError) -> ProblemsError:
    """What is wrong with arguments of a plan, as what is wrong with the options for them."""

    def renamed(words: str) -> str:
        for argument, option in _OPTIONS.items():
            words = words.replace(argument, option)
        return words

    problems = [
        Problem(
            _OPTIONS.get(each.key, f"--{each.key}"),
            each.value,
            renamed(each.rule),
            renamed(each.fix),
        )
        for each in error.problems
    ]
    return ProblemsError(error.subject, problems)


def _whole(amount: float | None, unit: int, option: str) -> int | None:
    """An amount in bytes."""
    if amount is None:
        return None
    if not 0 < amount < _MOST:
        raise CommandError(f"{option} {amount:g}: give a number above 0 and below {_MOST:g}")
    return max(round(amount * unit), 1)


def _compared(made: Plan) -> dict[str, Waste]:
    """What is wasted at the plan's interval, at fixed ones, and with saves on SIGTERM alone."""
    return {"as planned": made.waste} | {
        name: expected_waste(
            seconds,
            made.blocking_seconds,
            made.restore_seconds,
            lives(made.between_seconds, made.scenario.lifetime_sigma(made.nodes)),
            made.landing_chance,
            max(made.save_seconds - made.blocking_seconds, 0.0),
        )
        for name, seconds in COMPARED.items()
    }


def _as_json(made: Plan) -> dict[str, Any]:
    return {
        "intervalSeconds": round(made.interval.seconds, 1),
        "bound": made.interval.bound.value if made.interval.bound else None,
        "goodput": round(made.waste.goodput, 4),
        "waste": _waste(made.waste),
        "compared": [
            {"name": name, "intervalSeconds": COMPARED[name], **_waste(waste)}
            for name, waste in _compared(made).items()
            if name in COMPARED
        ],
        "saveSeconds": made.save_seconds,
        "blockingSeconds": made.blocking_seconds,
        "restoreSeconds": made.restore_seconds,
        "landingChance": made.landing_chance,
        "budgetSeconds": made.budget.seconds,
        "budgetWhy": made.budget.why,
        "fits": made.fits,
        "scenario": made.scenario.name,
        "nodes": made.nodes,
        "betweenSeconds": round(made.between_seconds, 1),
        "notes": list(made.notes),
        "source": _source(),
    }


def _waste(waste: Waste) -> dict[str, float]:
    return {
        "saving": round(waste.saving, 4),
        "restoring": round(waste.restoring, 4),
        "lost": round(waste.lost, 4),
        "total": round(waste.total, 4),
    }


def _print_text(made: Plan) -> None:
    out = console()
    out.print(Text(f"Save every {_seconds(made.interval.seconds)}.\n"))
    for line in _facts(made):
        out.print(Text(line))
    out.print()
    shares = ("kept", "saving", "restoring", "lost")
    print_table(out, ("share of the time", *shares), _share_rows(made), numbers=shares)
    for note in made.notes:
        out.print(Text(f"\nNote: {note}."))
    out.print(Text(f"\n{_source()}"), soft_wrap=True)


def _share_rows(made: Plan) -> Iterator[tuple[str, ...]]:
    for name, waste in _compared(made).items():
        parts = (waste.goodput, waste.saving, waste.restoring, waste.lost)
        yield name, *(f"{part:.1%}" for part in parts)


def _facts(made: Plan) -> Iterator[str]:
    who = "1 node" if made.nodes == 1 else f"any of {made.nodes} nodes"
    yield f"  {who} lost every {_seconds(made.between_seconds)} on average ({made.scenario.name})"
    yield f"  a save takes {_seconds(made.save_seconds)}, holding up the work for " + (
        f"{_seconds(made.blocking_seconds)}; starting again {_seconds(made.restore_seconds)}"
    )
    if made.budget.seconds is None:
        yield f"  a save on SIGTERM always fits: {made.budget.why}"
    else:
        fits = "fits into" if made.fits else "does not fit into"
        yield f"  a save on SIGTERM {fits} {made.budget.seconds} s ({made.budget.why})"


def _seconds(amount: float) -> str:
    """A time as people say it, to two or three digits."""
    if amount < 120:
        return f"{amount:.3g} s"
    if amount < 7200:
        return f"{amount / 60:.2g} min ({amount:.0f} s)"
    return f"{amount / 3600:.3g} h"


def _source() -> str:
    facts = table("interruption_scenarios")
    return f"Scenarios, written on {facts['read_on']}: {' '.join(facts['source'].split())}."
