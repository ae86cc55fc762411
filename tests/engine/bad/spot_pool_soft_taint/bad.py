from pulumi_gcp import container, serviceaccount

cluster = container.Cluster("train", location="us-central1", initial_node_count=1)
account = serviceaccount.Account("nodes", account_id="train-nodes")
container.NodePool(
    "batch",
    cluster=cluster.id,
    location="us-central1",
    initial_node_count=0,
    autoscaling={"min_node_count": 0, "max_node_count": 4},
    node_config={
        "spot": True,
        "service_account": account.name.apply(lambda _: "nodes@acme.iam.gserviceaccount.com"),
        "taints": [
            {"key": "cloud.google.com/gke-spot", "value": "true", "effect": "PREFER_NO_SCHEDULE"}
        ],
    },
)
