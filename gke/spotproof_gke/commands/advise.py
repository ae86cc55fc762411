"""The command line of `spotproof advise`."""

from math import inf
from typing import Annotated, Any

import typer

from spotproof_gke.commands.terminal import CommandError, Json, print_json
from spotproof_gke.problems import Problem, ProblemsError

_OPTION_OF = {"mode": "--cluster-mode", "version": "--cluster-version"}
_KINDS = "training|batch|stateless|ci|notebook|stateful|system"
_MODES = "standard|autopilot|none"

EPILOG = "\n\n".join(
    (
        "examples:",
        "spotproof advise --kind training --interruptible --accelerator l4 --region europe-west4",
        "spotproof advise --kind training --not-interruptible --start-flexible --hours 100 "
        "--accelerator h100 --gpus 8 --nodes 4",
        "spotproof advise --kind stateless --replicas 6 --accelerator l4 --json",
        "spotproof advise --kind batch --ask  # asks for what is missing",
        "exit codes: 0 an answer, 2 wrong usage, or something decisive is missing",
    )
)


def advise_command(
    kind: Annotated[str | None, typer.Option(metavar=_KINDS, help="What sort of work.")] = None,
    interruptible: Annotated[
        bool | None,
        typer.Option(
            "--interruptible/--not-interruptible",
            help="Whether it may lose its node: it goes on, or begins again.",
        ),
    ] = None,
    checkpoints: Annotated[
        bool | None,
        typer.Option(
            "--checkpoints/--no-checkpoints", help="Whether it goes on from where it saved."
        ),
    ] = None,
    start_flexible: Annotated[
        bool | None,
        typer.Option("--start-flexible/--start-now", help="Whether its start may wait, for days."),
    ] = None,
    hours: Annotated[
        str | None, typer.Option(metavar="N|forever", help="How long it runs.")
    ] = None,
    accelerator: Annotated[
        str | None,
        typer.Option(metavar="GPU|none", help="As GKE names it, or short: l4, a100-80gb, h100."),
    ] = None,
    gpus: Annotated[str | None, typer.Option(metavar="N", help="GPUs of one node.")] = None,
    nodes: Annotated[
        str | None, typer.Option(metavar="N", help="Nodes that work at once; 1 by itself.")
    ] = None,
    replicas: Annotated[
        str | None, typer.Option(metavar="N", help="Replicas that serve, of stateless work.")
    ] = None,
    region: Annotated[str | None, typer.Option(metavar="REGION")] = None,
    cluster_mode: Annotated[
        str | None, typer.Option(metavar=_MODES, help="What cluster there is.")
    ] = None,
    cluster_version: Annotated[
        str | None, typer.Option(metavar="VERSION", help="Of its control plane.")
    ] = None,
    reservation: Annotated[
        str | None, typer.Option(metavar="NAME", help="A reservation that this work may use.")
    ] = None,
    save_seconds: Annotated[
        str | None, typer.Option(metavar="N", help="How long a save takes.")
    ] = None,
    latency_critical: Annotated[
        bool,
        typer.Option("--latency-critical", help="People wait, and nothing else answers them."),
    ] = False,
    local_state: Annotated[
        bool, typer.Option("--local-state", help="It depends on its node: a disk, a licence.")
    ] = False,
    sla: Annotated[
        bool, typer.Option("--sla", help="A contract or a regulation asks for availability.")
    ] = False,
    unsure: Annotated[
        bool, typer.Option("--unsure", help="Take the careful way where something is not known.")
    ] = False,
    ask: Annotated[bool, typer.Option("--ask", help="Ask for what is missing.")] = False,
    snippet: Annotated[
        bool, typer.Option("--snippet", help="Print the stack file to paste alone.")
    ] = False,
    json_: Json = False,
) -> None:
    """Say which capacity some work should take, why, and what to paste.

    The answer is Spot, flex-start, on-demand, a reservation, a mix of them, or neither with what to
    do instead. Each reason has the address of the guidance it follows and the day on which it was
    read; where guidance is silent, the answer says so. Nothing is asked of a cloud.
    """
    if snippet and json_:
        raise CommandError("--json prints the snippet with all else: leave --snippet out")
    # Here, since the tables take longer to read than the other commands to start.
    from spotproof_gke.commands import advise_questions, advise_text
    from spotproof_gke.strategy import advise, read_question

    given: dict[str, Any] = {
        "kind": kind,
        "interruptible": interruptible,
        "checkpoints": checkpoints,
        "start_flexible": start_flexible,
        "hours": inf if hours == "forever" else _number(hours, float),
        "accelerator": accelerator,
        "gpus": _number(gpus, int),
        "nodes": _number(nodes, int),
        "replicas": _number(replicas, int),
        "region": region,
        "mode": cluster_mode,
        "version": cluster_version,
        "reservation": reservation,
        "save_seconds": _number(save_seconds, float),
        "latency_critical": latency_critical,
        "local_state": local_state,
        "sla": sla,
    }
    if ask:
        advise_questions.ask(given)
    try:
        question = read_question(given, complete=not (unsure or ask))
    except ProblemsError as error:
        raise ProblemsError("the work", [_by_option(each) for each in error.problems]) from None
    answer = advise(question)
    if json_:
        print_json(answer.as_data())
    elif snippet:
        advise_text.print_snippet(answer)
    else:
        advise_text.print_answer(answer)


def _number(text: str | None, kind: type[int] | type[float]) -> Any:
    """The number in `text`, or the text where there is none, for the reader to complain about."""
    try:
        return None if text is None else kind(text)
    except ValueError:
        return text


def _by_option(problem: Problem) -> Problem:
    """A problem that names the option instead of the argument."""
    from spotproof_gke.strategy.question import DEPENDS

    option = _OPTION_OF.get(problem.key, "--" + problem.key.replace("_", "-"))
    fix = problem.fix
    if problem.rule == DEPENDS and problem.key != "kind":
        fix += ", or add --unsure"
    return Problem(option, problem.value, problem.rule, fix)
