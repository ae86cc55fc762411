"""The command `spotproof`; also `python -m spotproof_gke.cli`."""

import os
import sys
from collections.abc import Sequence

_MISSING = """\
spotproof: the command needs Typer and Rich, which this installation left out.
Install them with: pip install 'spotproof-gke[cli]'"""
_REFUSED = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; 2 for wrong usage."""
    try:
        from spotproof_gke.commands.line import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich", "click"):
            raise
        print(_MISSING, file=sys.stderr)
        return _REFUSED
    try:
        code = run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has seen enough (`| head`); Python would complain once more at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _REFUSED


if __name__ == "__main__":
    sys.exit(main())
