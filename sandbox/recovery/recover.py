"""The recovery itself: look, ask, cancel, edit the state, refresh, show the plan."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox.recovery.choices import ChoiceError, Choices, Words, choose
from sandbox.recovery.command import Pulumi, interrupts_held
from sandbox.recovery.editing import adopted, replaced, successors
from sandbox.recovery.operations import marked_creates, resources
from sandbox.recovery.orphans import WAIT_SECONDS, orphaned_providers, wait_for_orphans
from sandbox.recovery.planned import PlanError, planned_creates
from sandbox.recovery.state import Standing, UnreadableStateError, exported, keep_copy, standing
from sandbox.recovery.terminal import Terminal
from spotproof_gke.stack_state.locks import ELSEWHERE, RUNNING
from spotproof_gke.stack_state.operations import Pending


class RecoveryError(Exception):
    """The recovery stops; the text says where, what is done already, and what to do."""


class _Stopped(Exception):
    """A step failed or was declined."""


@dataclass(frozen=True)
class Options:
    """How to recover.

    Attributes:
        yes: change without asking.
        words: ids and drops given beforehand.
        wait_seconds: how long to wait for the dead engine's provider; 0: not at all.
        adopted: what the plan creates and the cloud has: URNs, or names in the program.
    """

    yes: bool = False
    words: Words = field(default_factory=Words)
    wait_seconds: float = WAIT_SECONDS
    adopted: Sequence[str] = ()


def recover(pulumi: Pulumi, options: Options, terminal: Terminal) -> int:
    """Puts a stack in order; the exit code of the plan that is shown in the end.

    Raises:
        RecoveryError: it cannot be done, or stopped on the way.
        KeyboardInterrupt: the person interrupted it; what is done has been said.
    """
    return _Recovery(pulumi, options, terminal).run()


class _Recovery:
    def __init__(self, pulumi: Pulumi, options: Options, terminal: Terminal) -> None:
        self._pulumi = pulumi
        self._options = options
        self._terminal = terminal
        self._stack = pulumi.stack
        self._again = f"make recover STACK={pulumi.stack}"
        self._done: list[str] = []

    def run(self) -> int:
        try:
            now = standing(self._pulumi)
        except UnreadableStateError as error:
            raise RecoveryError(
                f"the state of stack {self._stack!r} cannot be read:\n{error}"
            ) from None
        if now.is_healthy and not self._options.adopted:
            self._say(
                f"stack {self._stack}: nothing to recover; it is not locked, and no operation is "
                "pending.\nIf an update says that something already exists, and it is this "
                f"stack's own, left by a provider that crashed: `{self._again} "
                'ARGS="--adopt NAME"`, with its name in the program'
            )
            return 0
        if self._options.adopted and not now.is_healthy:
            raise RecoveryError(
                f"stack {self._stack!r} is locked, or has pending operations: run `{self._again}` "
                "first, then with --adopt. Nothing is changed."
            )
        self._describe(now)
        try:
            return self._put_in_order(now)
        except (ChoiceError, PlanError) as error:
            raise RecoveryError(self._ending(str(error), "Then run it again.")) from None
        except _Stopped as stop:
            raise RecoveryError(self._ending(str(stop), f"To go on: `{self._again}`.")) from None
        except KeyboardInterrupt:
            self._say(self._ending("interrupted", f"To go on: `{self._again}`."))
            raise

    def _describe(self, now: Standing) -> None:
        if not now.is_healthy:
            self._say(f"stack {self._stack}:")
        for lock in now.locks:
            self._say(f"  locked by {lock.describe()}")
        for one in now.pending:
            self._say(f"  interrupted while {one.describe()}")
        for one in now.unfinished:
            self._say(f"  taken in hand by an earlier recovery, not refreshed yet: {one['urn']}")

    def _put_in_order(self, now: Standing) -> int:
        self._may_begin(now)
        creates = [one for one in now.pending if one.makes_something]
        creates += marked_creates(now.deployment)
        creates += planned_creates(self._pulumi, self._options.adopted)
        ask = None if self._options.yes else self._ask_for_id
        choices = choose(creates, resources(now.deployment), self._options.words, ask)
        self._wait()
        self._cancel(now)
        self._edit(now, choices)
        before = exported(self._pulumi)
        self._refresh()
        after = self._stand_in(before)
        self._tell(choices, after)
        return self._plan()

    def _may_begin(self, now: Standing) -> None:
        running = [lock for lock in now.locks if lock.holder == RUNNING]
        if running:
            raise RecoveryError(
                f"stack {self._stack!r} is being changed: {running[0].describe()}. That is no dead "
                f"update: wait for its end, or stop it (kill {running[0].pid}), then run "
                f"`{self._again}` again. Nothing is changed."
            )
        if not self._options.yes and not self._terminal.interactive:
            raise RecoveryError(
                "there is no terminal to ask at, so nothing is changed. To go on without "
                f"questions: `{self._again} YES=1`."
            )

    def _ask_for_id(self, pending: Pending, reason: str) -> str:
        return self._terminal.text(
            f"Was {pending.resource['type']} {pending.name!r} created? That cannot be looked up: "
            f"{reason}.\nIts id in the cloud (nothing: it was not created): "
        )

    def _wait(self) -> None:
        left = wait_for_orphans(
            lambda: orphaned_providers(self._pulumi.project), self._options.wait_seconds
        )
        if left and self._options.wait_seconds > 0:
            raise _Stopped(
                f"the killed engine's provider still works (process {left[0].pid}: "
                f"{left[0].command}). Wait for its end; or stop it (kill {left[0].pid}): what it "
                "has begun in the cloud goes on there. With ARGS='--wait 0' nobody waits"
            )

    def _cancel(self, now: Standing) -> None:
        if not now.locks:
            return
        elsewhere = [lock for lock in now.locks if lock.holder == ELSEWHERE]
        question = "Cancel the update that has the lock, which is gone?"
        if elsewhere:
            question = (
                "Whether that update still runs cannot be seen from here. Cancel it only if it "
                "does not: two updates at once break the state. Cancel it?"
            )
        self._confirm(question, "the lock stays")
        with interrupts_held():
            answer = self._pulumi.change("cancel", "-s", self._stack, "--yes")
            if answer.code != 0:
                raise _Stopped(f"`pulumi cancel` failed:\n{answer.text.strip()}")
            self._done.append("the lock is released")

    def _edit(self, now: Standing, choices: Choices) -> None:
        stale = any(one.kind == "creating" for one in now.pending)
        words = self._options.words
        if not (stale or words.ids or words.drops or self._options.adopted):
            return
        for one, identifier in choices.look:
            self._say(f"  to look for in the cloud: {one.resource['type']} {identifier}")
        for one, reason in choices.drop:
            self._say(f"  to drop from the state, {reason}: {one.resource['type']} {one.name!r}")
        edited = adopted(now.deployment, choices.look)
        self._confirm(
            "Write that into the state? The refresh that follows keeps what is in the cloud, and "
            "drops what is not there.",
            "the pending operations stay",
        )
        current = exported(self._pulumi)
        if current.get("deployment") != now.exported.get("deployment"):
            raise _Stopped("the state has been changed by somebody else meanwhile")
        with interrupts_held():
            self._import(current, edited, "the interrupted creates")
            self._done.append(
                "the pending operations are out of the state, the creates are taken in"
            )

    def _import(self, current: Mapping[str, Any], edited: Mapping[str, Any], what: str) -> None:
        copy = keep_copy(self._pulumi, current, time.strftime("%Y%m%d-%H%M%S"))
        self._say(f"  the state as it was is kept in {copy}")
        text = json.dumps({**current, "deployment": edited})
        answer = self._pulumi.change("stack", "import", "-s", self._stack, stdin=text)
        if answer.code != 0:
            raise _Stopped(
                f"`pulumi stack import` does not take the state with {what}:\n"
                f"{answer.text.strip()}\nThe state is as it was"
            )

    def _refresh(self) -> None:
        flags = ["--yes", "--skip-preview"] if self._options.yes else []
        if self._pulumi.show("refresh", "-s", self._stack, *flags) != 0:
            raise _Stopped("the refresh failed or was declined; what it said stands above")
        self._done.append("the state is refreshed")

    def _stand_in(self, before: Mapping[str, Any]) -> Mapping[str, Any]:
        """Lets new resources take the place of those that they were to replace."""
        after = exported(self._pulumi)
        wanted = set(successors(before["deployment"]))
        there = {(one["urn"], one.get("id", "")) for one in resources(after["deployment"])}
        if not wanted & there:
            return after
        edited = replaced(after["deployment"], sorted(wanted & there))
        with interrupts_held():
            self._import(after, edited, "the new resources in place of the replaced ones")
        return {**after, "deployment": edited}

    def _tell(self, choices: Choices, after: Mapping[str, Any]) -> None:
        there = {(one["urn"], one.get("id")) for one in resources(after["deployment"])}
        for one, identifier in choices.look:
            ending = (
                "is in the cloud, and in the state now"
                if (one.urn, identifier) in there
                else "is not in the cloud; the next update creates it"
            )
            self._say(f"  {one.resource['type']} {identifier} {ending}")

    def _plan(self) -> int:
        code = self._pulumi.show(*self._pulumi.preview[1:])
        if code != 0:
            self._say(
                f"stack {self._stack} is in order again, but its plan fails (code {code}): what "
                "it says stands above"
            )
            return code
        self._say(
            f"stack {self._stack} is in order again; `make up STACK={self._stack}` carries the "
            "plan out"
        )
        return 0

    def _confirm(self, question: str, otherwise: str) -> None:
        if not self._options.yes and not self._terminal.confirm(question):
            raise _Stopped(f"stopped at your word: {otherwise}")

    def _ending(self, what: str, then: str) -> str:
        done = "; ".join(self._done) or "nothing is changed"
        return f"{what.rstrip('.')}.\nDone so far: {done}. {then}"

    def _say(self, text: str) -> None:
        print(text, flush=True)
