from pulumi_gcp import container

cluster = container.Cluster("train", location="us-central1", initial_node_count=1)
container.NodePool(
    "batch",
    cluster=cluster.id,
    location="us-central1",
    initial_node_count=0,
    autoscaling={"total_min_node_count": 0, "total_max_node_count": 4, "location_policy": "ANY"},
    management={"auto_repair": False},
    node_config={
        "machine_type": "h4d-standard-192",
        "flex_start": True,
        "reservation_affinity": {"consume_reservation_type": "NO_RESERVATION"},
    },
)
