from pulumi_gcp import container

cluster = container.Cluster("train", location="us-central1-a", initial_node_count=1)
container.NodePool(
    "old",
    cluster=cluster.name,
    location="us-central1-a",
    node_count=1,
    node_config={
        "preemptible": True,
        "taints": [
            {"key": "cloud.google.com/gke-preemptible", "value": "true", "effect": "NO_SCHEDULE"}
        ],
    },
)
