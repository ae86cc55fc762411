"""The cluster that a stack made in the emulated cloud, as the simulated nodes need it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.cluster.nodes import LONGEST_RUN_SECONDS, shape_of
from sandbox.cluster.offers import Cluster
from spotproof_gke.capacity import ACCELERATOR_KEY, Capacity
from spotproof_gke.grace import termination_budget
from spotproof_gke.rules.reading import dig, is_true, items, mapping, number
from spotproof_gke.workloads.scheduling import NodesFrom

CLUSTER = "gcp:container/cluster:Cluster"
NODE_POOL = "gcp:container/nodePool:NodePool"


class UnfitClusterError(Exception):
    """There is no cluster that a drill could use; the text says why and what to do."""


@dataclass(frozen=True)
class Place:
    """Where a workload's pods may run.

    Attributes:
        accelerator: GKE's name of the GPU; None for none.
        gpus: GPUs of one node.
        nodes: Where its nodes come from.
        budget_seconds: What a pod has between SIGTERM and the end of its node.
        lifetime_seconds: How long a node lives; None when it has no end.
    """

    accelerator: str | None
    gpus: int
    nodes: NodesFrom
    budget_seconds: int
    lifetime_seconds: int | None = None


def cluster_of(things: Iterable[Mapping[str, Any]]) -> tuple[str, Cluster]:
    """Name and pools of the one cluster among the resources of an emulated cloud.

    Raises:
        UnfitClusterError: there is none, there are several, or it has no pools.
    """
    things = list(things)
    clusters = [mapping(thing["properties"]) for thing in things if thing["type"] == CLUSTER]
    if len(clusters) != 1:
        names = ", ".join(sorted(str(each.get("name")) for each in clusters)) or "none"
        raise UnfitClusterError(
            f"a drill takes a stack with one cluster; this one has {len(clusters)} ({names})"
        )
    cluster = clusters[0]
    name = str(cluster.get("name"))
    if is_true(cluster.get("enableAutopilot")):
        raise UnfitClusterError(
            f"cluster {name} is of Autopilot, which has no node pools to simulate: drill a stack "
            "of Standard, such as STACK=showcase"
        )
    pools = [
        mapping(thing["properties"])
        for thing in things
        if thing["type"] == NODE_POOL and mapping(thing["properties"]).get("cluster") == name
    ]
    return name, Cluster(tuple(cluster.get("nodeLocations") or ()), pools, _limits(cluster))


def _limits(cluster: Mapping[Any, Any]) -> dict[str, int] | None:
    scaling = mapping(cluster.get("clusterAutoscaling"))
    if not is_true(scaling.get("enabled")):
        return None
    return {
        str(limit.get("resourceType")): int(number(limit.get("maximum")) or 0)
        for limit in map(mapping, items(scaling.get("resourceLimits")))
    }


def spot_place(cluster: Cluster) -> Place:
    """Where training on Spot GPUs runs: a pool, else auto-provisioning.

    Raises:
        UnfitClusterError: the cluster has neither.
    """
    for pool in cluster.pools:
        config = mapping(pool.get("nodeConfig"))
        shape = shape_of(pool, beside_pools_without_gpus=True)
        if is_true(config.get("spot")) and shape.gpus:
            shutdown = int(number(dig(config, "kubeletConfig", "shutdownGracePeriodSeconds")) or 0)
            return Place(
                shape.labels[ACCELERATOR_KEY],
                shape.gpus,
                NodesFrom.POOL,
                _budget(Capacity.SPOT, shutdown),
            )
    return _provisioned(cluster, "Spot", Capacity.SPOT)


def flex_start_place(cluster: Cluster) -> Place:
    """Where flex-start work runs that does not queue: a pool, else auto-provisioning.

    Raises:
        UnfitClusterError: the cluster has neither.
    """
    for pool in cluster.pools:
        shape = shape_of(pool, beside_pools_without_gpus=True)
        queued = is_true(dig(pool, "queuedProvisioning", "enabled"))
        if is_true(dig(pool, "nodeConfig", "flexStart")) and shape.gpus and not queued:
            return Place(
                shape.labels[ACCELERATOR_KEY],
                shape.gpus,
                NodesFrom.POOL,
                _budget(Capacity.FLEX_START),
                shape.lifetime_seconds,
            )
    return _provisioned(cluster, "flex-start", Capacity.FLEX_START)


def has_spot_cpus(cluster: Cluster) -> bool:
    """Whether workers without GPUs get Spot nodes."""
    return cluster.limits is not None or any(
        is_true(dig(pool, "nodeConfig", "spot"))
        and not shape_of(pool, beside_pools_without_gpus=True).gpus
        for pool in cluster.pools
    )


def _provisioned(cluster: Cluster, what: str, capacity: Capacity) -> Place:
    accelerators = [name for name in cluster.limits or {} if name not in ("cpu", "memory")]
    if not accelerators:
        raise UnfitClusterError(
            f"the cluster can get no {what} GPUs: it has neither such a node pool nor "
            "auto-provisioning of an accelerator. Drill another stack, such as STACK=showcase"
        )
    lifetime = LONGEST_RUN_SECONDS if capacity is Capacity.FLEX_START else None
    return Place(accelerators[0], 1, NodesFrom.AUTO_PROVISIONING, _budget(capacity), lifetime)


def _budget(capacity: Capacity, shutdown_seconds: int = 0) -> int:
    return termination_budget(capacity, shutdown_seconds=shutdown_seconds).seconds or 0
