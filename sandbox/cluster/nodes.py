"""Nodes as GKE makes them for a node pool: labels, taints and what they can hold.

The pool is a mapping in the provider's words, as the emulated cloud keeps it. What GKE adds by
itself, and what it does not, is in `../shared/facts.md` with its sources; the short of it: labels
for Spot, preemptible and flex-start; no taint but the GPU's, and that one only where the cluster
has a pool without GPUs; the taint of queued pools.
Sources: docs.cloud.google.com/kubernetes-engine/docs/concepts/spot-vms, how-to/gpus and
how-to/provisioningrequest; the labels that the GKE cluster autoscaler knows. Read on 2026-11-29.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spotproof_gke.accelerators import MACHINE_TYPES
from spotproof_gke.capacity import (
    ACCELERATOR_KEY,
    FLEX_START_KEY,
    GPU_KEY,
    GPU_TAINT,
    NODE_POOL_KEY,
    PREEMPTIBLE_KEY,
    PROVISIONING_KEY,
    QUEUED_KEY,
    SPOT_KEY,
)
from spotproof_gke.rules.reading import dig, is_true, items, mapping, number, text

MAX_RUN_KEY = "cloud.google.com/gke-max-run-duration-seconds"
DRIVER_KEY = "cloud.google.com/gke-gpu-driver-version"
DRIVERS = {
    "DEFAULT": "default",
    "LATEST": "latest",
    "INSTALLATION_DISABLED": "autoinstall-disabled",
}
"""Values of that label by what a pool says of its driver; a pool that says nothing means DEFAULT.
Sources: docs.cloud.google.com/kubernetes-engine/docs/how-to/gpus and the labels that the GKE
cluster autoscaler knows, read on 2026-11-29."""
PODS_PER_NODE = 110
LONGEST_RUN_SECONDS = 7 * 86400
"""How long a flex-start or queued node lives when its pool says nothing."""

_EFFECTS = {
    "NO_SCHEDULE": "NoSchedule",
    "PREFER_NO_SCHEDULE": "PreferNoSchedule",
    "NO_EXECUTE": "NoExecute",
}
_GIB_PER_VCPU = {"standard": 4.0, "highmem": 8.0, "highcpu": 1.0}


@dataclass(frozen=True)
class NodeShape:
    """What all nodes of a pool have in common.

    Attributes:
        pool: Name of the node pool.
        labels: Labels of each node, without those of its place.
        taints: Taints in the Kubernetes spelling.
        vcpus: Processors.
        memory_gib: Memory.
        gpus: GPUs.
        lifetime_seconds: After how long GKE takes the node away; None when it does not.
        is_spot: Whether it can be taken away at any time.
    """

    pool: str
    labels: Mapping[str, str]
    taints: tuple[Mapping[str, str], ...]
    vcpus: int
    memory_gib: float
    gpus: int = 0
    lifetime_seconds: int | None = None
    is_spot: bool = False

    def node(self, name: str, zone: str) -> dict[str, Any]:
        """A node of this shape, for the API server."""
        region = zone.rpartition("-")[0]
        holds: dict[str, str] = {
            "cpu": str(self.vcpus),
            "memory": f"{round(self.memory_gib * 1024)}Mi",
            "ephemeral-storage": "100Gi",
            "pods": str(PODS_PER_NODE),
        }
        if self.gpus:
            holds[GPU_KEY] = str(self.gpus)
        places = {
            "kubernetes.io/hostname": name,
            "topology.kubernetes.io/region": region,
            "topology.kubernetes.io/zone": zone,
        }
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {**self.labels, **places}},
            "spec": {"taints": [dict(taint) for taint in self.taints]},
            "status": {"capacity": holds, "allocatable": holds},
        }


def shape_of(pool: Mapping[str, Any], *, beside_pools_without_gpus: bool) -> NodeShape:
    """The nodes of a node pool.

    Args:
        pool: The pool in the provider's words: `name`, `nodeConfig`, `queuedProvisioning`. A pool
            of the cloud has `effectiveTaints`, which are all that its nodes get.
        beside_pools_without_gpus: Whether the cluster had a pool without GPUs when this pool was
            made; only then GKE adds its GPU taint.
    """
    config = mapping(pool.get("nodeConfig"))
    machine = text(config.get("machineType")) or "e2-medium"
    accelerator, gpus = _gpus(config, machine)
    queued = is_true(dig(pool, "queuedProvisioning", "enabled"))
    taints = _taints(config, gpu_taint=bool(gpus) and beside_pools_without_gpus, queued=queued)
    lifetime = _seconds(config.get("maxRunDuration"))
    flexible = is_true(config.get("flexStart"))
    vcpus, memory_gib = _size(machine)
    labels = {
        **{str(key): str(value) for key, value in mapping(config.get("labels")).items()},
        "kubernetes.io/arch": "arm64" if machine.startswith("t2a-") else "amd64",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": machine,
        "cloud.google.com/machine-family": machine.partition("-")[0],
        NODE_POOL_KEY: text(pool.get("name")),
        **_provisioning(config, flexible),
    }
    if accelerator:
        labels[ACCELERATOR_KEY] = accelerator
        labels[DRIVER_KEY] = _driver(config)
    if lifetime:
        labels[MAX_RUN_KEY] = str(lifetime)
    return NodeShape(
        pool=text(pool.get("name")),
        labels=labels,
        taints=tuple(taints),
        vcpus=vcpus,
        memory_gib=memory_gib,
        gpus=gpus,
        lifetime_seconds=lifetime or (LONGEST_RUN_SECONDS if flexible or queued else None),
        is_spot=is_true(config.get("spot")) or is_true(config.get("preemptible")),
    )


def _taints(config: Mapping[Any, Any], *, gpu_taint: bool, queued: bool) -> list[dict[str, str]]:
    if "effectiveTaints" in config:
        return [_taint(each) for each in items(config.get("effectiveTaints"))]
    taints = [_taint(each) for each in items(config.get("taints"))]
    keys = {each["key"] for each in taints}
    if gpu_taint and GPU_KEY not in keys:
        taints.append({"key": GPU_KEY, "value": GPU_TAINT.value, "effect": GPU_TAINT.effect})
    if queued and QUEUED_KEY not in keys:
        taints.append({"key": QUEUED_KEY, "value": "true", "effect": "NoSchedule"})
    return taints


def _driver(config: Mapping[Any, Any]) -> str:
    stated = mapping((list(items(config.get("guestAccelerators"))) or [{}])[0])
    version = text(dig(stated, "gpuDriverInstallationConfig", "gpuDriverVersion"))
    return DRIVERS.get(version, DRIVERS["DEFAULT"])


def _provisioning(config: Mapping[Any, Any], flexible: bool) -> dict[str, str]:
    if is_true(config.get("spot")):
        return {SPOT_KEY: "true", PROVISIONING_KEY: "spot"}
    if is_true(config.get("preemptible")):
        return {PREEMPTIBLE_KEY: "true", PROVISIONING_KEY: "preemptible"}
    if flexible:
        return {FLEX_START_KEY: "true", PROVISIONING_KEY: "flex-start"}
    return {PROVISIONING_KEY: "standard"}


def _taint(given: object) -> dict[str, str]:
    taint = mapping(given)
    effect = text(taint.get("effect"))
    return {
        "key": text(taint.get("key")),
        "value": text(taint.get("value")),
        "effect": _EFFECTS.get(effect, effect),
    }


def _gpus(config: Mapping[Any, Any], machine: str) -> tuple[str, int]:
    known = MACHINE_TYPES.get(machine)
    stated = mapping((list(items(config.get("guestAccelerators"))) or [{}])[0])
    accelerator = text(stated.get("type")) or (known.accelerator if known else "")
    count = number(stated.get("count")) or (known.gpus if known else 0)
    return (accelerator, int(count)) if accelerator else ("", 0)


def _size(machine: str) -> tuple[int, float]:
    if known := MACHINE_TYPES.get(machine):
        return known.vcpus, float(known.memory_gb)
    match = re.fullmatch(r"[a-z0-9]+-(?P<kind>[a-z]+)-(?P<vcpus>\d+)[a-z-]*", machine)
    if not match:
        return 2, 4.0
    vcpus = int(match["vcpus"])
    return vcpus, vcpus * _GIB_PER_VCPU.get(match["kind"], 4.0)


def _seconds(duration: object) -> int | None:
    match = re.fullmatch(r"(\d+)(?:\.0+)?s", text(duration))
    return int(match[1]) if match else None
