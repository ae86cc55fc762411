"""The command line of `spotproof graph`."""

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from spotproof_gke.audit.evidence import InputError, printable
from spotproof_gke.commands.terminal import CommandError, Json, print_json
from spotproof_gke.picture import mermaid, svg
from spotproof_gke.picture.overview import as_json
from spotproof_gke.picture.program import program_of
from spotproof_gke.picture.survey import survey
from spotproof_gke.program_documents import read


class Format(str, Enum):
    """How the picture is written."""

    SVG = "svg"
    MERMAID = "mermaid"


EPILOG = "\n\n".join(
    (
        "examples:",
        "pulumi stack export | spotproof graph - --output stack.svg  # as it is",
        "pulumi preview --json --show-sames | spotproof graph - --output plan.svg  # as it will be",
        "spotproof graph state.json --format mermaid  # for a Markdown page",
        "exit codes: 0 drawn; 2 wrong usage, or a file that is neither a state nor a plan",
    )
)


def graph(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Output of `pulumi stack export` or of `pulumi preview --json`; - is standard "
            "input.",
        ),
    ],
    format_: Annotated[Format, typer.Option("--format", help="SVG or Mermaid.")] = Format.SVG,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the picture there, not to standard output."),
    ] = None,
    narrow: Annotated[
        bool, typer.Option("--narrow", help="One column, for a phone; for SVG.")
    ] = False,
    json_: Json = False,
) -> None:
    """Draw a stack: its clusters, pools by capacity, buckets, queues, and what may run where.

    The picture follows the reader's light or dark mode, and needs nothing beside itself. It holds
    names and settings of resources, and no secret, command or variable of a workload.
    """
    if narrow and format_ is Format.MERMAID:
        raise CommandError("--narrow is for SVG: a Mermaid diagram takes the width that it finds")
    if json_ and (output or narrow):
        raise CommandError("--json prints what the picture shows: leave --output and --narrow out")
    try:
        overview = survey(program_of(read(file)))
    except InputError as error:
        raise CommandError(str(error)) from None
    if json_:
        print_json(as_json(overview))
        return
    drawn = (
        mermaid.draw(overview)
        if format_ is Format.MERMAID
        else svg.draw(overview, svg.NARROW if narrow else svg.WIDE)
    )
    if output is None:
        sys.stdout.write(drawn)
        return
    try:
        output.write_text(drawn, encoding="utf-8")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not the name of a file"
        raise CommandError(
            f"--output {printable(str(output))}: {why}; name a file that can be written"
        ) from None
    print(f"{printable(str(output))}: {overview.summary()}")
    for note in overview.notes:
        print(f"note: {note}")
