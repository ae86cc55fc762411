"""Keeps `up`, `refresh` and `destroy` from a stack that needs a recovery first."""

from collections.abc import Sequence

from sandbox.progress import say
from sandbox.recovery.command import Pulumi
from sandbox.recovery.state import Standing, UnreadableStateError, exported, seen_locks
from spotproof_gke.stack_state.locks import ELSEWHERE, RUNNING

# Whoever says how to settle pending creates, or only wants to read, is not held up.
_SETTLING = ("--clear-pending-creates", "--import-pending-creates", "--skip-pending-creates")
_READING = ("-h", "--help", "--preview-only")


class NeedsRecoveryError(Exception):
    """The stack is locked, or has pending operations; the text says what to do."""


def guard(pulumi: Pulumi, action: str, extra: Sequence[str]) -> None:
    """Refuses to change a stack that is locked or has pending operations.

    It looks at the exported state, and at locks that lie in files. A preview is told, and goes on.
    A stack that cannot be read is left to the command itself, which says why.

    Raises:
        NeedsRecoveryError: it is such a stack.
    """
    flags = {one.partition("=")[0] for one in extra}
    if flags & {*_SETTLING, *_READING}:
        return
    try:
        now = Standing(exported(pulumi), seen_locks(pulumi, pulumi.backend))
    except UnreadableStateError:
        return
    if now.is_healthy:
        return
    if action == "preview":
        say(f"note: {_trouble(pulumi.stack, now)}; the plan may be wrong before that")
        return
    raise NeedsRecoveryError(_trouble(pulumi.stack, now))


def _trouble(stack: str, now: Standing) -> str:
    running = [lock for lock in now.locks if lock.holder == RUNNING]
    if running:
        return (
            f"stack {stack!r} is being changed: {running[0].describe()}. Wait for its end, or "
            f"stop it (kill {running[0].pid})"
        )
    recover = f"`make recover STACK={stack}`, which puts that in order"
    elsewhere = [lock for lock in now.locks if lock.holder == ELSEWHERE]
    if elsewhere:
        return (
            f"stack {stack!r} is locked by {elsewhere[0].describe()}. Wait for the end of that "
            f"update; if it is dead, run {recover}"
        )
    found = [f"a lock of {lock.describe()}" for lock in now.locks]
    found += [f"interrupted while {one.describe()}" for one in now.pending]
    found += [f"not refreshed by an earlier recovery: {one['urn']}" for one in now.unfinished]
    lines = "".join(f"\n  {one}" for one in found)
    return f"an update of stack {stack!r} was killed, and has left:{lines}\nRun {recover}"
