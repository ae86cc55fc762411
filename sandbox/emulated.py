"""The engine on a sandbox's project: commands, shown and run."""

import json
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox import layer, stacks
from sandbox.cloud.store import Store
from sandbox.engine import Engine
from sandbox.environment import FOR_PREVIEW, Sandbox
from sandbox.judging import pack_flags, packs_of
from sandbox.mirror import mirror, mirrored_stack_file, project_name
from sandbox.paths import GENERATED, ROOT, policy_pack
from sandbox.progress import say
from sandbox.recovery.command import Pulumi

CHANGING = ("up", "refresh", "destroy")


class EmulatedError(Exception):
    """The sandbox cannot be made or read; the text says why."""


@dataclass(frozen=True)
class EmulatedStack:
    """A stack in a sandbox.

    Attributes:
        root: the folder of the project that is mirrored.
    """

    sandbox: Sandbox
    stack: str
    engine: Engine
    root: Path = ROOT

    def prepare(self) -> None:
        """Makes sandbox, project and stack, as far as they are not there.

        Raises:
            StackNameError: that is no stack's short name.
            UnknownStackError: the stack has no file.
            UnreadableStackFileError: the file is no YAML mapping.
            EmulatedError: the engine refuses to make the stack.
        """
        replaced = mirror(self.sandbox, self.stack, self.root)
        if replaced:
            say(f"  encrypted values are a placeholder here: {', '.join(replaced)}")
        self._render_objects()
        self.sandbox.prepare(self.engine)
        made = self.capture("stack", "select", "--create", self.stack)
        if made.returncode != 0:
            raise EmulatedError(f"the stack cannot be made in the sandbox:\n{made.stdout}")

    def _render_objects(self) -> None:
        """An emulated cluster has no API server that objects could be applied to."""
        file = mirrored_stack_file(self.sandbox, self.stack)
        key = f"{project_name(self.root)}:{layer.KEY}"
        if stacks.value(file, key) == layer.APPLY:
            stacks.set_value(file, key, layer.RENDER)
            say(
                f"  objects in the cluster are rendered here, to {self.sandbox.folder / 'rendered'}"
            )

    def command(self, action: str, *extra: str, levels: str = "") -> list[str]:
        """The command for an action; it asks nothing, since nothing in a sandbox can be lost."""
        flags = pack_flags([str(policy_pack(one)) for one in packs_of(action)], levels)
        action = "preview" if action == "policy" else action
        flags += ["--yes", "--non-interactive"] if action in CHANGING else []
        return ["pulumi", action, "--stack", self.stack, *flags, *extra]

    def pulumi(self) -> Pulumi:
        """The stack for a recovery."""
        return Pulumi(
            stack=self.stack,
            executable=self.engine.pulumi,
            project=self.sandbox.project,
            project_name=project_name(self.root),
            environment=self.sandbox.environment(self.engine),
            preview=self.command("preview"),
            backups=self.sandbox.folder / "recovery",
            backend=f"file://{self.sandbox.backend}",
        )

    def run(self, command: Sequence[str]) -> int:
        """Shows a command and runs it in front of the person."""
        say(f"+ {shlex.join(command)}")
        where = self._where(command[1])
        process = subprocess.Popen(command, executable=self.engine.pulumi, **where)
        return _wait_through_interrupts(process)

    def capture(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Runs a command and keeps its output (both streams as one)."""
        return subprocess.run(
            [self.engine.pulumi, "--non-interactive", "--color", "never", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **self._where(arguments[0]),
        )

    def resources(self) -> list[dict[str, Any]]:
        """The resources in the stack's state."""
        exported = self.capture("stack", "export", "--stack", self.stack)
        if exported.returncode != 0:
            raise EmulatedError(f"the state cannot be read:\n{exported.stdout}")
        return json.loads(exported.stdout)["deployment"].get("resources") or []

    def in_cloud(self) -> list[dict[str, Any]]:
        """The resources in the emulated cloud."""
        return Store(self.sandbox.folder).everything()

    def _where(self, action: str) -> dict[str, Any]:
        environment = self.sandbox.environment(self.engine)
        if action == "preview":
            environment |= FOR_PREVIEW
        if action == "refresh":
            environment |= layer.FOR_REFRESH_OF_RENDERED
        return {"cwd": self.sandbox.project, "env": environment}


def standing_sandbox() -> Sandbox:
    """The sandbox that `make up` keeps between runs."""
    return Sandbox(GENERATED / "sandbox")


def rehearsal_sandbox(stack: str) -> Sandbox:
    return Sandbox(GENERATED / "rehearsal" / stacks.short_name(stack))


def _wait_through_interrupts(process: subprocess.Popen[Any]) -> int:
    """The terminal sends an interrupt to the engine too, which then ends in its own order."""
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue
