"""The one reader of a stack's configuration: every problem found, one error.

`python infra/settings.py stacks/Pulumi.dev.yaml` judges a stack file without an engine.
"""

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import stack_file
from loader import NAMESPACE, Loader
from spotproof_gke.grace import Mode
from spotproof_gke.problems import ProblemsError
from workload_sections import Layer


@dataclass(frozen=True)
class Settings:
    """What one environment is made of: the checked arguments of each component.

    Attributes:
        project: Project id.
        region: Region of everything.
        cluster_name: Fixed name of the cluster, also the prefix of other names.
        mode: Whether the cluster is Standard or Autopilot.
        deletion_protection: Whether the engine and the cloud refuse to destroy the environment.
        trust: `tables_out_of_date` as every component's argument, or nothing.
        cluster: Arguments of the cluster less those that other components supply.
        sections: Arguments of all other components by section: of the one component, or of each
            by its key in the stack file. Those that other components supply are left out.
        workloads: What becomes of the objects inside the cluster.
        workloads_folder: Where they are rendered, from the project's folder; None when omitted.
        create_namespaces: Whether namespaces and service accounts of workloads are made.
        manifests: The objects inside the cluster, with stand-ins for what an update will know.
        least_version: The least GKE version that knows all of them, "" when nothing is known.
    """

    project: str
    region: str
    cluster_name: str
    mode: Mode
    deletion_protection: bool
    trust: Mapping[str, Any]
    cluster: Mapping[str, Any]
    sections: Mapping[str, Mapping[str, Any]]
    workloads: Layer
    workloads_folder: str | None
    create_namespaces: bool
    manifests: Sequence[Mapping[str, Any]]
    least_version: str


def load(
    values: Mapping[str, Any],
    source: str,
    secrets: Collection[str] = (),
    project: str = NAMESPACE,
) -> Settings:
    """Judge the configuration of a stack.

    Args:
        values: Configuration by full key (`spotproof:region`), scalars at the top as texts, as the
            engine hands them over.
        source: What to call the input in an error, for example `stacks/Pulumi.dev.yaml`.
        secrets: Keys whose values are encrypted.
        project: The name in Pulumi.yaml; its settings may have that before them too.

    Raises:
        ProblemsError: Something is wrong; it lists all problems with their keys.
    """
    loader = Loader(values, secrets, project)
    settings = Settings(**loader.settings())
    if loader.problems:
        raise ProblemsError(source, loader.problems)
    return settings


def from_engine() -> Settings:
    """The settings of the stack that the engine runs.

    Raises:
        ProblemsError: Something is wrong with them.
    """
    import pulumi
    from pulumi import runtime

    values = runtime.get_config_env()
    secrets = runtime.get_config_secret_keys_env()
    source = f"stacks/Pulumi.{pulumi.get_stack()}.yaml"
    return load(stack_file.parsed(values), source, secrets, pulumi.get_project())


def main(arguments: list[str]) -> int:
    """Judge one stack file; 0 when it is right, 1 with one error on stderr, 2 for a wrong call."""
    if len(arguments) != 1:
        print("usage: python infra/settings.py stacks/Pulumi.<stack>.yaml", file=sys.stderr)
        return 2
    try:
        values, secrets = stack_file.read(Path(arguments[0]))
        settings = load(values, arguments[0], secrets, stack_file.project_name())
    except (ProblemsError, stack_file.UnreadableStackFileError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{arguments[0]}: right. {_summary(settings)}")
    return 0


def _summary(settings: Settings) -> str:
    kind = "Autopilot cluster" if settings.mode is Mode.AUTOPILOT else "cluster"
    parts = [f"{kind} {settings.cluster_name} in {settings.region}"]
    for key, words in (
        ("spot_pools", "Spot pools"),
        ("flex_start_pools", "flex-start pools"),
        ("gpu_pools", "GPU pools"),
        ("cpu_pools", "CPU pools"),
        ("work_queues", "work queues"),
    ):
        if names := ", ".join(settings.sections[key]):
            parts.append(f"{words}: {names}")
    if settings.workloads is not Layer.NONE:
        count = len(settings.manifests)
        parts.append(f"objects in the cluster: {count} to {settings.workloads.value}")
    parts.append(f"deletion protection: {'on' if settings.deletion_protection else 'off'}")
    return ", ".join(parts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
