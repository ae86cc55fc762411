"""What tests with the real engine share: programs of a few lines, run in a sandbox of their own.

    project = emulated_project(tmp_path, "import pulumi\npulumi.export('x', 1)")
    assert project.up().ok
    assert project.outputs() == {"x": 1}

The engine is the one that `make engine` provided; the backend, home and emulated cloud lie in
`tmp_path`, so tests share nothing and may run at the same time.
"""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from sandbox.engine import Engine, lookup
from sandbox.environment import Sandbox
from sandbox.paths import VENV, policy_pack

STACK = "test"
TIMEOUT_SECONDS = 300


@cache
def engine() -> Engine:
    return lookup()


@dataclass(frozen=True)
class Run:
    """How a command ended."""

    args: Sequence[str]
    returncode: int
    stdout: str
    stderr: str

    @property
    def ok(self) -> bool:
        return self.returncode == 0

    @property
    def text(self) -> str:
        """All that a person would have seen."""
        return self.stdout + self.stderr

    def check(self) -> "Run":
        """This run, if it succeeded; fails the test with its output otherwise."""
        assert self.ok, f"`pulumi {' '.join(self.args)}` ended with {self.returncode}:\n{self.text}"
        return self

    def json(self) -> Any:
        """The standard output of a successful command that was asked for JSON."""
        return json.loads(self.check().stdout)


