"""Nodes that could be made for a pod: from node pools, compute classes and auto-provisioning.

A stand-in for GKE's cluster autoscaler. It knows what that one does by its documentation: limits
of pools and of the cluster, priorities of a class in their order, taints on nodes of its own.
Sources: docs.cloud.google.com/kubernetes-engine/docs/concepts/node-auto-provisioning,
concepts/about-custom-compute-classes and concepts/cluster-autoscaler, read on 2026-11-30.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sandbox.cluster.nodes import DRIVER_KEY, DRIVERS, MAX_RUN_KEY, NodeShape, shape_of
from sandbox.cluster.placement import Resources, has_room, requests, selects, tolerates
from spotproof_gke.accelerators import MACHINE_TYPES
from spotproof_gke.capacity import (
    ACCELERATOR_KEY,
    COMPUTE_CLASS_KEY,
    FLEX_START_KEY,
    GPU_KEY,
    GPU_TAINT,
    PROVISIONING_KEY,
    SPOT_KEY,
    SPOT_TAINT,
)

_CPU_MACHINES = ("e2-standard-2", "e2-standard-4", "e2-standard-8", "e2-standard-16")


@dataclass(frozen=True)
class Offer:
    """A node that may be made.

    Attributes:
        origin: Who makes it: `pool l4-spot`, `class cheap, priority 2`, `auto-provisioning`.
        shape: What it is.
        zones: Where it may be.
        most: How many such nodes there may be in all; None when only the limits count.
    """

    origin: str
    shape: NodeShape
    zones: tuple[str, ...]
    most: int | None = None


@dataclass
class Market:
    """What the cloud has none of at the moment.

    Attributes:
        sold_out: Pairs of provisioning (`spot`, `flex-start`, `standard`) and machine type; `*`
            stands for any.
    """

    sold_out: set[tuple[str, str]] = field(default_factory=set)

    def has(self, shape: NodeShape) -> bool:
        """Whether a node of this shape can be had now."""
        how = shape.labels[PROVISIONING_KEY]
        machine = shape.labels["node.kubernetes.io/instance-type"]
        names = {(how, machine), (how, "*"), ("*", machine), ("*", "*")}
        return not names & self.sold_out


@dataclass(frozen=True)
class Cluster:
    """What decides which nodes a cluster may get.

    Attributes:
        zones: Zones of the cluster.
        pools: Node pools in the provider's words.
        limits: `resourceLimits` of auto-provisioning by resource (`cpu`, `memory` in GB, GPU
            types); None when the cluster has none of it.
        classes: Compute classes by name.
    """

    zones: tuple[str, ...]
    pools: Sequence[Mapping[str, Any]]
    limits: Mapping[str, int] | None = None
    classes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def pool_offers(self) -> list[Offer]:
        """An offer for each pool that grows by itself."""
        return [
            Offer(f"pool {pool['name']}", self.shape(pool), self.zones_of(pool), most)
            for pool in self.pools
            if (most := self._most(pool)) is not None
        ]

    def shape(self, pool: Mapping[str, Any]) -> NodeShape:
        """The nodes of a pool of this cluster."""
        without = any(not shape_of(p, beside_pools_without_gpus=False).gpus for p in self.pools)
        return shape_of(pool, beside_pools_without_gpus=without)

    def zones_of(self, pool: Mapping[str, Any]) -> tuple[str, ...]:
        """Zones of a pool: its own, else the cluster's."""
        return tuple(pool.get("nodeLocations") or self.zones)

    def standing(self, pool: Mapping[str, Any]) -> int:
        """How many nodes a pool has in each of its zones to begin with."""
        scaling = pool.get("autoscaling") or {}
        for count in (pool.get("nodeCount"), pool.get("initialNodeCount")):
            if count is not None:
                return max(int(count), int(scaling.get("minNodeCount") or 0))
        return int(scaling.get("minNodeCount") or 0)

    def least(self, pool: Mapping[str, Any]) -> int:
        """How many nodes a pool keeps in all, however idle."""
        scaling = pool.get("autoscaling") or {}
        in_a_zone = int(scaling.get("minNodeCount") or 0)
        return int(scaling.get("totalMinNodeCount") or in_a_zone * len(self.zones_of(pool)))

    def _most(self, pool: Mapping[str, Any]) -> int | None:
        scaling = pool.get("autoscaling") or {}
        if total := scaling.get("totalMaxNodeCount"):
            return int(total)
        if in_a_zone := scaling.get("maxNodeCount"):
            return int(in_a_zone) * len(self.zones_of(pool))
        return None


def offers_for(spec: Mapping[str, Any], cluster: Cluster) -> Iterator[Offer | str]:
    """Nodes that a pod could run on, the preferred first; a text says why one is not offered."""
    wanted = (spec.get("nodeSelector") or {}).get(COMPUTE_CLASS_KEY)
    if wanted is not None:
        yield from _from_class(spec, cluster, wanted)
        return
    for offer in cluster.pool_offers():
        yield _objection(spec, offer) or offer
    if cluster.limits is not None:
        yield from _auto_provisioned(spec, cluster)


