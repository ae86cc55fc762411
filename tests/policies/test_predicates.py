"""The predicates that constructors share with the packs."""

import pytest

from spotproof_gke.rules.clusters import CLUSTER, NODE_POOL
from spotproof_gke.rules.finding import Resource
from spotproof_gke.rules.pools import pools_in, why_not_home
from spotproof_gke.rules.reading import UNKNOWN
from spotproof_gke.rules.region_match import bucket_location_mismatch, zone_outside_region
from spotproof_gke.rules.spot_isolation import (
    is_system_namespace,
    missing_flex_start_taint,
    missing_spot_taint,
)

SPOT_TAINT = {"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NO_SCHEDULE"}


@pytest.mark.parametrize("cluster", ["us-central1", "US-CENTRAL1", "us-central1-f"])
@pytest.mark.parametrize("bucket", ["us-central1", "US-CENTRAL1", "Us-Central1"])
def test_bucket_in_the_clusters_region_matches_in_any_letter_case(bucket, cluster) -> None:
    assert bucket_location_mismatch(bucket, cluster) is None


@pytest.mark.parametrize(
    ("bucket", "data_locations", "words"),
    [
        ("us-central2", (), "another region"),
        ("us", (), "multi-region"),
        ("nam4", (), "dual-region (us-central1+us-east1)"),
        ("US", ("US-CENTRAL1", "US-EAST1"), "dual-region (us-central1+us-east1)"),
        ("us-central1-a", (), "is a zone"),
        ("mars", (), "no known location"),
        ("", (), "states no location"),
        (None, (), "states no location"),
        (7, (), "states no location"),
    ],
)
def test_bucket_elsewhere_says_what_its_location_is(bucket, data_locations, words) -> None:
    reason = bucket_location_mismatch(bucket, "us-central1", data_locations)

    assert reason is not None
    assert words in reason
    assert "us-central1" in reason


def test_dual_region_is_accepted_when_it_is_allowed_and_holds_the_region() -> None:
    allowed = ["NAM4"]

    assert bucket_location_mismatch("nam4", "us-east1", (), allowed) is None
    assert bucket_location_mismatch("nam4", "us-west1", (), allowed)
    assert bucket_location_mismatch("eur4", "europe-west4", (), allowed)
    assert bucket_location_mismatch("US", "us-east1", ("us-east1", "us-west1"), allowed)


def test_allowing_a_multi_region_by_name_allows_no_dual_region_in_it() -> None:
    pair = ("us-east1", "us-west1")

    assert bucket_location_mismatch("US", "us-east1", pair, ["US"])


@pytest.mark.parametrize("zone", ["us-central1", "us-east1-b", "", None, 3])
def test_zone_outside_the_region_is_refused(zone) -> None:
    assert zone_outside_region(zone, "us-central1-a")


def test_spot_pool_needs_its_taint_whatever_else_it_carries() -> None:
    assert missing_spot_taint({"spot": False}) is None
    assert missing_spot_taint({"spot": True, "taints": [SPOT_TAINT]}) is None
    assert (
        missing_spot_taint({"spot": True, "taints": [{**SPOT_TAINT, "effect": "NoSchedule"}]})
        is None
    )
    without = "Spot nodes without the taint cloud.google.com/gke-spot=true"
    assert missing_spot_taint({"spot": True}) == without
    another = {"spot": True, "taints": [{**SPOT_TAINT, "key": "nvidia.com/gpu"}]}
    assert missing_spot_taint(another) == without
    assert missing_spot_taint(another, ["nvidia.com/gpu"]) is None


def test_flex_start_pool_with_gpus_needs_no_taint_of_ours() -> None:
    assert missing_flex_start_taint({"flexStart": True, "machineType": "a3-highgpu-8g"}) is None
    assert missing_flex_start_taint({"flexStart": True}, queued=True) is None
    assert missing_flex_start_taint({"flexStart": True}) == (
        "flex-start nodes without GPUs and without the taint cloud.google.com/gke-flex-start=true"
    )


def test_namespace_patterns_match_endings_only() -> None:
    assert is_system_namespace("gke-managed-cim")
    assert not is_system_namespace("my-gke-managed-cim")
    assert not is_system_namespace("gke-training")


HOME = {"nodeCount": 1, "nodeConfig": {"machineType": "e2-standard-4"}}
TOLERATED = "components.gke.io/gke-managed-components"


