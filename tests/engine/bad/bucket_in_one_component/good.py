import pulumi
from pulumi_gcp import container, storage


class Platform(pulumi.ComponentResource):
    def __init__(self, name: str) -> None:
        super().__init__("acme:index:Platform", name)
        child = pulumi.ResourceOptions(parent=self)
        container.Cluster(f"{name}-gke", location="europe-west4", initial_node_count=1, opts=child)
        storage.Bucket(f"{name}-models", location="EUROPE-WEST4", opts=child)
        self.register_outputs({})


Platform("ml")
