from pulumi_gcp import container

cluster = container.Cluster("train", location="us-central1", initial_node_count=1)
container.NodePool(
    "batch",
    cluster=cluster.id,
    location="us-central1",
    node_count=2,
    node_config={
        "spot": True,
        "taints": [{"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NO_SCHEDULE"}],
    },
)
