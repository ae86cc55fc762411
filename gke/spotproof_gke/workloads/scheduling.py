"""Where a pod may run: selectors and tolerations that never part.

    {"containers": [...], **spot_scheduling("nvidia-l4").manifest()}
    PodSpecArgs(containers=[...], **spot_scheduling("nvidia-l4").arguments())

Sources, read on 2026-11-29: docs.cloud.google.com/kubernetes-engine pages how-to/gpus,
how-to/dws-flex-start-training, how-to/provisioningrequest, concepts/node-auto-provisioning,
concepts/about-custom-compute-classes; the labels that the GKE cluster autoscaler knows.
"""

from enum import Enum

from spotproof_gke.capacity import (
    ACCELERATOR_KEY,
    COMPUTE_CLASS_KEY,
    GPU_KEY,
    SPOT_TAINT,
    Capacity,
    Scheduling,
    Taint,
    scheduling,
)

RUN_DURATION_KEY = "cloud.google.com/gke-max-run-duration-seconds"
"""Label by which a pod tells auto-provisioning how long its nodes live."""

DRIVER_KEY = "cloud.google.com/gke-gpu-driver-version"
"""Label by which a pod tells auto-provisioning which GPU driver to install."""

GPU_TOLERATION = {"key": GPU_KEY, "operator": "Exists", "effect": "NoSchedule"}


class NodesFrom(str, Enum):
    """Where the nodes of a workload come from."""

    POOL = "pool"
    """A node pool that somebody has made."""

    AUTO_PROVISIONING = "auto-provisioning"
    """Node auto-provisioning of a Standard cluster."""

    AUTOPILOT = "autopilot"
    """An Autopilot cluster."""


def spot_scheduling(accelerator: str | None = None) -> Scheduling:
    """Selector and toleration of a pod on Spot nodes.

    Args:
        accelerator: GKE's name of the GPU, for example `nvidia-l4`; None for a CPU node. The
            toleration of the GPU taint comes with the GPU request: Kubernetes adds it.
    """
    return scheduling(Capacity.SPOT, accelerator)


def flex_start_scheduling(
    accelerator: str | None = None,
    *,
    queued: bool = False,
    nodes: NodesFrom = NodesFrom.POOL,
    node_lifetime_seconds: int | None = None,
) -> Scheduling:
    """Selector and tolerations of a pod on flex-start nodes.

    Args:
        accelerator: GKE's name of the GPU; None for a CPU node.
        queued: Whether the nodes come through a ProvisioningRequest.
        nodes: Where the nodes come from. A queued pool is told from others by its own label, which
            auto-provisioning does not know.
        node_lifetime_seconds: How long the nodes live; said to auto-provisioning and Autopilot,
            while a pool states it itself, and a ProvisioningRequest too.
    """
    pool = nodes is NodesFrom.POOL
    capacity = Capacity.FLEX_START_QUEUED if queued and pool else Capacity.FLEX_START
    found = scheduling(capacity, accelerator)
    selector = dict(found.node_selector)
    if node_lifetime_seconds is not None and not pool and not queued:
        selector[RUN_DURATION_KEY] = str(node_lifetime_seconds)
    return Scheduling(with_driver(selector, nodes), found.tolerations)


def gpu_scheduling(accelerator: str, capacity: Capacity = Capacity.ON_DEMAND) -> Scheduling:
    """Selector and tolerations of a pod on nodes with a GPU, the GPU's own toleration included.

    Args:
        accelerator: GKE's name of the GPU.
        capacity: How the nodes are obtained.
    """
    found = scheduling(capacity, accelerator)
    return Scheduling(found.node_selector, (*found.tolerations, dict(GPU_TOLERATION)))


def class_scheduling(compute_class: str, *, spot: bool = False) -> Scheduling:
    """Selector and tolerations of a pod on nodes of a compute class.

    Nothing else is selected: GKE finds no priority for a class together with other node labels.
    It adds the toleration of the class's taint itself; it is stated for pools made by hand.

    Args:
        compute_class: Name of the class.
        spot: Whether the pod may run on Spot nodes of the class.
    """
    taints = [Taint(COMPUTE_CLASS_KEY, compute_class), *([SPOT_TAINT] if spot else [])]
    return Scheduling(
        {COMPUTE_CLASS_KEY: compute_class}, tuple(taint.toleration() for taint in taints)
    )


def with_driver(selector: dict[str, str], nodes: NodesFrom) -> dict[str, str]:
    """The selector, with the GPU driver where auto-provisioning decides by it.

    An auto-provisioned GPU node without a driver comes up and its pods hang in their start.
    """
    if nodes is NodesFrom.AUTO_PROVISIONING and ACCELERATOR_KEY in selector:
        return {**selector, DRIVER_KEY: "default"}
    return selector


def gpu_limits(gpus: int) -> dict[str, str]:
    """The resource limits of a container with GPUs; empty for none."""
    return {GPU_KEY: str(gpus)} if gpus else {}
