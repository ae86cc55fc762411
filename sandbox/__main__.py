"""`python -m sandbox COMMAND --stack STACK`: what the make targets run.

The stack `sandbox` lives on the emulated cloud in `.spotproof/sandbox`; every other stack is real.
`rehearse` runs any stack on the emulated cloud and touches nothing of the user's.
`policy` previews a stack with every policy pack; `policy-state` judges a state file, without a
stack, a login or a backend.
`recover` puts a stack in order whose update was killed.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from sandbox import judging, real, stacks
from sandbox.emulated import CHANGING, EmulatedError, EmulatedStack, standing_sandbox
from sandbox.engine import EngineError, ensure
from sandbox.locks import BusyError, only_run
from sandbox.paths import BRIEFLY, ROOT
from sandbox.progress import say
from sandbox.reach.gate import NotReadyError
from sandbox.recovery.arguments import options_of
from sandbox.recovery.guard import NeedsRecoveryError, guard
from sandbox.recovery.recover import RecoveryError, recover
from sandbox.recovery.terminal import Terminal
from sandbox.rehearse import rehearse

ENGINE_COMMANDS = ("up", "preview", "refresh", "destroy", "policy")
WITH_LEVELS = ("policy", "policy-state")
WITH_ARGUMENTS = (*ENGINE_COMMANDS, "recover", "policy-state")
JUDGED_FIRST = ("up", "preview", "policy", "rehearse")
USERS_ERRORS = (
    BusyError,
    EngineError,
    EmulatedError,
    NeedsRecoveryError,
    RecoveryError,
    judging.JudgingError,
    NotReadyError,
    real.RealStackError,
    stacks.StackNameError,
    stacks.UnknownStackError,
    stacks.UnreadableStackFileError,
)
# As pulumi reads it: letters of flags without a value may stand before the s, its value after it.
_NAMES_A_STACK = re.compile(r"--stack(=.*)?|-[defhjQry]*s.*")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; a user's mistake becomes one error on standard error, and code 1."""
    options, extra = _parser().parse_known_args(arguments)
    if extra and options.command not in WITH_ARGUMENTS:
        _parser().error(f"`{options.command}` takes no further arguments: {' '.join(extra)}")
    if stacks_named := [one for one in extra if _NAMES_A_STACK.fullmatch(one)]:
        _parser().error(
            f"{stacks_named[0]} names a second stack: name the one stack by STACK=… of make, or "
            "by --stack before all other arguments"
        )
    if options.levels and options.command not in WITH_LEVELS:
        _parser().error(f"--levels goes with {' and '.join(WITH_LEVELS)} only")
    if options.file is not None and options.command != "policy-state":
        _parser().error("--file goes with policy-state only")
    try:
        if options.command == "policy-state":
            return judging.judge_state(options.file or "", options.levels, extra)
        return _run(options.command, options.stack, extra, judging.levels_file(options.levels))
    except USERS_ERRORS as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sandbox",
        description="Runs the program's stacks. Further arguments of up, preview, refresh, "
        "destroy, policy and policy-state go to pulumi as they are; recover has --yes, "
        "--id URN=ID, --drop URN, "
        "--adopt URN and --wait SECONDS.",
        allow_abbrev=False,
    )
    parser.add_argument("command", choices=[*WITH_ARGUMENTS, "rehearse", "check", "env"])
    parser.add_argument(
        "--stack", action=_Once, default=stacks.EMULATED, help="default: %(default)s"
    )
    parser.add_argument(
        "--levels", default="", help="levels of the policies: a name in policies/levels, or a file"
    )
    parser.add_argument("--file", help="the state that policy-state judges")
    return parser


class _Once(argparse.Action):
    """An option that is refused when repeated, since the last one would win in silence."""

    def __call__(self, parser, namespace, values, option_string=None) -> None:
        if getattr(namespace, "stack_given", False):
            parser.error(f"{option_string} is given twice: name one stack, by STACK=… of make")
        namespace.stack_given = True
        setattr(namespace, self.dest, values)


def _run(command: str, stack: str, extra: Sequence[str], levels: str = "") -> int:
    if command in ENGINE_COMMANDS and stack != stacks.EMULATED:
        stacks.stack_file(stacks.short_name_of_real(stack))
        real.run(command, stack, extra, levels)
        return 0
    if command == "recover" and stack != stacks.EMULATED:
        stacks.short_name_of_real(stack)
        options = options_of(extra)
        return recover(real.pulumi(stack), options, Terminal())
    file = stacks.stack_file(stack)
    stacks.read(file)
    if command == "check":
        return _judge(file)
    if command in JUDGED_FIRST and (code := _judge(file, quiet=True)):
        return code
    if command == "rehearse":
        return _rehearse(stack)
    if stack == stacks.EMULATED:
        return _emulated(command, extra, levels)
    raise real.RealStackError(
        f"stack {stack!r} is in the real cloud and needs no environment of ours: "
        "type `pulumi` commands as they are"
    )


def _judge(file: Path, quiet: bool = False) -> int:
    judge = [sys.executable, BRIEFLY, "infra/settings.py", str(file.relative_to(ROOT))]
    return subprocess.call(judge, cwd=ROOT, stdout=subprocess.DEVNULL if quiet else None)


def _emulated(command: str, extra: Sequence[str], levels: str) -> int:
    sandbox = standing_sandbox()
    options = options_of(extra) if command == "recover" else None
    alone = only_run(sandbox.folder, "another command on the stack sandbox")
    with alone if command in (*CHANGING, "recover") else nullcontext():
        emulated = EmulatedStack(sandbox, stacks.EMULATED, ensure())
        emulated.prepare()
        if command == "env":
            print(emulated.sandbox.exports(emulated.engine))
            return 0
        if options is not None:
            return recover(emulated.pulumi(), options, Terminal())
        typed = emulated.command(command, *extra, levels=levels)
        guard(emulated.pulumi(), typed[1], extra)
        code = emulated.run(typed)
        if code and command in CHANGING:
            # A killed engine says nothing itself: what it left is said at once.
            guard(emulated.pulumi(), command, extra)
        if code and command == "up":
            say(
                "note: if something above already exists (409) and a crashed provider left it, "
                'take it in: make recover ARGS="--adopt NAME", with its name in the program'
            )
        return code


def _rehearse(stack: str) -> int:
    report = rehearse(stack, ensure())
    print(f"\n{report.table()}\n")
    print(f"rehearsal of {stack}: {'passed' if report.ok else 'FAILED'} ({report.folder})")
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