def _objection(spec: Mapping[str, Any], offer: Offer) -> str | None:
    labels = {**offer.shape.labels}
    if not selects(spec, labels):
        return f"{offer.origin} has not the labels that the pod selects"
    if not tolerates(spec, offer.shape.taints):
        return f"{offer.origin} has a taint that the pod does not tolerate"
    holds = offer.shape.node("", offer.zones[0])["status"]["allocatable"]
    if not has_room(holds, (), requests(spec)):
        return f"{offer.origin} has too small nodes"
    return None


def _auto_provisioned(spec: Mapping[str, Any], cluster: Cluster) -> Iterator[Offer | str]:
    selector = spec.get("nodeSelector") or {}
    accelerator = selector.get(ACCELERATOR_KEY)
    wants = requests(spec)
    if GPU_KEY in wants and not accelerator:
        yield f"auto-provisioning needs the node selector {ACCELERATOR_KEY} with a GPU request"
        return
    if accelerator and accelerator not in (cluster.limits or {}):
        yield f"auto-provisioning has no limit for {accelerator}, so it makes no nodes with it"
        return
    machine = _machine(accelerator, wants)
    if machine is None:
        yield "auto-provisioning knows no machine that is large enough"
        return
    config: dict[str, Any] = {"machineType": machine}
    if accelerator:
        config["guestAccelerators"] = [_driven(accelerator, machine, selector.get(DRIVER_KEY))]
    if selector.get(MAX_RUN_KEY, "").isdigit():
        config["maxRunDuration"] = f"{selector[MAX_RUN_KEY]}s"
    if selector.get(FLEX_START_KEY) == "true":
        config["flexStart"] = True
    elif selector.get(SPOT_KEY) == "true" or selector.get(PROVISIONING_KEY) == "spot":
        config |= {"spot": True, "taints": [SPOT_TAINT.provider_taint()]}
    how = "-flex" if "flexStart" in config else "-spot" if "spot" in config else ""
    pool = {"name": f"nap-{machine}{how}", "nodeConfig": config}
    offer = Offer(
        "auto-provisioning", shape_of(pool, beside_pools_without_gpus=True), cluster.zones
    )
    yield _objection(spec, offer) or offer


def _driven(accelerator: str, machine: str, driver: str | None) -> dict[str, Any]:
    """GPUs of a machine with the driver that a pod or a class asks for; GKE's default for None."""
    known = MACHINE_TYPES.get(machine)
    versions = {label: version for version, label in DRIVERS.items()}
    return {
        "type": accelerator,
        "count": known.gpus if known else 1,
        "gpuDriverInstallationConfig": {
            "gpuDriverVersion": versions.get(driver or "", "DEFAULT"),
        },
    }


def _machine(accelerator: str | None, wants: Resources) -> str | None:
    if accelerator is None:
        candidates = list(_CPU_MACHINES)
    else:
        known = [each for each in MACHINE_TYPES.values() if each.accelerator == accelerator]
        candidates = [each.name for each in sorted(known, key=lambda e: (e.gpus, e.vcpus))]
    for name in candidates:
        shape = shape_of({"nodeConfig": {"machineType": name}}, beside_pools_without_gpus=True)
        if has_room(shape.node("", "")["status"]["allocatable"], (), wants):
            return name
    return None


def _from_class(spec: Mapping[str, Any], cluster: Cluster, name: str) -> Iterator[Offer | str]:
    definition = cluster.classes.get(name)
    if definition is None:
        yield f"there is no compute class {name}"
        return
    priorities: list[Mapping[str, Any]] = definition.get("priorities") or []
    for number, priority in enumerate(priorities, 1):
        origin = f"class {name}, priority {number}"
        for pool in priority.get("nodepools") or ():
            offers = {offer.shape.pool: offer for offer in cluster.pool_offers()}
            if pool in offers:
                found = replace(offers[pool], origin=origin)
                yield _objection(spec, found) or found
        machine = priority.get("machineType") or _machine(
            (priority.get("gpu") or {}).get("type"), requests(spec)
        )
        if machine is None or priority.get("nodepools"):
            continue
        shape = _class_shape(name, priority, machine)
        zones = tuple((priority.get("location") or {}).get("zones") or cluster.zones)
        offer = Offer(origin, shape, zones)
        yield _objection(spec, offer) or offer


def _class_shape(name: str, priority: Mapping[str, Any], machine: str) -> NodeShape:
    config: dict[str, Any] = {"machineType": machine}
    gpu = priority.get("gpu")
    if gpu:
        driven = _driven(gpu["type"], machine, gpu.get("driverVersion"))
        config["guestAccelerators"] = [{**driven, "count": gpu.get("count", 1)}]
    if priority.get("spot"):
        config |= {"spot": True, "taints": [SPOT_TAINT.provider_taint()]}
    if (priority.get("flexStart") or {}).get("enabled"):
        config["flexStart"] = True
    if seconds := priority.get("maxRunDurationSeconds"):
        config["maxRunDuration"] = f"{seconds}s"
    config["labels"] = {COMPUTE_CLASS_KEY: name}
    taint = {"key": COMPUTE_CLASS_KEY, "value": name, "effect": "NO_SCHEDULE"}
    gpu_taint = [GPU_TAINT.provider_taint()] if gpu else []
    config["taints"] = [*config.get("taints", ()), taint, *gpu_taint]
    pool = {"name": f"nap-{name}-{machine}", "nodeConfig": config}
    return shape_of(pool, beside_pools_without_gpus=True)
