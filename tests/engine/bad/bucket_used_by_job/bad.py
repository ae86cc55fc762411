import pulumi
import pulumi_kubernetes as k8s
from pulumi_gcp import container, storage

container.Cluster("train", location="us-central1", initial_node_count=1)
bucket = storage.Bucket("runs", location="EU")
rendered = k8s.Provider("rendered", render_yaml_to_directory="manifests")
k8s.batch.v1.Job(
    "trainer",
    spec={
        "template": {
            "spec": {
                "restart_policy": "Never",
                "containers": [{"name": "main", "image": "trainer", "args": ["--out", bucket.url]}],
            }
        }
    },
    opts=pulumi.ResourceOptions(provider=rendered),
)
