"""The command `spotproof`; also `python -m spotproof_gke.cli`."""

import errno
import os
import sys
from collections.abc import Sequence

_MISSING = """\
spotproof: the command needs Typer and Rich, which this installation left out.
Install them with: pip install 'spotproof-gke[cli]'"""
_REFUSED = 2
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; 2 for wrong usage."""
    try:
        from spotproof_gke.commands.line import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich", "click"):
            raise
        print(_MISSING, file=sys.stderr)
        return _REFUSED
    _open_what_is_closed()
    try:
        code = run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has seen enough (`| head`).
        _write_no_more()
        return _REFUSED
    except OSError as error:
        if error.errno not in _FULL:
            raise
        _write_no_more()
        print(f"spotproof: standard output: {error.strerror}", file=sys.stderr)
        return _REFUSED


def _open_what_is_closed() -> None:
    """Give a program that was started without standard streams (`<&-`) empty ones."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _write_no_more() -> None:
    """Keep Python from trying once more at its exit, and from complaining then."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
