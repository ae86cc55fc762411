"""`python -m sandbox COMMAND --stack STACK`: what the make targets run.

The stack `sandbox` lives on the emulated cloud in `.spotproof/sandbox`; every other stack is real.
`rehearse` runs any stack on the emulated cloud and touches nothing of the user's.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence

from sandbox import real, stacks
from sandbox.emulated import EmulatedError, EmulatedStack, standing_sandbox
from sandbox.engine import EngineError, ensure
from sandbox.paths import ROOT
from sandbox.rehearse import rehearse

ENGINE_COMMANDS = ("up", "preview", "refresh", "destroy")
USERS_ERRORS = (EngineError, EmulatedError, stacks.UnknownStackError, real.RealStackError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; a user's mistake becomes one error on standard error, and code 1."""
    options, extra = _parser().parse_known_args(arguments)
    if extra and options.command not in ENGINE_COMMANDS:
        _parser().error(f"`{options.command}` takes no further arguments: {' '.join(extra)}")
    try:
        return _run(options.command, options.stack, extra)
    except USERS_ERRORS as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sandbox",
        description="Runs the program's stacks. Further arguments of up, preview, refresh and "
        "destroy go to pulumi as they are.",
    )
    parser.add_argument("command", choices=[*ENGINE_COMMANDS, "rehearse", "check", "env"])
    parser.add_argument("--stack", default=stacks.EMULATED, help="default: %(default)s")
    return parser


def _run(command: str, stack: str, extra: Sequence[str]) -> int:
    file = stacks.stack_file(stack)
    if command == "check":
        judge = [sys.executable, "infra/settings.py", str(file.relative_to(ROOT))]
        return subprocess.call(judge, cwd=ROOT)
    if command == "rehearse":
        return _rehearse(stack)
    if stack == stacks.EMULATED:
        return _emulated(command, extra)
    if command == "env":
        raise real.RealStackError(
            f"stack {stack!r} is in the real cloud and needs no environment of ours: "
            "type `pulumi` commands as they are"
        )
    real.run(command, stack, extra)
    return 0


def _emulated(command: str, extra: Sequence[str]) -> int:
    emulated = EmulatedStack(standing_sandbox(), stacks.EMULATED, ensure())
    emulated.prepare()
    if command == "env":
        print(emulated.sandbox.exports(emulated.engine))
        return 0
    return emulated.run(emulated.command(command, *extra))


def _rehearse(stack: str) -> int:
    report = rehearse(stack, ensure())
    print(f"\n{report.table()}\n")
    print(f"rehearsal of {stack}: {'passed' if report.ok else 'FAILED'} ({report.folder})")
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
