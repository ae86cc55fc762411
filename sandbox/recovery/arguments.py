"""The arguments of `make recover`."""

import argparse
import os
from collections.abc import Sequence

from sandbox.recovery.choices import Words
from sandbox.recovery.orphans import WAIT_SECONDS
from sandbox.recovery.recover import Options


def options_of(arguments: Sequence[str]) -> Options:
    """The options; `YES=1` of make is `--yes`. A wrong argument ends the process with code 2."""
    parser = argparse.ArgumentParser(
        prog="python -m sandbox recover",
        description="Releases the lock of a killed update, looks for what it was creating, "
        "refreshes the state and shows the plan.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--yes", "-y", action="store_true", help="change without asking; YES=1 of make says it too"
    )
    parser.add_argument(
        "--id", action="append", default=[], metavar="URN=ID", dest="ids",
        help="the cloud's id of an interrupted create, where its name does not tell it",
    )  # fmt: skip
    parser.add_argument(
        "--drop", action="append", default=[], metavar="URN", dest="drops",
        help="an interrupted create that is to be forgotten, whatever is in the cloud",
    )  # fmt: skip
    parser.add_argument(
        "--adopt", action="append", default=[], metavar="URN", dest="adopted",
        help="what the plan creates and the cloud has already, because a provider crashed after "
        "it had created it; the program's name will do",
    )  # fmt: skip
    parser.add_argument(
        "--wait", type=float, default=WAIT_SECONDS, metavar="SECONDS",
        help="how long to wait for the killed engine's provider; default: %(default)s, 0: not",
    )  # fmt: skip
    given = parser.parse_args(list(arguments))
    words = Words(tuple(given.ids), tuple(given.drops))
    return Options(
        given.yes or os.environ.get("YES") == "1", words, given.wait, tuple(given.adopted)
    )
