"""A Spot pool and a bucket that somebody has made by hand, taken over by components.

`adopt.json` says which existing thing becomes the child of which component;
docs/how-to/adopt-existing.md says how.
"""

import pulumi

import spotproof

PROJECT = "somebodys-project"
REGION = "northamerica-northeast2"

# Protected: a preview that would replace or delete what exists fails.
keep = pulumi.ResourceOptions(protect=True)

pool = spotproof.SpotGpuPool(
    "team-l4",
    {
        "project": PROJECT,
        "cluster": "base",
        "cluster_location": REGION,
        "node_pool_name": "l4-spot",
        "node_service_account": f"nodes-account@{PROJECT}.iam.gserviceaccount.com",
        "machine_type": "g2-standard-8",
        "zones": [f"{REGION}-a"],
        "max_nodes": 4,
    },
    keep,
)
checkpoints = spotproof.CheckpointBucket(
    "team-checkpoints",
    {
        "project": PROJECT,
        "cluster_name": "base",
        "cluster_location": REGION,
        "bucket_name": "somebodys-checkpoints",
    },
    keep,
)

pulumi.export("nodeTaints", pool.node_taints)
pulumi.export("checkpoints", checkpoints.url)
