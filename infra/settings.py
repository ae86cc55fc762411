"""The one reader of a stack's configuration: every problem found, one error.

`python infra/settings.py stacks/Pulumi.dev.yaml` judges a stack file without an engine.
"""

import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import stack_file
from spotproof.checkpoint_bucket import CheckpointBucketArgs, plan_checkpoint_bucket
from spotproof.cluster import GkeClusterArgs, GkeClusterPlan, plan_gke_cluster
from spotproof.network import NetworkArgs, plan_network
from spotproof.reader import Reader, camel_case
from spotproof.spot_gpu_pool import SpotGpuPoolArgs, SpotGpuPoolPlan, plan_spot_gpu_pool
from spotproof.system_pool import SystemNodePoolArgs, plan_system_node_pool
from spotproof_gke.problems import Problem, ProblemsError, did_you_mean, nearest

Plan = TypeVar("Plan")

NAMESPACE = "spotproof"
PROJECT_KEY = "gcp:project"

SECTIONS = ("network", "system_pool", "spot_pools", "checkpoints")
"""Keys that hold the arguments of the other components; the cluster's stand at the top."""

SUPPLIED: dict[str, frozenset[str]] = {
    "cluster": frozenset(
        {"project", "network_id", "subnetwork_id", "pods_range_name", "services_range_name"}
    ),
    "network": frozenset({"project", "region", "network_name"}),
    "pool": frozenset({"project", "cluster", "cluster_location", "node_service_account"}),
    "checkpoints": frozenset(
        {"project", "cluster_name", "cluster_location", "cluster_project", "cluster_project_number"}
    ),
}
"""Arguments that the program supplies itself, so that a stack file can't contradict itself."""

HIDDEN_PROJECT = "a-secret-project"
"""Stands for a project id that was given as a secret while the other settings are judged."""

OUTPUT = "known after the update"
"""Stands for an output of another component while settings are judged."""


@dataclass(frozen=True)
class Settings:
    """What one environment is made of: the checked arguments of each component.

    Attributes:
        project: Project id.
        region: Region of everything.
        cluster_name: Fixed name of the cluster, also the prefix of other names.
        deletion_protection: Whether the engine and the cloud refuse to destroy the environment.
        cluster: Arguments of `GkeCluster` less those that other components supply.
        network: Arguments of `Network`.
        system_pool: Arguments of `SystemNodePool` less those that the cluster supplies.
        spot_pools: Arguments of each `SpotGpuPool`, by its key in the stack file.
        checkpoints: Arguments of `CheckpointBucket`.
    """

    project: str
    region: str
    cluster_name: str
    deletion_protection: bool
    cluster: Mapping[str, Any]
    network: Mapping[str, Any]
    system_pool: Mapping[str, Any]
    spot_pools: Mapping[str, Mapping[str, Any]]
    checkpoints: Mapping[str, Any]


def load(values: Mapping[str, Any], source: str, secrets: Collection[str] = ()) -> Settings:
    """Judge the configuration of a stack.

    Args:
        values: Configuration by full key (`spotproof:region`), scalars at the top as texts, as the
            engine hands them over.
        source: What to call the input in an error, for example `stacks/Pulumi.dev.yaml`.
        secrets: Keys whose values are encrypted.

    Raises:
        ProblemsError: Something is wrong; it lists all problems with their keys.
    """
    loader = _Loader(values, secrets)
    settings = loader.settings()
    if loader.problems:
        raise ProblemsError(source, loader.problems)
    return settings


