"""Capacity: how a node is obtained, and all that follows from it.

Sources, read on 2026-11-29: docs.cloud.google.com/kubernetes-engine pages concepts/spot-vms,
how-to/dws-flex-start-training, how-to/provisioningrequest, how-to/gpus; the labels and taints that
the GKE cluster autoscaler knows.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Capacity(str, Enum):
    """How the virtual machine behind a node is obtained."""

    ON_DEMAND = "on-demand"
    """Made at once where there is room, and kept."""

    SPOT = "spot"
    """Cheap, made where capacity is spare, and taken away at any moment."""

    FLEX_START = "flex-start"
    """Waits for capacity, then runs for a limited time without being taken away."""

    FLEX_START_QUEUED = "flex-start-queued"
    """As flex-start, and all nodes of a request come together, by queued provisioning."""

    RESERVATION = "reservation"
    """From a reservation of the project."""


def is_flexible(capacity: Capacity) -> bool:
    """Whether nodes come by flex-start, queued or not."""
    return capacity in (Capacity.FLEX_START, Capacity.FLEX_START_QUEUED)


SPOT_KEY = "cloud.google.com/gke-spot"
PREEMPTIBLE_KEY = "cloud.google.com/gke-preemptible"
FLEX_START_KEY = "cloud.google.com/gke-flex-start"
QUEUED_KEY = "cloud.google.com/gke-queued"
PROVISIONING_KEY = "cloud.google.com/gke-provisioning"
ACCELERATOR_KEY = "cloud.google.com/gke-accelerator"
COMPUTE_CLASS_KEY = "cloud.google.com/compute-class"
NODE_POOL_KEY = "cloud.google.com/gke-nodepool"
"""Label of a node: the name of its pool."""

GPU_KEY = "nvidia.com/gpu"
MANAGED_COMPONENTS_KEY = "components.gke.io/gke-managed-components"


@dataclass(frozen=True)
class Taint:
    """A node taint; `effect` in the Kubernetes spelling (`NoSchedule`)."""

    key: str
    value: str
    effect: str = "NoSchedule"

    def toleration(self) -> dict[str, str]:
        """The toleration that a pod needs for this taint, as in a pod spec."""
        return {
            "key": self.key,
            "operator": "Equal",
            "value": self.value,
            "effect": self.effect,
        }

    def provider_taint(self) -> dict[str, str]:
        """The taint in the GKE API's spelling (`NO_SCHEDULE`), as a node pool takes it."""
        effect = {
            "NoSchedule": "NO_SCHEDULE",
            "PreferNoSchedule": "PREFER_NO_SCHEDULE",
            "NoExecute": "NO_EXECUTE",
        }[self.effect]
        return {"key": self.key, "value": self.value, "effect": effect}


SPOT_TAINT = Taint(SPOT_KEY, "true")
FLEX_START_TAINT = Taint(FLEX_START_KEY, "true")
GPU_TAINT = Taint(GPU_KEY, "present")


@dataclass(frozen=True)
class Scheduling:
    """What a workload must say to land on a kind of node.

    Attributes:
        node_selector: Labels to select.
        tolerations: Tolerations to carry, as in a pod spec.
    """

    node_selector: dict[str, str]
    tolerations: tuple[dict[str, str], ...] = field(default=())

    def manifest(self) -> dict[str, Any]:
        """Both, as keys of a pod specification that is plain data; what is empty is left out."""
        return _without_empty(
            {"nodeSelector": dict(self.node_selector), "tolerations": self._tolerations()}
        )

    def arguments(self) -> dict[str, Any]:
        """Both, as arguments of a pod specification of the Pulumi SDK for Python."""
        return _without_empty(
            {"node_selector": dict(self.node_selector), "tolerations": self._tolerations()}
        )

    def _tolerations(self) -> list[dict[str, str]]:
        return [dict(toleration) for toleration in self.tolerations]


def _without_empty(parts: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in parts.items() if value}


def pool_taints(capacity: Capacity, *, gpu: bool) -> tuple[Taint, ...]:
    """The taints that we declare on a pool of this capacity.

    GKE puts a taint on auto-created Spot nodes, none on a hand-made Spot pool. A GPU pool declares
    GKE's own GPU taint too, since GKE adds it only when the cluster already has a pool without
    GPUs, and any later change of the taints sends the whole list. A GPU flex-start pool relies on
    the GPU taint alone, so that the plain Job which Google documents lands on it. So may any other
    pod that tolerates the GPU taint and selects no other nodes, one of the system's included.
    """
    taints: list[Taint] = []
    if capacity is Capacity.SPOT:
        taints.append(SPOT_TAINT)
    if is_flexible(capacity) and not gpu:
        taints.append(FLEX_START_TAINT)
    if gpu:
        taints.append(GPU_TAINT)
    return tuple(taints)


def pool_labels(capacity: Capacity) -> dict[str, str]:
    """The labels that we declare on a pool of this capacity.

    GKE labels Spot and flex-start nodes itself, but gives a queued pool the taint alone.
    """
    return {QUEUED_KEY: "true"} if capacity is Capacity.FLEX_START_QUEUED else {}


def scheduling(capacity: Capacity, accelerator: str | None = None) -> Scheduling:
    """Selector and tolerations of a pod that wants this capacity; the two never part.

    Args:
        capacity: The capacity asked for.
        accelerator: GKE's name of the GPU, for example `nvidia-l4`; None for a CPU node.

    The toleration of the GPU taint is left out: Kubernetes adds it to each pod that requests GPUs.
    """
    selector = {
        Capacity.SPOT: {SPOT_KEY: "true"},
        Capacity.FLEX_START: {FLEX_START_KEY: "true"},
        Capacity.FLEX_START_QUEUED: {QUEUED_KEY: "true"},
    }.get(capacity, {})
    if accelerator:
        selector = {**selector, ACCELERATOR_KEY: accelerator}
    tolerations = tuple(
        taint.toleration()
        for taint in pool_taints(capacity, gpu=accelerator is not None)
        if taint is not GPU_TAINT
    )
    return Scheduling(selector, tolerations)
