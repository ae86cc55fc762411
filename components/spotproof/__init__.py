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
from spotproof_gke.capacity import Capacity

__version__ = "0.1.0"

__all__ = [
    "AutoProvisioningArgs",
    "AutopilotCluster",
    "AutopilotClusterArgs",
    "Capacity",
    "CheckpointBucket",
    "CheckpointBucketArgs",
    "CpuPool",
    "CpuPoolArgs",
    "FlexStartPool",
    "FlexStartPoolArgs",
    "GkeCluster",
    "GkeClusterArgs",
    "GpuDriverVersion",
    "GpuPool",
    "GpuPoolArgs",
    "LocationPolicy",
    "MaintenanceWindowArgs",
    "Network",
    "NetworkArgs",
    "NodeTaintArgs",
    "ProjectServices",
    "ProjectServicesArgs",
    "ReleaseChannel",
    "SpotGpuPool",
    "SpotGpuPoolArgs",
    "SystemNodePool",
    "SystemNodePoolArgs",
    "TaintEffect",
    "WorkQueue",
    "WorkQueueArgs",
    "WorkloadIdentity",
    "WorkloadIdentityArgs",
]
