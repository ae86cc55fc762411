"""The command `spotproof`; also `python -m spotproof_gke.cli`."""

import argparse
import io
import os
import sys
from collections.abc import Sequence

from spotproof_gke.audit import command as audit

_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; 2 for wrong usage."""
    parser = argparse.ArgumentParser(
        prog="spotproof",
        description="What Spot and flex-start nodes of GKE do to what runs on them.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    audit.add_parser(commands)
    arguments = parser.parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name that the terminal has no letters for must not cost the report.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has seen enough (`| head`); Python would complain once more at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return audit.NOT_AUDITED
    except KeyboardInterrupt:
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
