"""The command line as a whole: which commands there are, and how each ends."""

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from spotproof_gke.commands import advise, audit, cost, doctor, gpus, graph, interval
from spotproof_gke.commands.terminal import (
    DONE,
    INTERRUPTED,
    REFUSED,
    CommandError,
    tolerate_narrow_encodings,
)
from spotproof_gke.problems import ProblemsError


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"spotproof {version('spotproof-gke')}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """AI work on GKE capacity that can be taken away: what to take, its cost, what is wrong."""


def _paragraphs(function: Callable[..., object]) -> str:
    """The docstring with one line for each paragraph, since the terminal breaks lines itself."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def application() -> typer.Typer:
    """The application with all commands."""
    app = typer.Typer(
        name="spotproof",
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name, module, function in (
        ("advise", advise, advise.advise_command),
        ("audit", audit, audit.audit),
        ("graph", graph, graph.graph),
        ("doctor", doctor, doctor.doctor),
        ("cost", cost, cost.cost),
        ("gpus", gpus, gpus.gpus),
        ("interval", interval, interval.interval),
    ):
        app.command(name, help=_paragraphs(function), epilog=module.EPILOG)(function)
    return app


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; errors are printed, in one form for all commands.

    Raises:
        BrokenPipeError: The reader of standard output has gone.
    """
    tolerate_narrow_encodings()
    command = typer.main.get_command(application())
    name = next((each for each in arguments if not each.startswith("-")), "")
    who = f"spotproof {name}" if name in getattr(command, "commands", ()) else "spotproof"
    if not arguments:
        return _complain(who, f"a command is missing; see `{who} --help`")
    try:
        return command.main(list(arguments), prog_name="spotproof", standalone_mode=False) or DONE
    except (CommandError, ProblemsError) as error:
        return _complain(who, str(error))
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except SystemExit as error:
        # The parser's own answer to a closed pipe.
        raise BrokenPipeError from error
    except Exception as error:
        # What the parser refuses. Typer may bring its own copy of click, so classes tell nothing.
        said = getattr(error, "format_message", None)
        if said is None:
            raise
        return _complain(who, f"{said().rstrip('.')}; see `{who} --help`")


def _complain(who: str, message: str) -> int:
    print(f"{who}: {message}", file=sys.stderr)
    return REFUSED
