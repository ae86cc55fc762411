"""How every command of `spotproof` speaks: errors in one form, JSON in one form, tables by Rich."""

import io
import json
import os
import sys
from typing import Annotated, Any

import typer
from rich.console import Console

DONE = 0
"""Exit code: the command did what it was asked, and nothing is wrong."""

FOUND = 1
"""Exit code: the command worked, and what it looked at is not in order."""

REFUSED = 2
"""Exit code: wrong usage, or an input that could not be read or is wrong."""

INTERRUPTED = 130
"""Exit code: ended by Ctrl-C, as shells say it."""

LEAST_COLUMNS = 40
"""No text is broken narrower: the terminal breaks it better than into letters."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
"""The option that every command has."""


class CommandError(Exception):
    """What stands in the way of a command; ends it with the code `REFUSED`.

    The message names the input, the value, the rule and what to do; one line for each problem.
    """


def print_json(content: Any) -> None:
    """Print `content` as indented JSON, in the order of its keys and in ASCII."""
    print(json.dumps(content, indent=2))


def console() -> Console:
    """A console on standard output: as wide as the terminal, and 100 columns where there is none.

    Colours follow the terminal and `NO_COLOR`. Values of others are printed with `markup=False` or
    escaped, since brackets in them are no markup.
    """
    wide = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 100
    made = Console(width=wide, highlight=False, emoji=False)
    made.width = max(made.width, LEAST_COLUMNS)
    return made


def tolerate_narrow_encodings() -> None:
    """Write characters that the terminal has no letters for as escapes."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
