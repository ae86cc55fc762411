"""One environment: a cluster in which Spot and flex-start GPUs are safe to use."""

import sys
from typing import Any

import pulumi

import settings as stack_settings
import spotproof
from outputs import export_outputs
from spotproof_gke.problems import ProblemsError

try:
    settings = stack_settings.from_engine()
except ProblemsError as error:
    pulumi.log.error(str(error))
    sys.exit(32)


def after(*needed: pulumi.Resource) -> pulumi.ResourceOptions:
    """Guarded, and declared to come after `needed`."""
    return pulumi.ResourceOptions(protect=settings.deletion_protection, depends_on=list(needed))


services = spotproof.ProjectServices("services", {"project": settings.project})
network = spotproof.Network(
    "network",
    spotproof.NetworkArgs(
        **settings.network,
        project=settings.project,
        region=settings.region,
        network_name=settings.cluster_name,
    ),
    after(services),
)
cluster = spotproof.GkeCluster(
    "cluster",
    spotproof.GkeClusterArgs(
        **settings.cluster,
        project=settings.project,
        network_id=network.network_id,
        subnetwork_id=network.subnetwork_id,
        pods_range_name=network.pods_range_name,
        services_range_name=network.services_range_name,
    ),
    # Nodes need the NAT from the start.
    after(services, network),
)
nodes: dict[str, Any] = {
    "project": settings.project,
    "cluster": cluster.cluster_id,
    "cluster_location": settings.region,
    "node_service_account": cluster.node_service_account,
}
system_pool = spotproof.SystemNodePool(
    "system", spotproof.SystemNodePoolArgs(**settings.system_pool, **nodes), after(cluster)
)
spot_pools = {
    key: spotproof.SpotGpuPool(
        f"spot-{key}",
        spotproof.SpotGpuPoolArgs(**args, **nodes),
        # System pods must have a home before nodes come that are not for them.
        after(system_pool),
    )
    for key, args in settings.spot_pools.items()
}
checkpoints = spotproof.CheckpointBucket(
    "checkpoints",
    spotproof.CheckpointBucketArgs(
        **settings.checkpoints,
        project=settings.project,
        cluster_name=settings.cluster_name,
        cluster_location=settings.region,
    ),
    # A workload's identity exists once the first cluster of the project does.
    after(cluster),
)
export_outputs(settings, network, cluster, spot_pools, checkpoints)
