"""The engine version that the project demands, and whether a `pulumi` satisfies it."""

from pathlib import Path

import yaml

from sandbox.paths import ROOT
from spotproof_gke.stack_state.engine_version import of, parse, satisfies

__all__ = ["of", "parse", "required", "satisfies"]

DEFAULT_REQUIREMENT = ">=3.272.0"


def required(project_file: Path = ROOT / "Pulumi.yaml") -> str:
    """`requiredPulumiVersion` of the project file; the SDK's own version where it says nothing."""
    if not project_file.is_file():
        return DEFAULT_REQUIREMENT
    project = yaml.safe_load(project_file.read_text()) or {}
    return str(project.get("requiredPulumiVersion", DEFAULT_REQUIREMENT))
