"""Changes behind the engine's back: a refresh sees them, and the next update mends them."""

from typing import Any

import pytest

from sandbox.cloud import drift
from sandbox.cloud.finding import CommandError
from tests.cloud import plain
from tests.cloud.harness import PROJECT, Emulated, Recorded
from tests.cloud.plain import (
    ACCOUNT,
    BUCKET,
    BUCKET_MEMBER,
    CLUSTER,
    NETWORK,
    NODE_POOL,
    PROJECT_MEMBER,
    ROUTER,
    ROUTER_NAT,
    SERVICE,
)

TAINT = {"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NO_SCHEDULE"}


@pytest.fixture
def pool(cloud: Emulated) -> Recorded:
    cloud.create(CLUSTER, "base", plain.cluster())
    return cloud.create(NODE_POOL, "pool", pool_inputs())


def pool_inputs() -> dict[str, Any]:
    config = {"machineType": "e2-standard-4", "spot": True, "taints": [TAINT]}
    return plain.pool(autoscaling=None, initialNodeCount=None, nodeCount=2, nodeConfig=config)


def assert_mended(cloud: Emulated, recorded: Recorded, inputs: dict[str, Any], key: str) -> None:
    """A refresh shows the change; an update takes it back, and leaves nothing to do."""
    refreshed = cloud.refresh(recorded)
    assert refreshed is not None
    planned, updated = cloud.up(refreshed, inputs)
    assert planned.op == "update"
    assert [path for path in planned.keys if path.startswith(key)], planned.keys
    again = cloud.refresh(updated)
    assert again is not None
    assert again.outputs == updated.outputs
    assert cloud.plan(updated, inputs).op == "same"
    assert updated.outputs[key] == recorded.outputs[key]


@pytest.mark.parametrize(
    "change",
    ["cloud.google.com/gke-spot=false:NoSchedule", "cloud.google.com/gke-spot=true:NO_EXECUTE",
     "cloud.google.com/gke-spot-"],
)  # fmt: skip
def test_a_changed_taint(cloud: Emulated, pool: Recorded, change: str) -> None:
    drift.taint(cloud.store, "pool", change)
    assert_mended(cloud, pool, pool_inputs(), "nodeConfig")


def test_a_taint_that_the_program_does_not_have_is_only_an_output(
    cloud: Emulated, pool: Recorded
) -> None:
    drift.taint(cloud.store, "pool", "team=vision:PreferNoSchedule")
    refreshed = cloud.refresh(pool)
    assert refreshed is not None
    effective = refreshed.outputs["nodeConfig"]["effectiveTaints"]
    assert [taint["key"] for taint in effective] == [TAINT["key"], "team"]
    assert cloud.plan(refreshed, pool_inputs()).op == "same"


def test_a_resized_pool(cloud: Emulated, pool: Recorded) -> None:
    assert "2 -> 7 nodes per zone" in drift.resize(cloud.store, "pool", 7)
    assert_mended(cloud, pool, pool_inputs(), "nodeCount")


def test_a_resized_pool_under_the_autoscaler_is_no_drift(cloud: Emulated) -> None:
    cloud.create(CLUSTER, "base", plain.cluster())
    recorded = cloud.create(NODE_POOL, "pool", plain.pool())
    drift.resize(cloud.store, "pool", 3)
    refreshed = cloud.refresh(recorded)
    assert refreshed is not None
    assert cloud.plan(refreshed, plain.pool()).op == "same"


SETS = {
    "label": (BUCKET, "demo-bucket", "labels.team", "other", "labels"),
    "storage class": (BUCKET, "demo-bucket", "storageClass", "NEARLINE", "storageClass"),
    "lifecycle": (BUCKET, "demo-bucket", "lifecycleRules[0].condition.age", "1", "lifecycleRules"),
    "machine type": (NODE_POOL, "pool", "nodeConfig.machineType", "e2-medium", "nodeConfig"),
    "channel": (CLUSTER, "base", "releaseChannel.channel", "RAPID", "releaseChannel"),
}


