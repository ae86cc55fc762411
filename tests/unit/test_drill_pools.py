"""What a drill takes from the emulated cloud: pools, limits, and where the work may run."""

import pytest

from sandbox.cluster.nodes import shape_of
from sandbox.drill.pools import (
    CLUSTER,
    NODE_POOL,
    UnfitClusterError,
    cluster_of,
    flex_start_place,
    spot_place,
)
from sandbox.drill.workloads import reference_workloads
from spotproof_gke.workloads.scheduling import NodesFrom

TAINTS = [{"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NO_SCHEDULE"}]
SPOT = {
    "name": "l4",
    "nodeConfig": {
        "machineType": "g2-standard-8",
        "spot": True,
        "effectiveTaints": TAINTS,
        "guestAccelerators": [
            {
                "type": "nvidia-l4",
                "count": 1,
                "gpuDriverInstallationConfig": {"gpuDriverVersion": "LATEST"},
            }
        ],
        "kubeletConfig": {"shutdownGracePeriodSeconds": 120},
    },
}
FLEX = {
    "name": "a100",
    "nodeConfig": {"machineType": "a2-highgpu-1g", "flexStart": True, "maxRunDuration": "86400s"},
}
QUEUED = {**FLEX, "name": "gang", "queuedProvisioning": {"enabled": True}}
LIMITS = {
    "clusterAutoscaling": {
        "enabled": True,
        "resourceLimits": [
            {"resourceType": "cpu", "maximum": 128},
            {"resourceType": "nvidia-l4", "maximum": 8},
        ],
    }
}


def cloud(*pools, **cluster):
    about = {"name": "main", "nodeLocations": ["us-central1-a", "us-central1-b"], **cluster}
    return [
        {"type": CLUSTER, "id": "c", "properties": about},
        *(
            {"type": NODE_POOL, "id": pool["name"], "properties": {"cluster": "main", **pool}}
            for pool in pools
        ),
        {"type": NODE_POOL, "id": "other", "properties": {"cluster": "other", "name": "other"}},
    ]


def test_pools_zones_and_limits_are_those_of_the_cluster():
    name, cluster = cluster_of(cloud(SPOT, FLEX, **LIMITS))

    assert name == "main"
    assert cluster.zones == ("us-central1-a", "us-central1-b")
    assert [pool["name"] for pool in cluster.pools] == ["l4", "a100"]
    assert cluster.limits == {"cpu": 128, "nvidia-l4": 8}


def test_nodes_have_the_taints_that_the_cloud_computed_and_no_others():
    shape = shape_of(SPOT, beside_pools_without_gpus=True)

    assert [taint["key"] for taint in shape.taints] == ["cloud.google.com/gke-spot"]


@pytest.mark.parametrize(
    ("stated", "label"),
    [
        ("DEFAULT", "default"),
        ("LATEST", "latest"),
        ("INSTALLATION_DISABLED", "autoinstall-disabled"),
        (None, "default"),
    ],
)
def test_nodes_with_gpus_carry_the_label_of_their_driver(stated, label):
    gpu = {"type": "nvidia-l4", "count": 1}
    if stated:
        gpu["gpuDriverInstallationConfig"] = {"gpuDriverVersion": stated}
    pool = {
        "name": "l4",
        "nodeConfig": {"machineType": "g2-standard-8", "guestAccelerators": [gpu]},
    }

    shape = shape_of(pool, beside_pools_without_gpus=True)

    assert shape.labels["cloud.google.com/gke-gpu-driver-version"] == label


def test_nodes_without_gpus_carry_no_driver():
    pool = {"name": "cpu", "nodeConfig": {"machineType": "e2-standard-4"}}

    shape = shape_of(pool, beside_pools_without_gpus=True)

    assert "cloud.google.com/gke-gpu-driver-version" not in shape.labels


def test_work_goes_to_the_pools_and_has_their_grace_and_lifetime():
    _, cluster = cluster_of(cloud(QUEUED, SPOT, FLEX, **LIMITS))

    spot, flexible = spot_place(cluster), flex_start_place(cluster)

    assert (spot.accelerator, spot.nodes) == ("nvidia-l4", NodesFrom.POOL)
    assert spot.budget_seconds == 105
    assert (flexible.accelerator, flexible.nodes) == ("nvidia-tesla-a100", NodesFrom.POOL)
    assert flexible.lifetime_seconds == 86400


def test_without_a_pool_work_goes_to_auto_provisioned_nodes():
    _, cluster = cluster_of(cloud(QUEUED, SPOT, **LIMITS))

    flexible = flex_start_place(cluster)
    job = reference_workloads(cluster).flex_start_job.manifest

    assert flexible.nodes is NodesFrom.AUTO_PROVISIONING
    assert flexible.accelerator == "nvidia-l4"
    selector = job["spec"]["template"]["spec"]["nodeSelector"]
    assert selector["cloud.google.com/gke-gpu-driver-version"] == "default"


@pytest.mark.parametrize(
    ("things", "words"),
    [
        ([], "has 0"),
        ([*cloud(), *cloud()], "has 2"),
        (cloud(enableAutopilot=True), "Autopilot"),
    ],
    ids=["no cluster", "two clusters", "Autopilot"],
)
def test_a_stack_without_one_standard_cluster_is_refused(things, words):
    with pytest.raises(UnfitClusterError, match=words):
        cluster_of(things)


@pytest.mark.parametrize(
    ("pools", "what"), [([], "Spot"), ([SPOT], "flex-start")], ids=["no Spot", "no flex-start"]
)
def test_a_cluster_that_lacks_a_capacity_is_refused(pools, what):
    _, cluster = cluster_of(cloud(*pools))

    with pytest.raises(UnfitClusterError, match=f"can get no {what} GPUs"):
        reference_workloads(cluster)
