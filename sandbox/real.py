"""A stack in the real cloud: the plain `pulumi` command, with the user's backend and login."""

import os
import shlex
from collections.abc import Sequence

from sandbox import layer, stacks
from sandbox.engine import Engine, EngineError, ensure
from sandbox.judging import pack_flags, packs_of
from sandbox.mirror import backend_url, project_name
from sandbox.paths import GENERATED, ROOT
from sandbox.progress import say
from sandbox.reach.gate import ASKED_BEFORE, gate
from sandbox.recovery.command import Pulumi
from sandbox.recovery.guard import guard


class RealStackError(Exception):
    """The command cannot be run on a real stack here; the text says why and what to do."""


def command(action: str, stack: str, extra: Sequence[str] = (), levels: str = "") -> list[str]:
    """The `pulumi` command that a person would type in the project's folder."""
    flags = pack_flags([f"policies/{pack}" for pack in packs_of(action)], levels)
    action = "preview" if action == "policy" else action
    confirmed = ["--yes"] if os.environ.get("YES") == "1" and action != "preview" else []
    return ["pulumi", action, "-s", stack, *flags, *confirmed, *extra]


def run(action: str, stack: str, extra: Sequence[str] = (), levels: str = "") -> None:
    """Replaces this process by the command; its exit code becomes ours.

    Args:
        action: what to do: an action of the engine, or `policy`, a preview with every pack.
        stack: the stack's name.
        extra: further arguments for the engine.
        levels: a file of levels for the packs; "" for the packs' own.

    Raises:
        RealStackError: no engine with a Google Cloud plugin, or a shell bound to a sandbox.
        NeedsRecoveryError: an update of the stack was killed, or one runs.
        NotReadyError: its objects can't be applied to its cluster.
    """
    found = pulumi(stack)
    typed = command(action, stack, extra, levels)
    guard(found, typed[1], extra)
    file = stacks.stack_file(stacks.short_name_of_real(stack))
    if action in ASKED_BEFORE and layer.said(file) == layer.APPLY:
        gate(found, file)
    say(f"+ {shlex.join(typed)}")
    os.chdir(ROOT)
    environment = dict(found.environment)
    if action == "refresh" and layer.said(file) == layer.RENDER:
        environment |= layer.FOR_REFRESH_OF_RENDERED
    os.execve(found.executable, typed, environment)


def pulumi(stack: str) -> Pulumi:
    """The stack for a recovery.

    Raises:
        RealStackError: no engine with a Google Cloud plugin, or a shell bound to a sandbox.
    """
    engine = _official_engine(stack)
    path = os.pathsep.join([str(engine.bin_dir), os.environ.get("PATH", os.defpath)])
    added = {} if engine.origin == "path" else {"PATH": path}
    return Pulumi(
        stack=stack,
        executable=engine.pulumi,
        project=ROOT,
        project_name=project_name(),
        environment={**os.environ, **added},
        preview=command("preview", stack),
        backups=GENERATED / "recovery",
        backend=os.environ.get("PULUMI_BACKEND_URL") or backend_url(),
    )


def _official_engine(stack: str) -> Engine:
    if "SPOTPROOF_SANDBOX_DIR" in os.environ:
        raise RealStackError(
            f"stack {stack!r} is in the real cloud, and this shell is bound to the sandbox "
            "(`make env`). Use another shell."
        )
    try:
        return ensure(official=True)
    except EngineError as error:
        raise RealStackError(
            f"stack {stack!r} is in the real cloud, and {error}\n"
            f"Without a cloud, `make rehearse STACK={stack}` runs the stack on the emulated one."
        ) from error
