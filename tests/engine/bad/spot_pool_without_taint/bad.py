from pulumi_gcp import container

cluster = container.Cluster("train", location="us-central1", initial_node_count=1)
container.NodePool(
    "l4",
    cluster=cluster.name,
    location="us-central1",
    node_locations=["us-central1-a"],
    autoscaling={"min_node_count": 0, "max_node_count": 4},
    node_config={
        "machine_type": "g2-standard-8",
        "spot": True,
        "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
    },
)
