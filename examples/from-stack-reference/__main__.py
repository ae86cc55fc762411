"""Spot GPUs, a queue and access to checkpoints for a cluster that another stack has made.

That stack exports clusterName, clusterLocation, nodeServiceAccount and checkpointBucket, as the
program of this repository does.
"""

import pulumi

import spotproof

config = pulumi.Config()
project = pulumi.Config("gcp").require("project")
base_stack = config.require("baseStack")

# What is passed on as it is may stay an Output.
base = pulumi.StackReference(base_stack)
bucket = base.require_output("checkpointBucket").apply(lambda url: url.removeprefix("gs://"))

# The location decides zones, so it must be known while the program runs: read the same outputs
# at once. Secret ones come in the clear here.
read = pulumi.runtime.invoke("pulumi:pulumi:readStackOutputs", {"name": base_stack})
known = read.value["outputs"]

pool = spotproof.SpotGpuPool(
    "team-l4",
    {
        "project": project,
        "cluster": base.require_output("clusterName"),
        "cluster_location": known.get("clusterLocation"),
        "node_service_account": base.require_output("nodeServiceAccount"),
        "machine_type": "g2-standard-8",
        "max_nodes": 8,
    },
)
queue = spotproof.WorkQueue(
    "team-work", {"project": project, "region": known.get("clusterLocation")}
)
identity = spotproof.WorkloadIdentity(
    "team-trainer",
    {
        "project": project,
        "service_account": "team/trainer",
        "buckets": {"checkpoints": bucket},
        "works_on": {"work": queue.subscription_id},
    },
)

pulumi.export("nodePool", pool.node_pool_name)
pulumi.export("trainer", identity.member)
