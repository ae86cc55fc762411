"""What a change of one property does: nothing, an update, a replacement, or the same every run."""

from typing import Any

import pytest

from tests.cloud import plain
from tests.cloud.harness import PROJECT, REGION, Emulated
from tests.cloud.plain import BUCKET, CLUSTER, NODE_POOL

PLACE = f"projects/{PROJECT}/locations/{REGION}"
LIMITS = [
    {"resourceType": "cpu", "maximum": 64},
    {"resourceType": "memory", "maximum": 256},
]
REPLACING = {
    "spot": ({}, {"spot": True}),
    "flex-start": ({"flexStart": False}, {"flexStart": True}),
    "run duration": ({"flexStart": True, "maxRunDuration": "86400s"}, {"flexStart": True}),
    "driver": (
        {"guestAccelerators": [plain.L4], "machineType": "g2-standard-4"},
        {
            "guestAccelerators": [
                {**plain.L4, "gpuDriverInstallationConfig": {"gpuDriverVersion": "LATEST"}}
            ],
            "machineType": "g2-standard-4",
        },
    ),
    "scopes": ({"oauthScopes": ["cloud-platform"]}, {"oauthScopes": ["logging-write"]}),
    "metadata": ({}, {"metadata": {"disable-legacy-endpoints": "true", "k": "v"}}),
    "secure boot": ({}, {"shieldedInstanceConfig": {"enableSecureBoot": True}}),
    "reservation": ({}, {"reservationAffinity": {"consumeReservationType": "NO_RESERVATION"}}),
}
IN_PLACE = {
    "labels": ({"labels": {"a": "1"}}, {"labels": {"a": "2"}}),
    "taints": ({}, {"taints": [{"key": "a", "value": "b", "effect": "NO_SCHEDULE"}]}),
    "tags": ({"tags": ["a"]}, {"tags": ["a", "b"]}),
    "machine type": ({"machineType": "e2-standard-2"}, {"machineType": "e2-standard-4"}),
    "disk": ({"diskSizeGb": 100}, {"diskSizeGb": 200, "diskType": "pd-ssd"}),
    "workload metadata": ({}, {"workloadMetadataConfig": {"mode": "GKE_METADATA"}}),
    "gvnic": ({}, {"gvnic": {"enabled": True}}),
}


@pytest.mark.parametrize("name", REPLACING)
def test_a_new_pool_takes_the_place_of_the_old(cloud: Emulated, name: str) -> None:
    before, after = REPLACING[name]
    cloud.create(CLUSTER, "base", plain.cluster())
    recorded = cloud.create(NODE_POOL, "pool", plain.pool(nodeConfig=before))
    planned, changed = cloud.up(recorded, plain.pool(nodeConfig=after))
    assert (planned.op, planned.replace_keys) == ("replace", ["nodeConfig"])
    assert planned.delete_first, "a pool of a fixed name cannot stand beside its replacement"
    assert cloud.plan(changed, plain.pool(nodeConfig=after)).op == "same"


@pytest.mark.parametrize("name", IN_PLACE)
def test_a_pool_is_changed_in_place(cloud: Emulated, name: str) -> None:
    before, after = IN_PLACE[name]
    cloud.create(CLUSTER, "base", plain.cluster())
    recorded = cloud.create(NODE_POOL, "pool", plain.pool(nodeConfig=before))
    planned, changed = cloud.up(recorded, plain.pool(nodeConfig=after))
    assert planned.op == "update"
    assert changed.id == recorded.id
    assert cloud.plan(changed, plain.pool(nodeConfig=after)).op == "same"


