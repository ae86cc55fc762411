"""What a stack file costs: its first preview on the emulated cloud, estimated by `spotproof cost`.

`python -m sandbox.cost --stack STACK`; further arguments go to `spotproof cost` as they are.
"""

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from sandbox import stacks
from sandbox.emulated import EmulatedError, EmulatedStack, rehearsal_sandbox
from sandbox.engine import Engine, EngineError, ensure
from sandbox.environment import Sandbox
from sandbox.locks import BusyError, only_run
from sandbox.paths import ROOT
from sandbox.progress import heartbeat
from spotproof_gke import cli

_ERRORS = (
    BusyError,
    EmulatedError,
    EngineError,
    stacks.StackNameError,
    stacks.UnknownStackError,
    stacks.UnreadableStackFileError,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Estimate a stack; a user's mistake becomes one error on standard error."""
    parser = argparse.ArgumentParser(
        prog="python -m sandbox.cost", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--stack", default=stacks.EMULATED, help="default: %(default)s")
    options, extra = parser.parse_known_args(arguments)
    try:
        plan = planned(options.stack, ensure())
    except _ERRORS as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return cli.main(["cost", str(plan), *extra])


def planned(stack: str, engine: Engine, sandbox: Sandbox | None = None, root: Path = ROOT) -> Path:
    """The plan of a stack that does not stand yet, as `pulumi preview --save-plan` writes it.

    Raises:
        BusyError: the stack is being estimated already.
        StackNameError: that is no stack's short name.
        UnknownStackError: the stack has no file.
        UnreadableStackFileError: the file is no YAML mapping.
        EmulatedError: the sandbox cannot be made, or the preview fails.
    """
    stacks.stack_file(stack, root)
    sandbox = sandbox or rehearsal_sandbox(f"cost-{stacks.short_name(stack)}")
    with only_run(sandbox.folder, f"an estimate of stack {stack!r}"):
        shutil.rmtree(sandbox.folder, ignore_errors=True)
        emulated = EmulatedStack(sandbox, stack, engine, root)
        emulated.prepare()
        file = sandbox.folder / f"{stacks.short_name(stack)}.json"
        with heartbeat("preview"):
            done = emulated.capture("preview", "--stack", stack, "--save-plan", str(file))
        if done.returncode != 0 or not file.exists():
            raise EmulatedError(f"stack {stack!r} cannot be previewed:\n{done.stdout.strip()}")
    return file


if __name__ == "__main__":
    sys.exit(main())