@pytest.mark.parametrize("which", SETS)
def test_a_changed_value(cloud: Emulated, pool: Recorded, which: str) -> None:
    rule = {"action": {"type": "Delete"}, "condition": {"age": 30}}
    inputs = {
        BUCKET: plain.bucket(
            labels={"team": "vision"}, storageClass="STANDARD", lifecycleRules=[rule]
        ),
        NODE_POOL: pool_inputs(),
        CLUSTER: plain.cluster(),
    }
    token, name, path, value, key = SETS[which]
    recorded = {
        NODE_POOL: lambda: pool,
        BUCKET: lambda: cloud.create(BUCKET, "data", inputs[BUCKET]),
        CLUSTER: lambda: cloud.adopt(CLUSTER, "base", pool.id.partition("/nodePools")[0]),
    }[token]()
    assert recorded is not None
    short = token.rpartition(":")[2]
    drift.set_value(cloud.store, short, name, path, value)
    assert_mended(cloud, recorded, inputs[token], key)


def test_a_deleted_bucket_is_gone_for_the_refresh(cloud: Emulated) -> None:
    recorded = cloud.create(BUCKET, "data", plain.bucket())
    assert drift.delete(cloud.store, "bucket", "demo-bucket") == "deleted demo-bucket"
    assert cloud.refresh(recorded) is None


def test_any_resource_can_be_deleted_and_is_gone_for_the_refresh(cloud: Emulated) -> None:
    nat = {
        "name": "nat",
        "router": "router",
        "natIpAllocateOption": "AUTO_ONLY",
        "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES",
    }
    user = {"role": "roles/viewer", "member": "user:a@example.com"}
    recorded = [
        cloud.create(ROUTER, "router", {"name": "router", "network": "net"}),
        cloud.create(ROUTER_NAT, "nat", nat),
        cloud.create(ACCOUNT, "trainer", {"accountId": "trainer"}),
        cloud.create(SERVICE, "gke", {"service": "container.googleapis.com"}),
        cloud.create(PROJECT_MEMBER, "viewer", {"project": PROJECT, **user}),
        cloud.create(BUCKET, "data", plain.bucket()),
        cloud.create(BUCKET_MEMBER, "reader", {"bucket": "demo-bucket", **user}),
    ]
    for each in reversed(recorded):
        drift.delete(cloud.store, each.type, each.id)
        assert cloud.refresh(each) is None


def test_a_deleted_cluster_takes_its_pools_along(cloud: Emulated, pool: Recorded) -> None:
    said = drift.delete(cloud.store, "Cluster", "base")
    assert f"and with it {pool.id}" in said
    assert cloud.refresh(pool) is None


def test_what_is_in_use_stays(cloud: Emulated, pool: Recorded) -> None:
    with pytest.raises(CommandError, match="already being used by"):
        drift.delete(cloud.store, "Network", "net")
    assert cloud.store.all(NETWORK)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("Buckt", "x", "labels.a", "b"), 'did you mean "Bucket"'),
        (("IAMMember", "x", "role", "b"), "is several types: gcp:"),
        (("Bucket", "x", "labels.a", "b"), "there is no Bucket at all"),
        (("Network", "nett", "mtu", "1500"), "these are:\n  projects/probe-project/global/net"),
        (("Network", "net", "mtuu", "1500"), 'did you mean "mtu"'),
        (("Network", "net", "mtu", "many"), "mtu: 'many' is no int"),
        (("Network", "net", "mtu", "true"), "mtu: True is no int"),
        (("Network", "net", "description", "7"), "description: 7 is no string"),
        (("Network", "net", "mtu.a.b", "1"), "there is nothing that could have 'a'"),
        (("NodePool", "pool", "nodeConfig.taints", "[]"), "drift taint POOL"),
        (("NodePool", "pool", "nodeConfig.machinType", "a"), 'did you mean "machineType"'),
        (("NodePool", "pool", "nodeLocations[3]", "a"), "the list has 1"),
        (("Cluster", "base", "deletionProtection", "true"), "the provider's own setting"),
    ],
)
def test_a_mistake_is_named_with_what_exists(
    cloud: Emulated, pool: Recorded, arguments: tuple[str, str, str, str], words: str
) -> None:
    before = cloud.store.everything()
    with pytest.raises(CommandError) as error:
        drift.set_value(cloud.store, *arguments)
    assert words in str(error.value)
    assert cloud.store.everything() == before


@pytest.mark.parametrize(
    ("taint", "words"),
    [
        ("spot", "write KEY=VALUE:EFFECT"),
        ("a=b:Never", "'Never' is no effect of a taint; effects are NO_SCHEDULE"),
        ("a-", "no taint 'a'; its taints: cloud.google.com/gke-spot"),
    ],
)
def test_a_mistaken_taint_is_refused(
    cloud: Emulated, pool: Recorded, taint: str, words: str
) -> None:
    with pytest.raises(CommandError, match=words):
        drift.taint(cloud.store, "pool", taint)
