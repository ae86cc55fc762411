"""The command line of `spotproof doctor`."""

from pathlib import Path
from typing import Annotated

import typer

from spotproof_gke.audit.evidence import InputError, printable
from spotproof_gke.commands.terminal import DONE, FOUND, CommandError, Json, console, print_json
from spotproof_gke.doctor.examination import all_fine, examine
from spotproof_gke.doctor.place import Place
from spotproof_gke.doctor.report import as_json, print_rows

EPILOG = "\n\n".join(
    (
        "examples:",
        "spotproof doctor  # this machine, and the project in this folder",
        "spotproof doctor --stack prod  # a stack's settings, locks and state too",
        "pulumi stack export | spotproof doctor --state -",
        "exit codes: 0 nothing is missing, 1 something is, 2 wrong usage or unreadable input",
    )
)


def doctor(
    stack: Annotated[str, typer.Option(metavar="NAME", help="The stack to look at.")] = "",
    state: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Output of `pulumi stack export`; - is standard input. Without it the file of a "
            "file:// backend is read.",
        ),
    ] = "",
    project: Annotated[
        Path, typer.Option(metavar="DIR", help="The project's folder, or one inside it.")
    ] = Path(),
    online: Annotated[
        bool, typer.Option("--online", help="Ask gcloud which APIs are enabled.")
    ] = False,
    skip: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Leave a row out, for example gcloud; may be repeated."),
    ] = None,
    json_: Json = False,
) -> None:
    """Say what is missing on this machine, in this project and in this stack's state.

    Tools, plugins, logins, settings, locks and what an interrupted update left; for each what it is
    needed for, and the one command that mends it. Changes nothing, asks no network unless told so,
    and prints no credentials.
    """
    if not project.is_dir():
        raise CommandError(
            f"--project {printable(str(project))}: not a folder; name the one of a Pulumi project"
        )
    try:
        rows = examine(Place(project, stack), state, online=online, skip=skip or ())
    except InputError as error:
        raise CommandError(str(error)) from None
    if json_:
        print_json(as_json(rows))
    else:
        print_rows(rows, console())
    raise typer.Exit(DONE if all_fine(rows) else FOUND)
