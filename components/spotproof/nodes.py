"""What all our nodes have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
from pulumi_gcp import container

from spotproof_gke.capacity import Capacity, Taint, is_flexible

CLOUD_PLATFORM = "https://www.googleapis.com/auth/cloud-platform"
"""The one scope that we give: what a node may do is decided by IAM alone."""

SIZE_IS_THE_AUTOSCALERS = ("initialNodeCount",)
"""The size at birth: a later change of it would replace the pool, so it is ignored."""

GPU_POOL_TIMEOUT = "2h"
"""How long a GPU pool may take; the provider's own hour is too short for scarce ones."""


@dataclass(frozen=True)
class Gpu:
    """GPUs of one node: accelerator as GKE names it, count, and driver version to install."""

    accelerator: str
    count: int
    driver_version: str


def node_config(
    *,
    machine_type: str,
    disk_type: str,
    disk_size_gb: int,
    service_account: pulumi.Input[str],
    capacity: Capacity = Capacity.ON_DEMAND,
    max_node_lifetime_seconds: int | None = None,
    reservation_affinity: container.NodePoolNodeConfigReservationAffinityArgs | None = None,
    kubelet_config: container.NodePoolNodeConfigKubeletConfigArgs | None = None,
    taints: Sequence[Taint] = (),
    labels: Mapping[str, str] | None = None,
    resource_labels: Mapping[str, str] | None = None,
    gpu: Gpu | None = None,
) -> container.NodePoolNodeConfigArgs:
    """The node configuration of a pool: Container-Optimized OS, secure boot, Workload Identity."""
    return container.NodePoolNodeConfigArgs(
        machine_type=machine_type,
        disk_type=disk_type,
        disk_size_gb=disk_size_gb,
        image_type="COS_CONTAINERD",
        # What a node is not is left out: a stated false is a difference to some versions of GKE.
        spot=True if capacity is Capacity.SPOT else None,
        flex_start=True if is_flexible(capacity) else None,
        max_run_duration=f"{max_node_lifetime_seconds}s" if max_node_lifetime_seconds else None,
        reservation_affinity=reservation_affinity,
        kubelet_config=kubelet_config,
        service_account=service_account,
        oauth_scopes=[CLOUD_PLATFORM],
        # Without this key a pool with metadata is replaced on every run.
        metadata={"disable-legacy-endpoints": "true"},
        labels=dict(labels) if labels else None,
        resource_labels=dict(resource_labels) if resource_labels else None,
        taints=[container.NodePoolNodeConfigTaintArgs(**taint.provider_taint()) for taint in taints]
        or None,
        shielded_instance_config=container.NodePoolNodeConfigShieldedInstanceConfigArgs(
            enable_secure_boot=True, enable_integrity_monitoring=True
        ),
        workload_metadata_config=container.NodePoolNodeConfigWorkloadMetadataConfigArgs(
            mode="GKE_METADATA"
        ),
        gvnic=container.NodePoolNodeConfigGvnicArgs(enabled=True),
        guest_accelerators=[_guest_accelerator(gpu)] if gpu else None,
    )


def _guest_accelerator(gpu: Gpu) -> container.NodePoolNodeConfigGuestAcceleratorArgs:
    driver = container.NodePoolNodeConfigGuestAcceleratorGpuDriverInstallationConfigArgs(
        gpu_driver_version=gpu.driver_version
    )
    return container.NodePoolNodeConfigGuestAcceleratorArgs(
        type=gpu.accelerator, count=gpu.count, gpu_driver_installation_config=driver
    )
