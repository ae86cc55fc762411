"""A planned node pool for work, and what it comes to as the provider's properties."""

from dataclasses import dataclass
from typing import Any

from spotproof.nodes import Gpu
from spotproof.pool_args import LocationPolicy
from spotproof_gke import grace
from spotproof_gke.accelerators import MachineType
from spotproof_gke.capacity import Capacity, Taint, is_flexible, pool_labels, pool_taints
from spotproof_gke.rules.pool_capacity import NO_RESERVATION

RESERVATION_KEY = "compute.googleapis.com/reservation-name"
"""The label by which a node names its reservation."""


@dataclass(frozen=True)
class PoolPlan:
    """Checked arguments of a node pool for work.

    Attributes:
        node_pool_name: A fixed name, None when the engine makes one of the component's.
        gpu: GPUs of one node, None without.
        machine: What is known of the GPU machine type, None without GPUs.
        min_nodes, max_nodes: Limits in all zones together; `max_nodes` is None at a fixed size.
        nodes_per_zone: The fixed size, or None.
        initial_nodes_per_zone: Size at birth of a pool that is scaled.
        surge: (max surge, max unavailable), None where GKE has a way of its own.
        reservation: Value of the reservation affinity, None when nothing is said of it.
        max_node_lifetime_seconds: None when GKE's own limit holds.
        shutdown_seconds: (total, critical pods), None when GKE's default holds.
        termination: What an ordinary pod has when its node is taken away.
    """

    project: str
    cluster_location: str
    cluster: Any
    node_service_account: Any
    node_pool_name: str | None
    capacity: Capacity
    machine_type: str
    machine: MachineType | None
    gpu: Gpu | None
    zones: tuple[str, ...]
    min_nodes: int
    max_nodes: int | None
    nodes_per_zone: int | None
    initial_nodes_per_zone: int
    location_policy: LocationPolicy
    auto_repair: bool
    surge: tuple[int, int] | None
    reservation: str | None
    compact: bool
    max_node_lifetime_seconds: int | None
    shutdown_seconds: tuple[int, int] | None
    disk_type: str
    disk_size_gb: int
    node_labels: dict[str, str]
    node_taints: tuple[Taint, ...]
    termination: grace.Budget

    @property
    def taints(self) -> tuple[Taint, ...]:
        """All taints that the pool declares, those of the capacity first."""
        return (*pool_taints(self.capacity, gpu=self.gpu is not None), *self.node_taints)

    @property
    def labels(self) -> dict[str, str]:
        """All Kubernetes labels that the pool declares."""
        return {**self.node_labels, **pool_labels(self.capacity)}

    @property
    def affinity(self) -> dict[str, Any] | None:
        """The reservation affinity as the provider takes it, camelCase."""
        if self.reservation is not None:
            return {
                "consumeReservationType": "SPECIFIC_RESERVATION",
                "key": RESERVATION_KEY,
                "values": [self.reservation],
            }
        return {"consumeReservationType": NO_RESERVATION} if is_flexible(self.capacity) else None

    def properties(self) -> dict[str, Any]:
        """The pool as the rules of GKE see it: the provider's properties, camelCase."""
        config: dict[str, Any] = {
            "machineType": self.machine_type,
            "spot": self.capacity is Capacity.SPOT or None,
            "flexStart": is_flexible(self.capacity) or None,
            "labels": self.labels,
            "reservationAffinity": self.affinity,
            "taints": [taint.provider_taint() for taint in self.taints],
        }
        if self.max_node_lifetime_seconds is not None:
            config["maxRunDuration"] = f"{self.max_node_lifetime_seconds}s"
        if self.shutdown_seconds is not None:
            total, critical = self.shutdown_seconds
            config["kubeletConfig"] = {
                "shutdownGracePeriodSeconds": total,
                "shutdownGracePeriodCriticalPodsSeconds": critical,
            }
        props: dict[str, Any] = {
            "nodeConfig": config,
            "nodeLocations": list(self.zones),
            "nodeCount": self.nodes_per_zone,
            "management": {"autoRepair": self.auto_repair},
        }
        if self.max_nodes is not None:
            props["initialNodeCount"] = self.initial_nodes_per_zone
            props["autoscaling"] = {
                "totalMinNodeCount": self.min_nodes,
                "totalMaxNodeCount": self.max_nodes,
                "locationPolicy": self.location_policy.value,
            }
        if self.surge is not None:
            props["upgradeSettings"] = {"maxSurge": self.surge[0], "maxUnavailable": self.surge[1]}
        if self.compact:
            props["placementPolicy"] = {"type": "COMPACT"}
        if self.capacity is Capacity.FLEX_START_QUEUED:
            props["queuedProvisioning"] = {"enabled": True}
        return props
