"""What a stack says of the objects inside its cluster."""

from pathlib import Path

from sandbox import stacks
from sandbox.mirror import project_name

KEY = "workloads"
"""The setting, without its namespace."""

RENDER = "render"
APPLY = "apply"

FOR_REFRESH_OF_RENDERED = {"PULUMI_K8S_SKIP_UPDATE_UNREACHABLE": "true"}
"""For a refresh alone, of a stack whose objects are rendered: otherwise the provider looks for a
cluster, and fails without one. In an update it would hide what has changed."""


def said(file: Path) -> str:
    """What a stack file says: `none`, `render` or `apply`; a wrong text as it stands.

    Raises:
        UnreadableStackFileError: the file is no YAML mapping.
    """
    return stacks.value(file, f"{project_name()}:{KEY}") or "none"
