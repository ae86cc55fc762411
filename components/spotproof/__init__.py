"""Pulumi components for GKE capacity that can be taken away, without losing work."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spotproof.auto_provisioning import AutoProvisioningArgs
    from spotproof.autopilot import AutopilotCluster, AutopilotClusterArgs
    from spotproof.checkpoint_bucket import CheckpointBucket, CheckpointBucketArgs
    from spotproof.cluster import GkeCluster, GkeClusterArgs
    from spotproof.cluster_base import ReleaseChannel
    from spotproof.cpu_pool import CpuPool
    from spotproof.gpu_pool import FlexStartPool, GpuPool, SpotGpuPool
    from spotproof.maintenance import MaintenanceWindowArgs
    from spotproof.network import Network, NetworkArgs
    from spotproof.pool_args import (
        CpuPoolArgs,
        FlexStartPoolArgs,
        GpuDriverVersion,
        GpuPoolArgs,
        LocationPolicy,
        NodeTaintArgs,
        SpotGpuPoolArgs,
        TaintEffect,
    )
    from spotproof.project_services import ProjectServices, ProjectServicesArgs
    from spotproof.system_pool import SystemNodePool, SystemNodePoolArgs
    from spotproof.work_queue import WorkQueue, WorkQueueArgs
    from spotproof.workload_identity import WorkloadIdentity, WorkloadIdentityArgs
    from spotproof.workloads.capacity_class import (
        CapacityClass,
        CapacityClassArgs,
        CapacityPriorityArgs,
    )
    from spotproof.workloads.flex_start_job import FlexStartJob, FlexStartJobArgs
    from spotproof.workloads.kueue_queues import KueueQueues, KueueQueuesArgs, QueueFlavorArgs
    from spotproof.workloads.program_args import SecretKeyArgs
    from spotproof.workloads.queue_workers import QueueWorkers, QueueWorkersArgs, Scaler
    from spotproof.workloads.spot_job import SpotJob, SpotJobArgs
    from spotproof.workloads.system_placement_guard import (
        SystemPlacementGuard,
        SystemPlacementGuardArgs,
    )
    from spotproof_gke.admission import GuardAction
    from spotproof_gke.capacity import Capacity
    from spotproof_gke.workloads.compute_class import WhenUnsatisfiable
    from spotproof_gke.workloads.scheduling import (
        NodesFrom,
        flex_start_scheduling,
        gpu_scheduling,
        spot_scheduling,
    )

__version__ = "0.1.0"

__all__ = [
    "AutoProvisioningArgs",
    "AutopilotCluster",
    "AutopilotClusterArgs",
    "Capacity",
    "CapacityClass",
    "CapacityClassArgs",
    "CapacityPriorityArgs",
    "CheckpointBucket",
    "CheckpointBucketArgs",
    "CpuPool",
    "CpuPoolArgs",
    "FlexStartJob",
    "FlexStartJobArgs",
    "FlexStartPool",
    "FlexStartPoolArgs",
    "GkeCluster",
    "GkeClusterArgs",
    "GpuDriverVersion",
    "GpuPool",
    "GpuPoolArgs",
    "GuardAction",
    "KueueQueues",
    "KueueQueuesArgs",
    "LocationPolicy",
    "MaintenanceWindowArgs",
    "Network",
    "NetworkArgs",
    "NodeTaintArgs",
    "NodesFrom",
    "ProjectServices",
    "ProjectServicesArgs",
    "QueueFlavorArgs",
    "QueueWorkers",
    "QueueWorkersArgs",
    "ReleaseChannel",
    "Scaler",
    "SecretKeyArgs",
    "SpotGpuPool",
    "SpotGpuPoolArgs",
    "SpotJob",
    "SpotJobArgs",
    "SystemNodePool",
    "SystemNodePoolArgs",
    "SystemPlacementGuard",
    "SystemPlacementGuardArgs",
    "TaintEffect",
    "WhenUnsatisfiable",
    "WorkQueue",
    "WorkQueueArgs",
    "WorkloadIdentity",
    "WorkloadIdentityArgs",
    "flex_start_scheduling",
    "gpu_scheduling",
    "spot_scheduling",
]

# A provider's SDK is slow to load where its types are used, and a program with one pool needs few:
# what a name stands for is loaded when the name is first used.
_MODULES = {
    "AutoProvisioningArgs": "spotproof.auto_provisioning",
    "AutopilotCluster": "spotproof.autopilot",
    "AutopilotClusterArgs": "spotproof.autopilot",
    "Capacity": "spotproof_gke.capacity",
    "CapacityClass": "spotproof.workloads.capacity_class",
    "CapacityClassArgs": "spotproof.workloads.capacity_class",
    "CapacityPriorityArgs": "spotproof.workloads.capacity_class",
    "CheckpointBucket": "spotproof.checkpoint_bucket",
    "CheckpointBucketArgs": "spotproof.checkpoint_bucket",
    "CpuPool": "spotproof.cpu_pool",
    "CpuPoolArgs": "spotproof.pool_args",
    "FlexStartJob": "spotproof.workloads.flex_start_job",
    "FlexStartJobArgs": "spotproof.workloads.flex_start_job",
    "FlexStartPool": "spotproof.gpu_pool",
    "FlexStartPoolArgs": "spotproof.pool_args",
    "GkeCluster": "spotproof.cluster",
    "GkeClusterArgs": "spotproof.cluster",
    "GpuDriverVersion": "spotproof.pool_args",
    "GpuPool": "spotproof.gpu_pool",
    "GpuPoolArgs": "spotproof.pool_args",
    "GuardAction": "spotproof_gke.admission",
    "KueueQueues": "spotproof.workloads.kueue_queues",
    "KueueQueuesArgs": "spotproof.workloads.kueue_queues",
    "LocationPolicy": "spotproof.pool_args",
    "MaintenanceWindowArgs": "spotproof.maintenance",
    "Network": "spotproof.network",
    "NetworkArgs": "spotproof.network",
    "NodeTaintArgs": "spotproof.pool_args",
    "NodesFrom": "spotproof_gke.workloads.scheduling",
    "ProjectServices": "spotproof.project_services",
    "ProjectServicesArgs": "spotproof.project_services",
    "QueueFlavorArgs": "spotproof.workloads.kueue_queues",
    "QueueWorkers": "spotproof.workloads.queue_workers",
    "QueueWorkersArgs": "spotproof.workloads.queue_workers",
    "ReleaseChannel": "spotproof.cluster_base",
    "Scaler": "spotproof.workloads.queue_workers",
    "SecretKeyArgs": "spotproof.workloads.program_args",
    "SpotGpuPool": "spotproof.gpu_pool",
    "SpotGpuPoolArgs": "spotproof.pool_args",
    "SpotJob": "spotproof.workloads.spot_job",
    "SpotJobArgs": "spotproof.workloads.spot_job",
    "SystemNodePool": "spotproof.system_pool",
    "SystemNodePoolArgs": "spotproof.system_pool",
    "SystemPlacementGuard": "spotproof.workloads.system_placement_guard",
    "SystemPlacementGuardArgs": "spotproof.workloads.system_placement_guard",
    "TaintEffect": "spotproof.pool_args",
    "WhenUnsatisfiable": "spotproof_gke.workloads.compute_class",
    "WorkQueue": "spotproof.work_queue",
    "WorkQueueArgs": "spotproof.work_queue",
    "WorkloadIdentity": "spotproof.workload_identity",
    "WorkloadIdentityArgs": "spotproof.workload_identity",
    "flex_start_scheduling": "spotproof_gke.workloads.scheduling",
    "gpu_scheduling": "spotproof_gke.workloads.scheduling",
    "spot_scheduling": "spotproof_gke.workloads.scheduling",
}

_RENAMED: dict[str, tuple[str, str]] = {}
"""For each old name of a class its new one, and the version in which the old one is gone."""


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        return _renamed(name, *_RENAMED[name])
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def _renamed(old: str, new: str, gone_in: str) -> Any:
    from spotproof.deprecation import Renamed, warn_once

    warn_once(__name__, Renamed(old, new, gone_in))
    return getattr(import_module(__name__), new)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
