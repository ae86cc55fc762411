"""The project as a sandbox's engine sees it: the real program, a copy of the stack's settings.

The engine writes into the stack file and beside it, so it never gets the user's own.
"""

from pathlib import Path
from typing import Any

import yaml

from sandbox import stacks
from sandbox.environment import Sandbox
from sandbox.paths import ROOT


def mirror(sandbox: Sandbox, stack: str, root: Path = ROOT) -> list[str]:
    """Makes the sandbox's project agree with the real one and the stack's file.

    Returns:
        The configuration keys whose encrypted values were replaced by a placeholder.

    Raises:
        StackNameError: that is no stack's short name.
        UnknownStackError: the stack has no file.
        UnreadableStackFileError: the file is no YAML mapping.
    """
    settings = stacks.stack_file(stack, root)
    sandbox.project.mkdir(parents=True, exist_ok=True)
    (sandbox.project / "Pulumi.yaml").write_text((root / "Pulumi.yaml").read_text())
    project = _project(root)
    for name in {Path(project["main"]).parts[0], _virtualenv(project)}:
        _link(root / name, sandbox.project / name)
    return stacks.copy_without_secrets(settings, mirrored_stack_file(sandbox, stack))


def mirrored_stack_file(sandbox: Sandbox, stack: str) -> Path:
    return sandbox.project / "stacks" / f"Pulumi.{stacks.short_name(stack)}.yaml"


def project_name(root: Path = ROOT) -> str:
    return str(_project(root)["name"])


def backend_url(root: Path = ROOT) -> str:
    """The backend that Pulumi.yaml names; empty when it names none."""
    return str((_project(root).get("backend") or {}).get("url") or "")


def _project(root: Path) -> dict[str, Any]:
    return yaml.safe_load((root / "Pulumi.yaml").read_text())


def _virtualenv(project: dict[str, Any]) -> str:
    return project["runtime"]["options"]["virtualenv"]


def _link(source: Path, target: Path) -> None:
    if target.is_symlink():
        target.unlink()
    target.symlink_to(source)
