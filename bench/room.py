"""A project with one stack in a sandbox of its own, in which runs are timed."""

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bench.timing import BenchError, Sample, timed
from sandbox.emulated import EmulatedStack
from sandbox.engine import Engine
from sandbox.environment import FOR_PREVIEW, Sandbox
from sandbox.paths import ROOT, VENV, VENV_PYTHON

Config = Mapping[str, str | int]


@dataclass(frozen=True)
class Room:
    """A stack that can be previewed and brought up again and again.

    Attributes:
        packs: folders of policy packs that run with each preview and update.
    """

    sandbox: Sandbox
    engine: Engine
    stack: str
    packs: Sequence[Path] = ()

    def preview(self, checkpoints: bool = False) -> Sample:
        """One preview, as the sandbox runs it; with `checkpoints` as an engine does by default."""
        return self._timed(checkpoints, "preview", *self._pack_flags())

    def up(self, checkpoints: bool = True) -> Sample:
        """One update of what is not there yet, without a preview of its own."""
        self.forget()
        return self._timed(checkpoints, "up", "--yes", "--skip-preview", *self._pack_flags())

    def forget(self) -> None:
        """Empties cloud and state."""
        shutil.rmtree(self.sandbox.backend)
        shutil.copytree(self._empty_backend, self.sandbox.backend)
        for file in self.sandbox.folder.glob("cloud.*"):
            file.unlink()

    def plan(self) -> list[dict[str, Any]]:
        """The resources as a preview shows them, each as the state would have it."""
        shown = json.loads(self.capture("preview", "--stack", self.stack, "--json"))
        return [step["newState"] for step in shown["steps"]]

    def state(self) -> list[dict[str, Any]]:
        """The resources in the state."""
        exported = self.capture("stack", "export", "--stack", self.stack, "--show-secrets")
        return json.loads(exported)["deployment"]["resources"]

    def capture(self, *arguments: str) -> str:
        """The standard output of a command; raises BenchError when it fails."""
        done = subprocess.run(
            self._command(arguments), capture_output=True, text=True, stdin=subprocess.DEVNULL,
            cwd=self.sandbox.project, env=self._environment(),
        )  # fmt: skip
        if done.returncode != 0:
            told = f"{done.stdout}{done.stderr}".strip()
            raise BenchError(f"`pulumi {' '.join(arguments)}` failed:\n{told}")
        return done.stdout

    def remember_empty(self) -> None:
        """Keeps the backend as it is now as the one that `forget` goes back to."""
        shutil.rmtree(self._empty_backend, ignore_errors=True)
        shutil.copytree(self.sandbox.backend, self._empty_backend)

    def _timed(self, checkpoints: bool, action: str, *flags: str) -> Sample:
        output = self.sandbox.folder / "output.txt"
        command = self._command([action, "--stack", self.stack, *flags])
        environment = self._environment() | ({} if checkpoints else FOR_PREVIEW)
        return timed(command, self.sandbox.project, environment, output)

    def _command(self, arguments: Sequence[str]) -> list[str | Path]:
        return [self.engine.pulumi, "--non-interactive", "--color", "never", *arguments]

    def _environment(self) -> dict[str, str]:
        return self.sandbox.environment(self.engine)

    def _pack_flags(self) -> list[str]:
        return [part for one in self.packs for part in ("--policy-pack", str(one))]

    @property
    def _empty_backend(self) -> Path:
        return self.sandbox.folder / "empty-backend"


def room_of_stack(folder: Path, engine: Engine, stack: str) -> Room:
    """A room with a stack of the project, as `make rehearse` would make it."""
    sandbox = Sandbox(folder)
    EmulatedStack(sandbox, stack, engine).prepare()
    room = Room(sandbox, engine, stack)
    room.remember_empty()
    return room


def room_of_program(
    folder: Path, engine: Engine, program: Path, config: Config, *,
    project: str = "bench", stack: str = "bench", idle_provider: bool = False,
) -> Room:  # fmt: skip
    """A room with a Python program.

    Args:
        folder: where it is made.
        program: a file, which becomes the project's only one.
        config: the stack's configuration by full key.
        idle_provider: whether the provider is the one that does nothing.
    """
    sandbox = Sandbox(folder)
    sandbox.project.mkdir(parents=True)
    shutil.copyfile(program, sandbox.project / "__main__.py")
    runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": str(VENV)}}
    _write(sandbox.project / "Pulumi.yaml", {"name": project, "runtime": runtime})
    _write(sandbox.project / f"Pulumi.{stack}.yaml", {"config": dict(config)})
    sandbox.prepare(engine)
    if idle_provider:
        _put_idle_provider(sandbox)
    room = Room(sandbox, engine, stack)
    room.capture("stack", "init", stack)
    room.remember_empty()
    return room


def _write(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(yaml.safe_dump(content, sort_keys=False))


def _put_idle_provider(sandbox: Sandbox) -> None:
    """Puts the provider that does nothing where `prepare` has put the emulator."""
    (plugin,) = sandbox.home.glob("plugins/resource-gcp-*/pulumi-resource-gcp")
    plugin.write_text(f"#!/bin/sh\nPYTHONPATH='{ROOT}' exec '{VENV_PYTHON}' -m bench.nothing\n")
