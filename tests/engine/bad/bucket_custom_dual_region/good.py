from pulumi_gcp import container, storage

container.Cluster("train", location="us-east1-b", initial_node_count=1)
storage.Bucket(
    "ckpt",
    location="US-EAST1",
    labels={"spotproof-role": "checkpoints"},
)
