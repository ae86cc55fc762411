import pulumi
import pulumi_kubernetes as k8s
from pulumi_gcp import container, storage

container.Cluster("train", location="us-central1", initial_node_count=1)
storage.Bucket("data", name="acme-train-data", location="US-WEST1")
rendered = k8s.Provider("rendered", render_yaml_to_directory="manifests")
k8s.apps.v1.StatefulSet(
    "trainer",
    spec={
        "service_name": "trainer",
        "selector": {"match_labels": {"app": "trainer"}},
        "template": {
            "metadata": {"labels": {"app": "trainer"}},
            "spec": {
                "containers": [{"name": "main", "image": "trainer"}],
                "volumes": [
                    {
                        "name": "data",
                        "csi": {
                            "driver": "gcsfuse.csi.storage.gke.io",
                            "volume_attributes": {"bucketName": "acme-train-data"},
                        },
                    }
                ],
            },
        },
    },
    opts=pulumi.ResourceOptions(provider=rendered),
)
