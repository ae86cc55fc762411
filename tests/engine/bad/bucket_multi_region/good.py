from pulumi_gcp import container, storage

cluster = container.Cluster("train", location="us-central1", initial_node_count=1)
storage.Bucket("ckpt", location="us-central1", labels={"spotproof-cluster": cluster.name})
