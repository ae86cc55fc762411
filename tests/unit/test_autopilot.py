"""An Autopilot cluster: nothing is sent that Autopilot decides itself."""

from typing import Any

import pytest

import spotproof
from tests.unit.declared import declare, only

CLUSTER: dict[str, Any] = {
    "project": "acme-ml",
    "region": "europe-west4",
    "network_id": "projects/acme-ml/global/networks/net",
    "subnetwork_id": "projects/acme-ml/regions/europe-west4/subnetworks/net",
}
CONFLICTING = (
    "removeDefaultNodePool",
    "initialNodeCount",
    "nodeConfig",
    "nodePools",
    "enableShieldedNodes",
    "networkPolicy",
    "datapathProvider",
    "nodePoolDefaults",
    "defaultMaxPodsPerNode",
)


def _props(component: Any, **more: Any) -> dict[str, Any]:
    args = {**CLUSTER, **more}
    declared = declare(lambda: component("cluster", args))
    return only(declared, "gcp:container/cluster:Cluster").props


def test_nothing_that_conflicts_is_sent() -> None:
    props = _props(spotproof.AutopilotCluster)
    assert props["enableAutopilot"] is True
    assert not set(CONFLICTING) & set(props)
    assert set(props["clusterAutoscaling"]) == {"autoProvisioningDefaults"}


def test_a_standard_cluster_never_speaks_of_autopilot() -> None:
    # The provider takes even a stated false for a conflict with removeDefaultNodePool.
    assert "enableAutopilot" not in _props(spotproof.GkeCluster)


def test_both_modes_are_private_protected_and_reached_in_the_same_way() -> None:
    standard, autopilot = _props(spotproof.GkeCluster), _props(spotproof.AutopilotCluster)
    for key in (
        "privateClusterConfig",
        "controlPlaneEndpointsConfig",
        "deletionProtection",
        "releaseChannel",
        "maintenancePolicy",
        "ipAllocationPolicy",
    ):
        assert standard[key] == autopilot[key], key


def test_nodes_run_as_an_account_of_their_own() -> None:
    defaults = _props(spotproof.AutopilotCluster)["clusterAutoscaling"]["autoProvisioningDefaults"]
    assert defaults["serviceAccount"].startswith("cluster-nodes@")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"auto_provisioning": {}}, "Autopilot makes nodes for what pods ask for"),
        ({"enable_autopilot": True}, "this cluster is Autopilot"),
        ({"region": "europe-west4-a"}, "a zone is not a region"),
    ],
)
def test_refusals(more: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match="1 problem\n") as refused:
        _props(spotproof.AutopilotCluster, **more)
    assert words in str(refused.value)
