from pulumi_gcp import container

cluster = container.Cluster(
    "train",
    name="train",
    location="us-central1",
    remove_default_node_pool=True,
    initial_node_count=1,
)
container.NodePool(
    "everything",
    cluster="train",
    location="us-central1",
    node_count=1,
    node_config={"machine_type": "e2-standard-8"},
)
