from pulumi_gcp import container

container.Cluster(
    "train",
    location="us-central1",
    node_pools=[
        {"name": "system", "node_count": 1},
        {
            "name": "batch",
            "initial_node_count": 1,
            "node_config": {
                "spot": True,
                "taints": [
                    {"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NO_EXECUTE"}
                ],
            },
        },
    ],
)
