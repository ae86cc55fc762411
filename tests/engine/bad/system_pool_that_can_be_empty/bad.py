from pulumi_gcp import container, serviceaccount

account = serviceaccount.Account("nodes", account_id="train-nodes")
cluster = container.Cluster(
    "train", location="us-central1", remove_default_node_pool=True, initial_node_count=1
)
container.NodePool(
    "system",
    cluster=cluster.id,
    location="us-central1",
    initial_node_count=1,
    autoscaling={"min_node_count": 0, "max_node_count": 3},
    node_config={"machine_type": "e2-standard-4", "service_account": account.email},
)
