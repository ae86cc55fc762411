"""Pulumi components for GKE capacity that can be taken away, without losing work."""

from spotproof.auto_provisioning import AutoProvisioningArgs
from spotproof.checkpoint_bucket import CheckpointBucket, CheckpointBucketArgs
from spotproof.cluster import GkeCluster, GkeClusterArgs, ReleaseChannel
from spotproof.maintenance import MaintenanceWindowArgs
from spotproof.network import Network, NetworkArgs
from spotproof.project_services import ProjectServices, ProjectServicesArgs
from spotproof.spot_gpu_pool import GpuDriverVersion, SpotGpuPool, SpotGpuPoolArgs
from spotproof.system_pool import SystemNodePool, SystemNodePoolArgs

__version__ = "0.1.0"

__all__ = [
    "AutoProvisioningArgs",
    "CheckpointBucket",
    "CheckpointBucketArgs",
    "GkeCluster",
    "GkeClusterArgs",
    "GpuDriverVersion",
    "MaintenanceWindowArgs",
    "Network",
    "NetworkArgs",
    "ProjectServices",
    "ProjectServicesArgs",
    "ReleaseChannel",
    "SpotGpuPool",
    "SpotGpuPoolArgs",
    "SystemNodePool",
    "SystemNodePoolArgs",
]
