"""Plain resources that the emulated cloud accepts, to be changed by a test."""

from typing import Any

CLUSTER = "gcp:container/cluster:Cluster"
NODE_POOL = "gcp:container/nodePool:NodePool"
BUCKET = "gcp:storage/bucket:Bucket"
NETWORK = "gcp:compute/network:Network"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
ROUTER = "gcp:compute/router:Router"
ROUTER_NAT = "gcp:compute/routerNat:RouterNat"
ACCOUNT = "gcp:serviceaccount/account:Account"
ACCOUNT_MEMBER = "gcp:serviceaccount/iAMMember:IAMMember"
PROJECT_MEMBER = "gcp:projects/iAMMember:IAMMember"
BUCKET_MEMBER = "gcp:storage/bucketIAMMember:BucketIAMMember"
SERVICE = "gcp:projects/service:Service"
L4 = {"type": "nvidia-l4", "count": 1}


def cluster(**changes: Any) -> dict[str, Any]:
    return _changed(
        {
            "name": "base",
            "location": "northamerica-northeast2",
            "network": "net",
            "subnetwork": "sub",
            "initialNodeCount": 1,
            "removeDefaultNodePool": True,
            "deletionProtection": False,
            "releaseChannel": {"channel": "REGULAR"},
        },
        changes,
    )


def pool(**changes: Any) -> dict[str, Any]:
    return _changed(
        {
            "name": "pool",
            "cluster": "base",
            "location": "northamerica-northeast2",
            "initialNodeCount": 0,
            "nodeLocations": ["northamerica-northeast2-a"],
            "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 4},
        },
        changes,
    )


def gpu_pool(name: str = "gpu", **node_config: Any) -> dict[str, Any]:
    config = {"machineType": "g2-standard-4", "guestAccelerators": [L4], **node_config}
    return pool(name=name, nodeConfig=config)


def bucket(**changes: Any) -> dict[str, Any]:
    inputs = {
        "name": "demo-bucket",
        "location": "northamerica-northeast2",
        "uniformBucketLevelAccess": True,
    }
    return _changed(inputs, changes)


def _changed(inputs: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**inputs, **changes}.items() if value is not None}