def run_pulumi(
    project_dir: Path,
    args: Sequence[str | Path],
    sandbox_dir: Path,
    env: Mapping[str, str] | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> Run:
    """Runs the engine in a project folder, against a sandbox, without asking anything."""
    command = [str(engine().pulumi), "--non-interactive", "--color", "never", *map(str, args)]
    result = subprocess.run(
        command,
        cwd=project_dir,
        env=Sandbox(sandbox_dir).environment(engine()) | dict(env or {}),
        capture_output=True,
        text=True,
        timeout=timeout_seconds,
        stdin=subprocess.DEVNULL,
    )
    return Run([str(one) for one in args], result.returncode, result.stdout, result.stderr)


@dataclass(frozen=True)
class EmulatedProject:
    """A Pulumi project with one stack, `test`, in a sandbox.

    Attributes:
        folder: the project's folder (Pulumi.yaml lies here).
        sandbox: its sandbox; `sandbox.folder` is SPOTPROOF_SANDBOX_DIR.
        packs: policy pack folders that `preview` and `up` run.
        env: additions to the engine's environment.
    """

    folder: Path
    sandbox: Sandbox
    packs: Sequence[Path] = ()
    env: Mapping[str, str] = field(default_factory=dict)

    def run(self, *args: str | Path, timeout_seconds: float = TIMEOUT_SECONDS) -> Run:
        """Any command, as it is: `run("stack", "export")`."""
        return run_pulumi(self.folder, args, self.sandbox.folder, self.env, timeout_seconds)

    def preview(self, *args: str | Path) -> Run:
        return self.run("preview", "--stack", STACK, *self._pack_args(), *args)

    def up(self, *args: str | Path) -> Run:
        """`up` without a preview; packs run all the same."""
        flags = ["--yes", "--skip-preview"]
        return self.run("up", "--stack", STACK, *flags, *self._pack_args(), *args)

    def refresh(self, *args: str | Path) -> Run:
        return self.run("refresh", "--stack", STACK, "--yes", "--skip-preview", *args)

    def destroy(self, *args: str | Path) -> Run:
        return self.run("destroy", "--stack", STACK, "--yes", "--skip-preview", *args)

    def outputs(self) -> dict[str, Any]:
        """Stack outputs, secrets shown."""
        return self.run("stack", "output", "--stack", STACK, "--json", "--show-secrets").json()

    def resources(self) -> list[dict[str, Any]]:
        """The resources in the state, as `pulumi stack export` gives them."""
        exported = self.run("stack", "export", "--stack", STACK, "--show-secrets").json()
        return exported["deployment"].get("resources") or []

    def resource(self, type_token: str, name: str | None = None) -> dict[str, Any]:
        """The only resource in the state of this type (and logical name)."""
        found = [
            one
            for one in self.resources()
            if one["type"] == type_token and name in (None, one["urn"].rpartition("::")[2])
        ]
        assert len(found) == 1, f"{len(found)} resources of type {type_token}, name {name}"
        return found[0]

    def set_config(self, key: str, value: str, *, secret: bool = False) -> None:
        kind = "--secret" if secret else "--plaintext"
        self.run("config", "set", "--stack", STACK, kind, key, value).check()

    def write(self, program: str) -> None:
        """Replaces the program (Python: `__main__.py`; YAML: the keys beside name and runtime)."""
        _write_program(self.folder, program)

    def cloud(self) -> dict[str, Any]:
        """The emulated cloud's state file, or an empty mapping where there is none yet."""
        state = self.sandbox.cloud_state
        return json.loads(state.read_text()) if state.exists() else {}

    def requests(self) -> list[dict[str, Any]]:
        """The emulated cloud's request log."""
        log = self.sandbox.request_log
        return [json.loads(one) for one in log.read_text().splitlines()] if log.exists() else []

    def _pack_args(self) -> list[str]:
        return [part for pack in self.packs for part in ("--policy-pack", str(pack))]


def emulated_project(
    tmp_path: Path,
    program: str | Path,
    config: Mapping[str, str] | None = None,
    *,
    runtime: str = "python",
    packs: Sequence[str | Path] = (),
    virtualenv: Path | str | None = VENV,
    pulumi_yaml: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    sandbox: Sandbox | None = None,
) -> EmulatedProject:
    """Makes a project with the stack `test` in `tmp_path`.

    Args:
        tmp_path: an empty folder; the project goes to `project/`, the sandbox to `sandbox/`.
        program: program text, or a folder that is copied. Python text becomes `__main__.py`; YAML
            text is the rest of Pulumi.yaml (`resources:`, `outputs:`, `packages:` ...). A folder
            with a Pulumi.yaml keeps it, apart from the virtualenv of a Python runtime.
        config: stack configuration, such as `{"gcp:project": "acme"}`.
        runtime: `python` or `yaml`.
        packs: names of our own packs (`region_match`) or folders of others.
        virtualenv: for Python: the project's own unless stated; None leaves the option out.
        pulumi_yaml: further keys for Pulumi.yaml.
        env: additions to the engine's environment.
        sandbox: that of another project, to share its backend and cloud; one of its own otherwise.
    """
    folder = tmp_path / "project"
    is_folder = isinstance(program, Path)
    if is_folder:
        shutil.copytree(program, folder, ignore=shutil.ignore_patterns("__pycache__", ".venv"))
    folder.mkdir(parents=True, exist_ok=True)
    _write_project_file(folder, runtime, virtualenv, dict(pulumi_yaml or {}))
    if not is_folder:
        _write_program(folder, str(program))
    if sandbox is None:
        sandbox = Sandbox(tmp_path / "sandbox")
        sandbox.prepare(engine())
    project = EmulatedProject(folder, sandbox, [_pack(one) for one in packs], dict(env or {}))
    _init_stack(project)
    if config:
        _write_config(folder / f"Pulumi.{STACK}.yaml", config)
    return project


_INITIALISED: dict[str, tuple[str, dict[str, bytes]]] = {}
"""Of each project name: the salt in the stack file and the files in the backend."""


def _init_stack(project: EmulatedProject) -> None:
    """`pulumi stack init`, run once for each name; what it wrote is written again after that."""
    name = yaml.safe_load((project.folder / "Pulumi.yaml").read_text())["name"]
    stack_file = project.folder / f"Pulumi.{STACK}.yaml"
    stored = project.sandbox.backend / ".pulumi"
    if project.env or name not in _INITIALISED:
        project.run("stack", "init", STACK).check()
        if not project.env:
            files = [stored / "meta.yaml", *(stored / "stacks" / name).glob(f"{STACK}.json*")]
            written = {str(one.relative_to(stored)): one.read_bytes() for one in files}
            salt = yaml.safe_load(stack_file.read_text())["encryptionsalt"]
            _INITIALISED[name] = salt, written
        return
    salt, written = _INITIALISED[name]
    for path, content in written.items():
        (stored / path).parent.mkdir(parents=True, exist_ok=True)
        (stored / path).write_bytes(content)
    there = yaml.safe_load(stack_file.read_text()) if stack_file.exists() else {}
    stack_file.write_text(yaml.safe_dump({**(there or {}), "encryptionsalt": salt}))
    _select_stack(project, name)


def _select_stack(project: EmulatedProject, name: str) -> None:
    """`pulumi stack select`: the file in which the engine notes it."""
    place = hashlib.sha1(os.fspath(project.folder / "Pulumi.yaml").encode()).hexdigest()
    note = project.sandbox.home / "workspaces" / f"{name}-{place}-workspace.json"
    note.parent.mkdir(parents=True, exist_ok=True)
    stack = f"organization/{name}/{STACK}"
    note.write_text(json.dumps({"stacks": {f"file://{project.sandbox.backend}": stack}}))


def _pack(pack: str | Path) -> Path:
    return pack if isinstance(pack, Path) else policy_pack(pack)


def _write_project_file(
    folder: Path, runtime: str, virtualenv: Path | str | None, further: dict[str, Any]
) -> None:
    path = folder / "Pulumi.yaml"
    kept: dict[str, Any] = yaml.safe_load(path.read_text()) if path.exists() else {}
    content: dict[str, Any] = {"name": "emulated", "runtime": runtime} | kept | further
    stated = content["runtime"]
    if (stated["name"] if isinstance(stated, dict) else stated) == "python":
        options = {} if virtualenv is None else {"virtualenv": os.fspath(virtualenv)}
        content["runtime"] = {"name": "python", "options": options}
    path.write_text(yaml.safe_dump(content, sort_keys=False))


def _write_program(folder: Path, program: str) -> None:
    path = folder / "Pulumi.yaml"
    content = yaml.safe_load(path.read_text())
    if content["runtime"] == "yaml":
        path.write_text(yaml.safe_dump(content | yaml.safe_load(program), sort_keys=False))
    else:
        (folder / "__main__.py").write_text(program)


def _write_config(stack_file: Path, config: Mapping[str, str]) -> None:
    content = yaml.safe_load(stack_file.read_text()) if stack_file.exists() else {}
    content = (content or {}) | {"config": dict(config)}
    stack_file.write_text(yaml.safe_dump(content, sort_keys=False))
