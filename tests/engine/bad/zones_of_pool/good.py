from pulumi_gcp import container

cluster = container.Cluster("train", location="us-central1", initial_node_count=1)
container.NodePool(
    "batch",
    cluster=cluster.id,
    location="us-central1",
    node_locations=["us-central1-a", "us-central1-b"],
    node_count=1,
)
