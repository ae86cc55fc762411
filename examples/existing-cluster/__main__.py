"""Spot GPUs and a checkpoint bucket for a cluster that this program does not own.

The cluster is given by project, location and name; nothing of it is read or changed.
"""

import pulumi

import spotproof

config = pulumi.Config()
project = pulumi.Config("gcp").require("project")
cluster_name = config.require("clusterName")
cluster_location = config.require("clusterLocation")

pool = spotproof.SpotGpuPool(
    "team-l4",
    {
        "project": project,
        "cluster": cluster_name,
        "cluster_location": cluster_location,
        "node_service_account": config.require("nodeServiceAccount"),
        "machine_type": "g2-standard-8",
        "max_nodes": 8,
    },
)
checkpoints = spotproof.CheckpointBucket(
    "team-checkpoints",
    {
        "project": project,
        "cluster_name": cluster_name,
        "cluster_location": cluster_location,
        "bucket_name": f"{project}-team-checkpoints",
        "workloads": ["team/trainer"],
    },
)

pulumi.export("nodePool", pool.node_pool_name)
pulumi.export("nodeSelector", pool.node_selector)
pulumi.export("tolerations", pool.tolerations)
pulumi.export("checkpoints", checkpoints.url)
