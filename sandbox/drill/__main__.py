"""`python -m sandbox.drill`: interruptions on this machine, and the promises that hold in them."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from sandbox.cluster.binaries import BinariesError
from sandbox.cluster.control_plane import ControlPlaneError
from sandbox.drill.local import FOLDER, FolderError, drill
from sandbox.drill.mine import UnreachableError, client_of, reaching
from sandbox.drill.observed import observe
from sandbox.drill.play import TIMEOUT_SECONDS
from sandbox.drill.pools import UnfitClusterError
from sandbox.drill.report import Report
from sandbox.drill.terminal import Board, board
from sandbox.drill.watch import WATCH_SECONDS, NothingToWatchError, Watch
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
LOCAL, MINE = "local", "mine"
USERS_ERRORS = (
    BinariesError,
    BusyError,
    ControlPlaneError,
    EmulatedError,
    EngineError,
    FolderError,
    NothingToWatchError,
    StackNameError,
    UnfitClusterError,
    UnknownStackError,
    UnreachableError,
    UnreadableStackFileError,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a drill. Code 0: all promises kept; 1: not all, or an error; 130: interrupted."""
    options = _options(arguments)
    shown = board()
    try:
        report = _mine(options, shown) if options.cluster == MINE else _local(options, shown)
        shown.close()
    except USERS_ERRORS as error:
        shown.close()
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        shown.close()
        print("interrupted", file=sys.stderr)
        return 130
    print(f"\n{report.text()}")
    if options.json:
        try:
            report.write(options.json)
        except OSError as error:
            print(f"error: {options.json} cannot be written: {error.strerror}", file=sys.stderr)
            return 1
    return 0 if report.ok else 1


def _local(options: argparse.Namespace, shown: Board) -> Report:
    stack = short_name(options.stack or STACK)
    stack_file(stack)
    seconds = options.timeout_seconds or TIMEOUT_SECONDS
    return drill(stack, shown, seconds, options.folder or FOLDER, options.keep)


def _mine(options: argparse.Namespace, shown: Board) -> Report:
    """Looks at the user's own cluster, and changes nothing there."""
    name, client = client_of(options.kubeconfig, options.context)
    with reaching(f"cluster {name}"):
        if options.watch_eviction is None:
            return observe(client, Report(f"cluster {name}, as it is now"), shown)
        node = options.watch_eviction
        report = Report(f"cluster {name}: what becomes of the work on {node}")
        seconds = options.timeout_seconds or WATCH_SECONDS
        return Watch(client, node, report, shown, seconds).run()


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = _parser()
    options = parser.parse_args(arguments)
    for_mine = {
        "--kubeconfig": options.kubeconfig,
        "--context": options.context,
        "--watch-eviction": options.watch_eviction,
    }
    for_local = {
        "--stack": options.stack,
        "--folder": options.folder,
        "--keep": options.keep or None,
    }
    is_mine = options.cluster == MINE
    for name, value in (for_local if is_mine else for_mine).items():
        if value is not None:
            wanted = "a drill on this machine" if is_mine else f"--cluster {MINE}"
            parser.error(f"{name} goes with {wanted} only")
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sandbox.drill", description=__doc__, allow_abbrev=False
    )
    parser.add_argument(
        "--cluster",
        choices=[LOCAL, MINE],
        default=LOCAL,
        help=f"{LOCAL}: one on this machine, made for the drill; {MINE}: look at the one of your "
        "kubeconfig, without changing it; default: %(default)s",
    )
    parser.add_argument("--stack", help=f"the stack whose cluster is simulated; default: {STACK}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report there as JSON")
    parser.add_argument(
        "--timeout-seconds",
        type=_seconds,
        help="how long one thing may take that comes by itself, or the whole watch; default: "
        f"{TIMEOUT_SECONDS:.0f}, for a watch {WATCH_SECONDS:.0f}",
    )
    parser.add_argument(
        "--folder", type=Path, help=f"holds the drill while it runs; default: {FOLDER}"
    )
    parser.add_argument(
        "--keep", action="store_true", help="leave the folder, with the logs, in its place"
    )
    mine = parser.add_argument_group(f"with --cluster {MINE}")
    mine.add_argument(
        "--kubeconfig", type=Path, metavar="FILE", help="default: KUBECONFIG, else ~/.kube/config"
    )
    mine.add_argument("--context", help="context of the kubeconfig; default: the current one")
    mine.add_argument(
        "--watch-eviction",
        metavar="NODE",
        help="watch this Spot or flex-start node go, and whether its work comes back",
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
