from pulumi_gcp import container

container.Cluster(
    "train",
    location="europe-west4",
    initial_node_count=1,
    cluster_autoscaling={
        "enabled": True,
        "auto_provisioning_locations": ["europe-west1-b"],
        "resource_limits": [
            {"resource_type": "cpu", "maximum": 100},
            {"resource_type": "memory", "maximum": 1000},
        ],
    },
)
