"""What the examples of changes refer to, made in an emulated cloud."""

from typing import Any

from tests.cloud.harness import Emulated
from tests.unit.change_examples import ELSEWHERE, PROJECT, REGION, REGIONS

ACCOUNT = "gcp:serviceaccount/account:Account"
NETWORK = "gcp:compute/network:Network"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
CLUSTER = "gcp:container/cluster:Cluster"
BUCKET = "gcp:storage/bucket:Bucket"
TOPIC = "gcp:pubsub/topic:Topic"
SUBSCRIPTION = "gcp:pubsub/subscription:Subscription"
SUBNETWORKS = {"sub": "net", "sub-3": "net", "sub-2": "net-2"}


def furnish(cloud: Emulated) -> None:
    """What the examples refer to: networks, clusters, buckets and queues in both projects."""
    for project in (PROJECT, ELSEWHERE):
        for name in ("fresh-nodes", "pool-nodes"):
            cloud.create(ACCOUNT, name, {"accountId": name, "project": project})
        for name in ("net", "net-2"):
            inputs = {"name": name, "project": project, "autoCreateSubnetworks": False}
            cloud.create(NETWORK, name, inputs)
        for number, region in enumerate(REGIONS):
            for index, (name, network) in enumerate(SUBNETWORKS.items()):
                cloud.create(
                    SUBNETWORK,
                    name,
                    _subnetwork(project, region, name, network, number * 3 + index),
                )
            for name in ("train", "other"):
                cluster = {
                    "name": name,
                    "project": project,
                    "location": region,
                    "network": "net",
                    "subnetwork": "sub",
                    "initialNodeCount": 1,
                    "removeDefaultNodePool": True,
                    "releaseChannel": {"channel": "RAPID"},
                    "workloadIdentityConfig": {"workloadPool": f"{project}.svc.id.goog"},
                }
                cloud.create(CLUSTER, name, cluster)
        for name in ("data", "more"):
            bucket = {"name": f"{project}-{name}", "location": REGION.upper(), "project": project}
            cloud.create(BUCKET, name, bucket)
        for name in ("jobs", "more"):
            topic = cloud.create(TOPIC, name, {"name": name, "project": project})
            subscription = {"name": name, "project": project, "topic": topic.id}
            cloud.create(SUBSCRIPTION, name, subscription)


def _subnetwork(project: str, region: str, name: str, network: str, number: int) -> dict[str, Any]:
    ranges = [
        (kind, f"10.{64 + number * 16 + offset}.0.0/16")
        for offset, kind in enumerate(("pods", "services", "pods-2", "services-2"), start=1)
    ]
    return {
        "name": name,
        "project": project,
        "region": region,
        "network": network,
        "ipCidrRange": f"10.{64 + number * 16}.0.0/20",
        "secondaryIpRanges": [{"rangeName": kind, "ipCidrRange": cidr} for kind, cidr in ranges],
    }