@pytest.mark.parametrize(
    ("change", "op"),
    [
        ({"initialNodeCount": 1}, "replace"),
        ({"maxPodsPerNode": 64}, "replace"),
        ({"placementPolicy": {"type": "COMPACT"}}, "replace"),
        ({"name": "other"}, "replace"),
        ({"nodeLocations": ["northamerica-northeast2-b"]}, "update"),
        ({"autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 8}}, "update"),
        ({"autoscaling": None}, "update"),
        ({"networkConfig": {"enablePrivateNodes": True}}, "update"),
        ({"upgradeSettings": {"maxSurge": 2}}, "update"),
        ({"version": "1.34.4-gke.1047000"}, "update"),
        ({"nodeLocations": None}, "same"),
        # The provider keeps the cluster as it was given, and compares texts (its schema has no
        # suppression for it).
        ({"cluster": f"{PLACE}/clusters/base"}, "replace"),
    ],
    ids=str,
)  # fmt: skip
def test_change_of_a_pool(cloud: Emulated, change: dict[str, Any], op: str) -> None:
    cloud.create(CLUSTER, "base", plain.cluster())
    recorded = cloud.create(NODE_POOL, "pool", plain.pool())
    assert cloud.up(recorded, plain.pool(**change))[0].op == op


@pytest.mark.parametrize(
    ("change", "op"),
    [
        ({"description": "x"}, "replace"),
        ({"initialNodeCount": 2}, "replace"),
        ({"datapathProvider": "ADVANCED_DATAPATH"}, "replace"),
        ({"defaultMaxPodsPerNode": 64}, "replace"),
        ({"privateClusterConfig": {"masterIpv4CidrBlock": "172.16.0.0/28"}}, "replace"),
        ({"clusterAutoscaling": {"enabled": True, "resourceLimits": LIMITS}}, "update"),
        ({"releaseChannel": {"channel": "RAPID"}}, "update"),
        ({"privateClusterConfig": {"enablePrivateNodes": True}}, "update"),
        ({"resourceLabels": {"a": "1"}}, "update"),
        ({"nodeLocations": ["northamerica-northeast2-a"]}, "update"),
        ({"workloadIdentityConfig": {"workloadPool": "probe-project.svc.id.goog"}}, "update"),
        ({"maintenancePolicy": {"dailyMaintenanceWindow": {"startTime": "03:00"}}}, "update"),
        ({"network": "projects/probe-project/global/networks/net"}, "same"),
        ({"releaseChannel": None}, "same"),
    ],
    ids=str,
)
def test_change_of_a_cluster(cloud: Emulated, change: dict[str, Any], op: str) -> None:
    recorded = cloud.create(CLUSTER, "base", plain.cluster())
    assert cloud.up(recorded, plain.cluster(**change))[0].op == op


@pytest.mark.parametrize(
    ("change", "op"),
    [
        ({"location": "us-central1"}, "replace"),
        ({"hierarchicalNamespace": {"enabled": True}}, "replace"),
        ({"location": "NORTHAMERICA-NORTHEAST2"}, "same"),
        ({"hierarchicalNamespace": {"enabled": False}}, "same"),
        ({"storageClass": "NEARLINE"}, "update"),
        ({"uniformBucketLevelAccess": False}, "update"),
        ({"publicAccessPrevention": "enforced"}, "update"),
        ({"softDeletePolicy": {"retentionDurationSeconds": 0}}, "update"),
        ({"forceDestroy": True}, "update"),
        ({"labels": {"a": "1"}}, "update"),
    ],
    ids=str,
)
def test_change_of_a_bucket(cloud: Emulated, change: dict[str, Any], op: str) -> None:
    recorded = cloud.create(BUCKET, "bucket", plain.bucket())
    assert cloud.up(recorded, plain.bucket(**change))[0].op == op


@pytest.mark.parametrize(
    ("token", "inputs", "dropped"),
    [
        (
            CLUSTER,
            plain.cluster(clusterAutoscaling={"enabled": True, "resourceLimits": LIMITS}),
            "clusterAutoscaling",
        ),
        (
            CLUSTER,
            plain.cluster(workloadIdentityConfig={"workloadPool": "probe-project.svc.id.goog"}),
            "workloadIdentityConfig",
        ),
        (
            CLUSTER,
            plain.cluster(addonsConfig={"gcsFuseCsiDriverConfig": {"enabled": True}}),
            "addonsConfig",
        ),
        (BUCKET, plain.bucket(publicAccessPrevention="enforced"), "publicAccessPrevention"),
        (
            BUCKET,
            plain.bucket(softDeletePolicy={"retentionDurationSeconds": 0}),
            "softDeletePolicy",
        ),
    ],
    ids=["nap", "workload identity", "addons", "prevention", "soft delete"],
)
def test_dropping_a_property_that_the_server_fills_in_does_nothing(
    cloud: Emulated, token: str, inputs: dict[str, Any], dropped: str
) -> None:
    recorded = cloud.create(token, "resource", inputs)
    without = {name: value for name, value in inputs.items() if name != dropped}
    planned, kept = cloud.up(recorded, without)
    assert planned.op == "same"
    # Nor does another change of the same resource take it away.
    label = "resourceLabels" if token == CLUSTER else "labels"
    planned, kept = cloud.up(recorded, {**without, label: {"a": "1"}})
    assert planned.op == "update"
    assert kept.outputs[dropped] == recorded.outputs[dropped]


@pytest.mark.parametrize(
    ("inputs", "op", "keys"),
    [
        (
            plain.pool(nodeConfig={"metadata": {"foo": "bar"}}),
            "replace",
            ['nodeConfig.metadata["disable-legacy-endpoints"]'],
        ),
        (
            plain.pool(nodeCount=1, autoscaling=None, initialNodeCount=0),
            "replace",
            ["initialNodeCount"],
        ),
        (
            plain.pool(
                nodeConfig={"flexStart": True},
                upgradeSettings={"strategy": "SURGE", "maxSurge": 1, "maxUnavailable": 0},
            ),
            "update",
            ["upgradeSettings.maxSurge", "upgradeSettings.strategy"],
        ),
        (
            plain.pool(upgradeSettings={"maxSurge": 0, "maxUnavailable": 0}),
            "update",
            ["upgradeSettings.maxSurge"],
        ),
    ],
    ids=["metadata", "initial count", "flex-start upgrade", "no surge"],
)
def test_a_combination_that_never_comes_to_rest(
    cloud: Emulated, inputs: dict[str, Any], op: str, keys: list[str]
) -> None:
    cloud.create(CLUSTER, "base", plain.cluster())
    recorded = cloud.create(NODE_POOL, "pool", inputs)
    planned = cloud.plan(recorded, inputs)
    assert (planned.op, planned.keys) == (op, keys)
    _, again = cloud.up(recorded, inputs)
    assert cloud.plan(again, inputs).op == op


def test_the_size_that_the_autoscaler_chose_is_a_difference_for_a_fixed_count(
    cloud: Emulated,
) -> None:
    cloud.create(CLUSTER, "base", plain.cluster())
    fixed = plain.pool(initialNodeCount=None, nodeCount=1)
    recorded = cloud.create(NODE_POOL, "pool", fixed)
    with cloud.store.locked():
        properties = dict((cloud.store.get(NODE_POOL, recorded.id) or {})["properties"])
        cloud.store.put(NODE_POOL, recorded.id, {**properties, "nodeCount": 3})
    refreshed = cloud.refresh(recorded)
    assert refreshed is not None
    assert cloud.plan(refreshed, fixed).keys == ["nodeCount"]


def test_flex_start_without_upgrade_settings_comes_to_rest(cloud: Emulated) -> None:
    cloud.create(CLUSTER, "base", plain.cluster())
    inputs = plain.pool(nodeConfig={"flexStart": True})
    assert cloud.plan(cloud.create(NODE_POOL, "pool", inputs), inputs).op == "same"
