"""`python -m spotproof_runtime.run PROGRAM …`: runs a program that can be ended from its start.

The first process of a container ignores SIGTERM until it has a handler: a program that imports for
ten seconds before its `Interruption` does not hear of the end of its node, and is killed at it. Run
by this module it exits with 143 at once, since there is nothing to save yet. A program whose first
lines enter an `Interruption`, with the imports after it, has no need of it.
"""

import os
import signal
import sys

from spotproof_runtime.signal_watch import end_at_once

USAGE = "usage: python -m spotproof_runtime.run PROGRAM.py | -m MODULE [ARGUMENT ...]"


def main() -> None:
    """Runs the program that the command line names as if Python had been given it."""
    signal.signal(signal.SIGTERM, end_at_once)
    import runpy

    arguments = sys.argv[1:]
    if arguments[:1] == ["-m"] and len(arguments) > 1:
        sys.argv = arguments[1:]
        # As `python -m` does: a module is looked for in the working directory too.
        sys.path.insert(0, "")
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    elif arguments and not arguments[0].startswith("-"):
        program = arguments[0]
        if not os.path.exists(program):
            sys.exit(f"error: {program}: there is no such program\n{USAGE}")
        sys.argv = arguments
        sys.path.insert(0, os.path.dirname(os.path.abspath(program)))
        runpy.run_path(program, run_name="__main__")
    else:
        sys.exit(f"error: no program to run\n{USAGE}")


if __name__ == "__main__":
    main()
