"""A stack's whole life on the emulated cloud, from nothing to nothing, with a report."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from sandbox import stacks
from sandbox.emulated import EmulatedStack, rehearsal_sandbox
from sandbox.engine import Engine
from sandbox.environment import Sandbox
from sandbox.locks import only_run
from sandbox.mirror import mirrored_stack_file, project_name
from sandbox.paths import ROOT
from sandbox.progress import heartbeat, say
from sandbox.report import Report, Step, changes

PROTECTION_KEY = "deletionProtection"


class StepFailed(Exception):
    """A step did not end as it must; the report has it."""


def rehearse(
    stack: str, engine: Engine, sandbox: Sandbox | None = None, root: Path = ROOT
) -> Report:
    """Runs preview, up, second up, refresh and destroy in a new sandbox.

    A stack with deletion protection must refuse to be destroyed, until an update of its own lifts
    the protection. In the end, state and cloud must be empty.

    Raises:
        BusyError: the stack is being rehearsed in that sandbox.
        StackNameError: that is no stack's short name.
        UnknownStackError: the stack has no file.
        UnreadableStackFileError: the file is no YAML mapping.
        EmulatedError: the sandbox cannot be made.
    """
    stacks.stack_file(stack, root)
    sandbox = sandbox or rehearsal_sandbox(stack)
    with only_run(sandbox.folder, f"a rehearsal of stack {stack!r}"):
        shutil.rmtree(sandbox.folder, ignore_errors=True)
        return _report(EmulatedStack(sandbox, stack, engine, root))


def _report(emulated: EmulatedStack) -> Report:
    emulated.prepare()
    report = Report(emulated.stack, emulated.engine.describe(), emulated.sandbox.folder)
    say(f"rehearsing stack {emulated.stack} in {emulated.sandbox.folder}")
    try:
        _Rehearsal(emulated, report).run()
    except StepFailed:
        say(report.failure_text())
    report.write()
    return report


class _Rehearsal:
    def __init__(self, emulated: EmulatedStack, report: Report) -> None:
        self._emulated = emulated
        self._report = report

    def run(self) -> None:
        self._engine_step("preview", "preview")
        self._engine_step("up", "up", "--skip-preview")
        self._engine_step("up again, unchanged", "up", "--skip-preview", "--expect-no-changes")
        unchanged = ("--skip-preview", "--expect-no-changes")
        self._engine_step("refresh, unchanged", "refresh", *unchanged)
        if self._is_protected():
            self._refused_destroy()
            self._lift_protection()
        in_state, in_cloud = len(self._emulated.resources()), len(self._emulated.in_cloud())
        self._engine_step("destroy", "destroy", "--skip-preview")
        self._check("state is empty", self._emulated.resources, in_state)
        self._check("cloud is empty", self._emulated.in_cloud, in_cloud)

    def _engine_step(self, name: str, action: str, *extra: str) -> None:
        code, step = self._run(name, action, *extra)
        self._add(step, failed=code != 0)

    def _run(self, name: str, action: str, *extra: str) -> tuple[int, Step]:
        command = self._emulated.command(action, *extra)
        started = time.monotonic()
        with heartbeat(name):
            result = self._emulated.capture(*command[1:])
        seconds, output = time.monotonic() - started, result.stdout
        return result.returncode, Step(name, command, seconds, changes(output), output)

    def _is_protected(self) -> bool:
        return any(
            one.get("protect") or one.get("inputs", {}).get(PROTECTION_KEY) is True
            for one in self._emulated.resources()
        )

    def _refused_destroy(self) -> None:
        before = self._left()
        code, step = self._run("destroy is refused", "destroy", "--skip-preview")
        lost = before - self._left()
        if code == 0 or lost:
            step.output += f"\nThe protected stack was to stay whole; {len(lost)} resources went."
        else:
            step.changes = f"{len(before)} kept"
        self._add(step, failed=code == 0 or bool(lost))

    def _left(self) -> set[str]:
        return {one["urn"] for one in self._emulated.resources()}

    def _lift_protection(self) -> None:
        file = mirrored_stack_file(self._emulated.sandbox, self._emulated.stack)
        stacks.set_value(file, f"{project_name(self._emulated.root)}:{PROTECTION_KEY}", False)
        self._engine_step("up, protection lifted", "up", "--skip-preview")

    def _check(self, name: str, remaining: Callable[[], list[dict]], before: int) -> None:
        started = time.monotonic()
        left = remaining()
        shown = "\n".join(f"left: {one['type']} {one.get('id') or one['urn']}" for one in left)
        step = Step(name, [], time.monotonic() - started, f"{len(left)} of {before} left", shown)
        self._add(step, failed=bool(left))

    def _add(self, step: Step, failed: bool) -> None:
        step.ok = not failed
        self._report.add(step)
        if failed:
            raise StepFailed
