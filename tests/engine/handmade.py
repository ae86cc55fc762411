"""A cluster, pool and bucket as somebody else has made them in the emulated cloud."""

from pathlib import Path
from typing import Any

from tests.cloud import plain
from tests.cloud.harness import Emulated

PROJECT = "somebodys-project"
REGION = "northamerica-northeast2"
NODES = f"nodes-account@{PROJECT}.iam.gserviceaccount.com"


def make_network(folder: Path) -> Emulated:
    """A network with ranges of its owner's names, in the cloud of this sandbox folder."""
    cloud = Emulated(folder, project=PROJECT, region=REGION)
    cloud.create(plain.NETWORK, "net", {"name": "net", "autoCreateSubnetworks": False})
    cloud.create(
        plain.SUBNETWORK,
        "sub",
        {
            "name": "sub",
            "network": "net",
            "ipCidrRange": "10.0.0.0/20",
            "secondaryIpRanges": [
                {"rangeName": "their-pods", "ipCidrRange": "10.4.0.0/14"},
                {"rangeName": "their-services", "ipCidrRange": "10.8.0.0/20"},
            ],
        },
    )
    return cloud


def make_cluster(folder: Path) -> Emulated:
    """A network, a cluster `base`, its system pool and the account of its nodes."""
    cloud = make_network(folder)
    cloud.create(plain.ACCOUNT, "nodes", {"accountId": "nodes-account"})
    workload_pool = {"workloadPool": f"{PROJECT}.svc.id.goog"}
    cloud.create(plain.CLUSTER, "base", plain.cluster(workloadIdentityConfig=workload_pool))
    cloud.create(plain.NODE_POOL, "system", plain.pool(name="system"))
    return cloud


def spot_pool(**node_config: Any) -> dict[str, Any]:
    """A Spot pool that a component can take over, but for the changes."""
    config: dict[str, Any] = {
        "machineType": "g2-standard-8",
        "spot": True,
        "serviceAccount": NODES,
        "oauthScopes": ["https://www.googleapis.com/auth/cloud-platform"],
        "diskSizeGb": 200,
        "shieldedInstanceConfig": {"enableSecureBoot": True, "enableIntegrityMonitoring": True},
        "guestAccelerators": [
            {**plain.L4, "gpuDriverInstallationConfig": {"gpuDriverVersion": "DEFAULT"}}
        ],
        "taints": [
            {"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NO_SCHEDULE"},
            {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"},
        ],
        **node_config,
    }
    config = {name: value for name, value in config.items() if value is not None}
    return plain.pool(name="l4-spot", nodeConfig=config)


def bucket(**changes: Any) -> dict[str, Any]:
    """A bucket that a component can take over, but for the changes."""
    given = {"name": "somebodys-checkpoints", "hierarchicalNamespace": {"enabled": True}}
    return plain.bucket(**{**given, "labels": {"team": "vision"}, **changes})
