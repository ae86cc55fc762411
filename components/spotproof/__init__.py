"""Pulumi components for GKE capacity that can be taken away, without losing work."""

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
