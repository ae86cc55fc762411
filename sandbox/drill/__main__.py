"""`python -m sandbox.drill`: interruptions on this machine, and the promises that hold in them."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from sandbox.cluster.binaries import BinariesError
from sandbox.cluster.control_plane import ControlPlaneError
from sandbox.drill.local import FOLDER, FolderError, drill
from sandbox.drill.play import TIMEOUT_SECONDS
from sandbox.drill.pools import UnfitClusterError
from sandbox.drill.terminal import board
from sandbox.emulated import EmulatedError
from sandbox.engine import EngineError
from sandbox.locks import BusyError
from sandbox.stacks import (
    StackNameError,
    UnknownStackError,
    UnreadableStackFileError,
    short_name,
    stack_file,
)

STACK = "showcase"
USERS_ERRORS = (
    BinariesError,
    BusyError,
    ControlPlaneError,
    EmulatedError,
    EngineError,
    FolderError,
    StackNameError,
    UnfitClusterError,
    UnknownStackError,
    UnreadableStackFileError,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a drill. Code 0: all promises kept; 1: not all, or an error; 130: interrupted."""
    options = _parser().parse_args(arguments)
    shown = board()
    try:
        stack_file(short_name(options.stack))
        report = drill(
            short_name(options.stack),
            shown,
            options.timeout_seconds,
            options.folder,
            options.keep,
        )
    except USERS_ERRORS as error:
        shown.close()
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted: nothing of the drill is left", file=sys.stderr)
        return 130
    print(f"\n{report.text()}")
    if options.json:
        try:
            report.write(options.json)
        except OSError as error:
            print(f"error: {options.json} cannot be written: {error.strerror}", file=sys.stderr)
            return 1
    return 0 if report.ok else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sandbox.drill", description=__doc__, allow_abbrev=False
    )
    parser.add_argument(
        "--stack", default=STACK, help="the stack whose cluster is drilled; default: %(default)s"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report there as JSON")
    parser.add_argument(
        "--timeout-seconds",
        type=_seconds,
        default=TIMEOUT_SECONDS,
        help="how long one thing may take that comes by itself; default: %(default)s",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=FOLDER,
        help="holds the drill while it runs; default: %(default)s",
    )
    parser.add_argument(
        "--keep", action="store_true", help="leave the folder, with the logs, in its place"
    )
    return parser


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return seconds


if __name__ == "__main__":
    sys.exit(main())
