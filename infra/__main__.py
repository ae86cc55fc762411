"""One environment: a cluster in which Spot and flex-start GPUs are safe to use."""

import sys

import pulumi

import settings as stack_settings
import spotproof
from cluster import declare_cluster
from outputs import export_outputs
from pools import declare_pools
from spotproof_gke.problems import ProblemsError
from work import declare_identities, declare_queues
from workloads import declare_workloads

try:
    settings = stack_settings.from_engine()
except ProblemsError as error:
    pulumi.log.error(str(error))
    sys.exit(32)


def after(*needed: pulumi.Resource) -> pulumi.ResourceOptions:
    """Guarded, and declared to come after `needed`."""
    return pulumi.ResourceOptions(protect=settings.deletion_protection, depends_on=list(needed))


network, cluster, services = declare_cluster(settings, after)
system, pools = declare_pools(settings, cluster, after)
checkpoints = spotproof.CheckpointBucket(
    "checkpoints",
    spotproof.CheckpointBucketArgs(
        **settings.sections["checkpoints"],
        **settings.trust,
        project=settings.project,
        cluster_name=settings.cluster_name,
        cluster_location=settings.region,
    ),
    # A workload's identity exists once the first cluster of the project does.
    after(cluster),
)
queues = declare_queues(settings, checkpoints, after(services, cluster))
identities = declare_identities(settings, checkpoints, queues, after(cluster))
every_pool = [pool for section in pools.values() for pool in section.values()]
declare_workloads(
    settings,
    cluster,
    checkpoints,
    queues,
    identities,
    after=[*([system] if system else []), *every_pool],
)
export_outputs(settings, network, cluster, pools, checkpoints, queues, identities)