class _Loader:
    def __init__(self, values: Mapping[str, Any], secrets: Collection[str]) -> None:
        self.problems: list[Problem] = []
        own = {
            key.removeprefix(f"{NAMESPACE}:"): value
            for key, value in values.items()
            if key.startswith(f"{NAMESPACE}:") and value is not None
        }
        self._project = values.get(PROJECT_KEY)
        for key in sorted(secrets):
            name = key.removeprefix(f"{NAMESPACE}:")
            if own.pop(name, None) is not None or key == PROJECT_KEY:
                rule = "settings shape the plan and are shown in it, so none is a secret"
                self._problem(name, "a secret", rule, "set it again without --secret")
        if PROJECT_KEY in secrets:
            self._project = HIDDEN_PROJECT
        for key in values:
            namespace = key.partition(":")[0]
            if namespace != NAMESPACE and nearest(namespace, [NAMESPACE]):
                right = key.replace(namespace, NAMESPACE, 1)
                rule = "the program reads only settings under its own name"
                self._problem(key, "…", rule, f'did you mean "{right}"?')
        known = [*_own_fields(GkeClusterArgs, "cluster"), *SECTIONS]
        self._top = self._snake(own, known, "")

    def settings(self) -> Settings:
        cluster_args = {key: v for key, v in self._top.items() if key not in SECTIONS}
        cluster_args = self._nested_snake(cluster_args)
        cluster = self._plan_cluster(cluster_args)
        network = self._section("network", NetworkArgs, "network")
        supplied = {
            "project": cluster.project,
            "region": cluster.region,
            "network_name": cluster.cluster_name,
        }
        self._judge("network", network, supplied, NetworkArgs, lambda r: plan_network(r, "network"))
        nodes = {
            "project": cluster.project,
            "cluster": OUTPUT,
            "cluster_location": cluster.region,
            "node_service_account": OUTPUT,
        }
        system = self._section("system_pool", SystemNodePoolArgs, "pool")
        self._judge(
            "systemPool",
            system,
            nodes,
            SystemNodePoolArgs,
            lambda read: plan_system_node_pool(read, "system"),
        )
        pools = self._pools(nodes)
        self._fits(cluster, pools)
        return Settings(
            project=cluster.project,
            region=cluster.region,
            cluster_name=cluster.cluster_name,
            deletion_protection=cluster.deletion_protection,
            cluster=cluster_args,
            network=network,
            system_pool=system,
            spot_pools={key: args for key, (args, _) in pools.items()},
            checkpoints=self._checkpoints(cluster),
        )

    def _plan_cluster(self, args: Mapping[str, Any]) -> GkeClusterPlan:
        if "cluster_name" not in args:
            rule = "the cluster's fixed name is required"
            self._problem("clusterName", None, rule, "add it")
        supplied = {"network_id": OUTPUT, "subnetwork_id": OUTPUT}
        if self._project is not None:
            supplied["project"] = self._project
        reader = Reader(
            {**args, **supplied},
            GkeClusterArgs.__annotations__,
            "",
            lambda key: PROJECT_KEY if key == "project" else camel_case(key),
        )
        plan = plan_gke_cluster(reader, "cluster")
        self.problems += reader.problems
        return plan

    def _pools(self, nodes: Mapping[str, Any]) -> dict[str, tuple[dict[str, Any], SpotGpuPoolPlan]]:
        raw = self._top.get("spot_pools")
        if raw is None:
            raw = {}
        if not isinstance(raw, Mapping):
            rule = "this is a mapping from a pool's name to its settings"
            self._problem("spotPools", raw, rule, "write l4: {machineType: g2-standard-8, …}")
            raw = {}
        fields = _own_fields(SpotGpuPoolArgs, "pool")
        pools: dict[str, tuple[dict[str, Any], SpotGpuPoolPlan]] = {}
        for key, value in raw.items():
            path = f"spotPools.{key}"
            args = self._snake(self._mapping(value, path), fields, f"{path}.")
            plan = self._judge(
                path,
                args,
                nodes,
                SpotGpuPoolArgs,
                lambda read, key=key: plan_spot_gpu_pool(read, f"spot-{key}"),
            )
            pools[str(key)] = (args, plan)
        return pools

    def _fits(
        self,
        cluster: GkeClusterPlan,
        pools: Mapping[str, tuple[Mapping[str, Any], SpotGpuPoolPlan]],
    ) -> None:
        """GKE counts hand-made pools against the limits of auto-provisioning too."""
        unclear = any(p.key.startswith("autoProvisioning.") for p in self.problems)
        if cluster.auto_provisioning is None or unclear:
            return
        machines = [(plan.machine, plan.max_nodes) for _, plan in pools.values()]
        needs: list[tuple[str, int, int]] = [
            (
                f"accelerators.{accelerator}",
                limit,
                sum(m.gpus * most for m, most in machines if m.accelerator == accelerator),
            )
            for accelerator, limit in cluster.auto_provisioning.accelerators
        ]
        vcpus = sum(m.vcpus * most for m, most in machines)
        memory_gb = sum(m.memory_gb * most for m, most in machines)
        needs.append(("maxVcpus", cluster.auto_provisioning.max_vcpus, vcpus))
        needs.append(("maxMemoryGb", cluster.auto_provisioning.max_memory_gb, memory_gb))
        for key, limit, needed in needs:
            if needed > limit:
                rule = f"this limit holds for hand-made pools too, and spotPools can reach {needed}"
                fix = "raise it above that, or lower maxNodes of a pool"
                self._problem(f"autoProvisioning.{key}", limit, rule, fix)

    def _checkpoints(self, cluster: GkeClusterPlan) -> dict[str, Any]:
        args = self._section("checkpoints", CheckpointBucketArgs, "checkpoints")
        supplied = {
            "project": cluster.project,
            "cluster_name": cluster.cluster_name,
            "cluster_location": cluster.region,
        }
        self._judge("checkpoints", args, supplied, CheckpointBucketArgs, plan_checkpoint_bucket)
        return args

    def _judge(
        self,
        path: str,
        args: Mapping[str, Any],
        supplied: Mapping[str, Any],
        kind: Any,
        plan: Callable[[Reader], Plan],
    ) -> Plan:
        """Let a component judge its arguments; those supplied were judged before."""
        reader = Reader({**args, **supplied}, kind.__annotations__, f"{path}.", camel_case)
        planned = plan(reader)
        hidden = {f"{path}.{camel_case(key)}" for key in supplied}
        for found in reader.problems:
            # The name of a pool is its key in the stack file, so it has no key of its own.
            key = path if found.key == f"{path}.name" else found.key
            if key not in hidden:
                self._problem(key, found.value, found.rule, found.fix)
        return planned

    def _section(self, key: str, kind: Any, supplied: str) -> dict[str, Any]:
        raw = self._mapping(self._top.get(key), camel_case(key))
        return self._snake(raw, _own_fields(kind, supplied), f"{camel_case(key)}.")

    def _mapping(self, value: Any, path: str) -> Mapping[Any, Any]:
        if value is None:
            return {}
        if isinstance(value, Mapping):
            return value
        self._problem(path, value, "this is a mapping of settings", "write key: value pairs")
        return {}

    def _nested_snake(self, args: dict[str, Any]) -> dict[str, Any]:
        """The cluster's own nested settings, their keys spelt as arguments."""
        result = dict(args)
        for key in ("auto_provisioning", "maintenance_window"):
            if key in args:
                fields = GkeClusterArgs.__annotations__[key].__args__[0].__annotations__
                path = camel_case(key)
                result[key] = self._snake(self._mapping(args[key], path), fields, f"{path}.")
        return result

    def _snake(self, raw: Mapping[Any, Any], fields: Collection[str], path: str) -> dict[str, Any]:
        """`raw` with its keys spelt as arguments; a key that is no setting is a problem."""
        spelt = {camel_case(field): field for field in fields}
        for key in raw:
            if key not in spelt:
                fix = did_you_mean(key, spelt)
                self._problem(f"{path}{key}", "…", "there is no such setting", fix)
        return {spelt[key]: value for key, value in raw.items() if key in spelt}

    def _problem(self, key: str, value: object, rule: str, fix: str) -> None:
        self.problems.append(Problem(key, value, rule, fix))


def _own_fields(kind: Any, supplied: str) -> list[str]:
    return [field for field in kind.__annotations__ if field not in SUPPLIED[supplied]]


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
    return load(stack_file.parsed(values), source, secrets)


def main(arguments: list[str]) -> int:
    """Judge one stack file; 0 when it is right, 1 with one error on stderr, 2 for a wrong call."""
    if len(arguments) != 1:
        print("usage: python infra/settings.py stacks/Pulumi.<stack>.yaml", file=sys.stderr)
        return 2
    try:
        values, secrets = stack_file.read(Path(arguments[0]))
        settings = load(values, arguments[0], secrets)
    except (ProblemsError, stack_file.UnreadableStackFileError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    pools = ", ".join(settings.spot_pools) or "none"
    protection = "on" if settings.deletion_protection else "off"
    print(
        f"{arguments[0]}: right. cluster {settings.cluster_name} in {settings.region},"
        f" Spot pools: {pools}, deletion protection: {protection}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
