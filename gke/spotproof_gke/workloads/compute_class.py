"""A compute class: the ways in which GKE may obtain a node, one after the other.

Sources, read on 2026-11-29: docs.cloud.google.com/kubernetes-engine pages
reference/crds/computeclass and concepts/about-custom-compute-classes; compute class samples of
GoogleCloudPlatform/accelerated-platforms; google/skills (gke-compute-classes).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from spotproof_gke.capacity import Capacity, is_flexible
from spotproof_gke.versions import FEATURES, parse

API_VERSION = "cloud.google.com/v1"


class WhenUnsatisfiable(str, Enum):
    """What happens when no priority of a class can be had."""

    DO_NOT_SCALE_UP = "DoNotScaleUp"
    """The pod waits until one can be had."""

    SCALE_UP_ANYWAY = "ScaleUpAnyway"
    """GKE makes a node that none of them describes."""


@dataclass(frozen=True)
class Priority:
    """One way to obtain a node.

    Attributes:
        capacity: How it is obtained.
        machine_type: Machine type; "" when a family is named.
        machine_family: Machine family, for nodes without GPUs; "" when a type is named.
        accelerator, gpus: GPUs of one node, None and 0 without.
        zones: Zones to try; empty leaves it to GKE.
        node_lifetime_seconds: How long a node lives; None when GKE's own limit holds.
        reservation: Name or path of the reservation, None but for that capacity.
    """

    capacity: Capacity
    machine_type: str = ""
    machine_family: str = ""
    accelerator: str | None = None
    gpus: int = 0
    zones: Sequence[str] = ()
    node_lifetime_seconds: int | None = None
    reservation: str | None = None


def compute_class(
    name: str,
    priorities: Sequence[Priority],
    *,
    when_unsatisfiable: WhenUnsatisfiable = WhenUnsatisfiable.DO_NOT_SCALE_UP,
    auto_create_pools: bool = True,
    consolidation_delay_minutes: int | None = None,
    node_service_account: Any = None,
    gpu_driver_version: str = "default",
) -> dict[str, Any]:
    """The manifest of a class.

    Args:
        name: Name of the class.
        priorities: The ways, the preferred one first.
        when_unsatisfiable: What happens when none can be had.
        auto_create_pools: Whether GKE makes the pools.
        consolidation_delay_minutes: How long an idle node is kept; None for GKE's own default.
        node_service_account: Email of the account that nodes run as; None for GKE's default.
        gpu_driver_version: `default` or `latest`.
    """
    spec: dict[str, Any] = {
        "priorities": [_priority(one, gpu_driver_version) for one in priorities],
        "nodePoolAutoCreation": {"enabled": auto_create_pools},
        "whenUnsatisfiable": when_unsatisfiable.value,
        # To move running work to a better priority would interrupt it.
        "activeMigration": {"optimizeRulePriority": False},
    }
    if consolidation_delay_minutes is not None:
        spec["autoscalingPolicy"] = {"consolidationDelayMinutes": consolidation_delay_minutes}
    if node_service_account is not None:
        spec["nodePoolConfig"] = {"serviceAccount": node_service_account}
    return {
        "apiVersion": API_VERSION,
        "kind": "ComputeClass",
        "metadata": {"name": name},
        "spec": spec,
    }


def _priority(one: Priority, driver: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if one.machine_type:
        found["machineType"] = one.machine_type
    if one.machine_family:
        found["machineFamily"] = one.machine_family
    if one.accelerator:
        found["gpu"] = {"type": one.accelerator, "count": one.gpus, "driverVersion": driver}
    if one.capacity is Capacity.SPOT:
        found["spot"] = True
    if is_flexible(one.capacity):
        found["flexStart"] = {"enabled": True}
    if one.reservation is not None:
        found["reservations"] = {
            "affinity": "Specific",
            "specific": [_reservation(one.reservation)],
        }
    if one.node_lifetime_seconds is not None:
        found["maxRunDurationSeconds"] = one.node_lifetime_seconds
    if one.zones:
        found["location"] = {"zones": list(one.zones)}
    return found


def _reservation(path: str) -> dict[str, Any]:
    """`NAME`, or `projects/PROJECT/reservations/NAME/reservationBlocks/BLOCK` and parts of it."""
    parts = path.split("/")
    named = dict(zip(parts[::2], parts[1::2], strict=False)) if len(parts) > 3 else {}
    found: dict[str, Any] = {"name": named.get("reservations", parts[0])}
    if not named and len(parts) == 3:
        found["reservationBlock"] = {"name": parts[2]}
    if "projects" in named:
        found["project"] = named["projects"]
    if "reservationBlocks" in named:
        found["reservationBlock"] = {"name": named["reservationBlocks"]}
    return found


_AUTO_PROVISIONED = {
    "g4-": "auto-provisioned-g4",
    "a4x-": "auto-provisioned-a4x",
    "a3-ultragpu-": "auto-provisioned-a3-ultra",
    "g2-": "auto-provisioned-g2",
}


def needed_features(priorities: Sequence[Priority], auto_create_pools: bool = True) -> list[str]:
    """What of GKE a class uses that has a least version, in the order of those versions."""
    found = {"compute-class"}
    if auto_create_pools:
        found.add("compute-class-without-auto-provisioning")
    for one in priorities:
        if is_flexible(one.capacity):
            found.add("flex-start")
        for prefix, feature in _AUTO_PROVISIONED.items():
            if auto_create_pools and one.machine_type.startswith(prefix):
                found.add(feature)
    return sorted(found, key=lambda name: (parse(FEATURES[name].version), name))