def _taint(effect: object, key: object = "team", value: object = "a") -> dict:
    return {"nodeConfig": {"taints": [{"key": key, "value": value, "effect": effect}]}}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"nodeConfig": {"spot": True}}, "Spot"),
        ({"nodeConfig": {"preemptible": True}}, "preemptible"),
        ({"nodeConfig": {"flexStart": True}}, "flex-start"),
        ({"queuedProvisioning": {"enabled": True}}, "queued"),
        ({"nodeConfig": {"machineType": "g2-standard-4"}}, "with GPUs"),
        ({"nodeConfig": {"machineType": "ct5lp-hightpu-4t"}}, "with TPUs"),
        ({"nodeConfig": {"machineType": "tpu7x-standard-4t"}}, "with TPUs"),
        (_taint("NO_SCHEDULE"), "with a taint that system pods do not tolerate"),
        (_taint("NO_EXECUTE"), "with a taint that system pods do not tolerate"),
        (_taint("NoSchedule"), "with a taint that system pods do not tolerate"),
        (_taint("NoExecute"), "with a taint that system pods do not tolerate"),
        (_taint("NO_SCHEDULE", value=UNKNOWN), "with a taint that system pods do not tolerate"),
        ({"nodeCount": 0}, "that can shrink to no node"),
        ({"autoscaling": {"totalMaxNodeCount": 3}}, "that can shrink to no node"),
    ],
)
def test_pool_that_is_no_home_for_system_pods_says_why(change: dict, reason: str) -> None:
    assert why_not_home({**HOME, **change}, [TOLERATED]) == (reason, True)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"nodeConfig": None},
        {"nodeConfig": {"spot": False, "preemptible": "false", "guestAccelerators": []}},
        _taint("PREFER_NO_SCHEDULE"),
        _taint("NO_SCHEDULE", TOLERATED),
        _taint("NO_SCHEDULE", TOLERATED, UNKNOWN),
        _taint(UNKNOWN, TOLERATED),
        {"autoscaling": {"minNodeCount": 1}},
        {"autoscaling": {"minNodeCount": 0, "totalMinNodeCount": 3}, "nodeCount": None},
    ],
)
def test_on_demand_pool_that_keeps_a_node_is_a_home(change: dict) -> None:
    assert why_not_home({**HOME, **change}, [TOLERATED]) == (None, True)


@pytest.mark.parametrize(
    "change",
    [
        {"nodeConfig": UNKNOWN},
        {"nodeConfig": {"spot": UNKNOWN}},
        {"nodeConfig": {"preemptible": UNKNOWN}},
        {"nodeConfig": {"flexStart": UNKNOWN}},
        {"queuedProvisioning": UNKNOWN},
        {"queuedProvisioning": {"enabled": UNKNOWN}},
        _taint(UNKNOWN),
        _taint("NO_SCHEDULE", UNKNOWN),
        {"nodeConfig": {"taints": UNKNOWN}},
        {"nodeCount": UNKNOWN},
        {"nodeCount": None},
        {"autoscaling": {"minNodeCount": UNKNOWN}},
    ],
)
def test_pool_of_which_too_little_is_known_is_perhaps_a_home(change: dict) -> None:
    found = why_not_home({**HOME, **change}, [TOLERATED])

    assert found == ("of which too little is known", False)


def test_pools_stand_in_node_pools_and_in_standard_clusters() -> None:
    def places(type_: str, **props: object) -> list[tuple[str, object]]:
        found = pools_in(Resource(type_, "it", props=props))
        return [(where, pool.get("nodeConfig")) for where, pool in found]

    spot = {"spot": True}
    assert places(NODE_POOL, nodeConfig=spot) == [("", spot)]
    assert places(CLUSTER, nodeConfig=spot) == [("default pool: ", spot)]
    assert places(CLUSTER, nodeConfig=spot, removeDefaultNodePool=True) == []
    assert places(CLUSTER, nodeConfig=spot, enableAutopilot=True) == []
    assert places(
        CLUSTER, nodeConfig=spot, nodePools=[{"nodeConfig": {}}, {"nodeConfig": spot}]
    ) == [
        ("nodePools[0]: ", {}),
        ("nodePools[1]: ", spot),
    ]
    assert places(CLUSTER, nodePools=UNKNOWN, removeDefaultNodePool=True) == [
        ("nodePools: ", UNKNOWN)
    ]
    assert places("gcp:compute/instance:Instance", nodeConfig=spot) == []
