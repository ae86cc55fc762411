"""The command line of `spotproof cost`."""

import shutil
import subprocess
import tempfile
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from spotproof_gke.audit.evidence import InputError, printable
from spotproof_gke.commands import cost_report as report
from spotproof_gke.commands.terminal import CommandError, Json, console, print_json
from spotproof_gke.cost import plans
from spotproof_gke.cost.estimate import estimate
from spotproof_gke.cost.lines import MONTH_HOURS, Use
from spotproof_gke.cost.plans import Plan

MOST_NODES = 1e6
"""No pool has more nodes."""

EXPORT_SECONDS = 120
"""How long `pulumi stack export` may take."""

MOST_GIB = 1e12
"""Nobody stores or sends more."""

EPILOG = "\n\n".join(
    (
        "examples:",
        "pulumi preview --json | spotproof cost -  # before anything is created",
        "spotproof cost --stack prod  # what is there, by pulumi stack export",
        "spotproof cost plan.json --nodes spot-l4=3 --stored-gib 500",
        "exit codes: 0 estimated, also with unknown parts; 2 wrong usage or unreadable input",
    )
)


def cost(
    plan: Annotated[
        str | None,
        typer.Argument(
            metavar="[PLAN]",
            help="Output of `pulumi preview --json`, of `--save-plan`, or of `pulumi stack "
            "export`; - is standard input.",
        ),
    ] = None,
    stack: Annotated[
        str | None,
        typer.Option("--stack", metavar="NAME", help="Export this stack with pulumi, here."),
    ] = None,
    nodes: Annotated[
        list[str] | None,
        typer.Option(
            metavar="POOL=N", help="How many nodes of a pool run on average; may be repeated."
        ),
    ] = None,
    hours_per_month: Annotated[
        float,
        typer.Option(min=0, max=744, metavar="N", help="Hours of a month that nodes run."),
    ] = MONTH_HOURS,
    stored_gib: Annotated[
        float | None, typer.Option(min=0, metavar="N", help="What each bucket holds, in GiB.")
    ] = None,
    messages_gib: Annotated[
        float | None,
        typer.Option(min=0, metavar="N", help="Messages of a month through Pub/Sub, in GiB."),
    ] = None,
    traffic_gib: Annotated[
        float | None,
        typer.Option(min=0, metavar="N", help="What each NAT gateway carries a month, in GiB."),
    ] = None,
    region: Annotated[
        str | None,
        typer.Option(metavar="REGION", help="Where pools are of which the plan does not tell."),
    ] = None,
    json_: Json = False,
) -> None:
    """Estimate what a plan or a stack costs in a month, and name the quotas that it needs.

    Prices come from a dated table with the source of each, offline. What is not known is said to
    be unknown, and amounts are ranges: from the fewest to the most nodes that the pools allow.
    """
    if (plan is None) == (stack is None):
        what = "both a plan and --stack" if plan else "neither a plan nor --stack"
        raise CommandError(f"{what}; give one of them, see `spotproof cost --help`")
    counts = _counts(nodes or [])
    for amount in (hours_per_month, stored_gib, messages_gib, traffic_gib):
        if amount is not None and not amount < MOST_GIB:
            raise CommandError(f"{amount:g}: give hours and GiB as ordinary numbers")
    try:
        read = plans.read(plan) if plan is not None else _exported(str(stack))
    except InputError as error:
        raise CommandError(str(error)) from None
    use = Use(hours_per_month, stored_gib, messages_gib, traffic_gib)
    made = estimate(read, use, date.today(), counts, region)
    if json_:
        print_json(report.as_json(made))
    else:
        report.print_text(made, console())


def _counts(given: list[str]) -> dict[str, float]:
    counts: dict[str, float] = {}
    for each in given:
        pool, equals, number = each.rpartition("=")
        try:
            count = float(number)
        except ValueError:
            count = -1.0
        if not equals or not pool or not 0 <= count < MOST_NODES:
            rule = "a pool and a number of nodes, 0 or more, such as spot-l4=3"
            raise CommandError(f"--nodes {each!r}: not {rule}")
        counts[pool] = count
    return counts


def _exported(stack: str) -> Plan:
    """The state of a stack, by the pulumi on the path and the login that it has."""
    option = f"--stack {printable(stack)}"
    pulumi = shutil.which("pulumi")
    if pulumi is None:
        raise CommandError(
            f"{option}: pulumi is not on the PATH; install it, or give a file that "
            "`pulumi stack export` wrote"
        )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "state.json"
        command = [pulumi, "stack", "export", "--stack", stack, "--file", str(file)]
        try:
            done = subprocess.run(
                [*command, "--non-interactive"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=EXPORT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise CommandError(
                f"{option}: pulumi took longer than {EXPORT_SECONDS} s; try `pulumi stack export`"
            ) from None
        if done.returncode != 0 or not file.exists():
            said = (done.stderr or done.stdout).strip().splitlines()
            why = printable(said[0].removeprefix("error: ")) if said else "it gave no reason"
            raise CommandError(f"{option}: pulumi could not export it: {why}")
        found = plans.read(str(file))
    return Plan(f"stack {printable(stack)}", found.kind, found.resources, found.notes)
