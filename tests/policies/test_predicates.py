"""The predicates that constructors share with the packs."""

import pytest

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
    assert missing_spot_taint({"spot": True})
    assert missing_spot_taint({"spot": True, "taints": [{**SPOT_TAINT, "key": "nvidia.com/gpu"}]})


def test_flex_start_pool_with_gpus_needs_no_taint_of_ours() -> None:
    assert missing_flex_start_taint({"flexStart": True, "machineType": "a3-highgpu-8g"}) is None
    assert missing_flex_start_taint({"flexStart": True}, queued=True) is None
    assert missing_flex_start_taint({"flexStart": True})


def test_namespace_patterns_match_endings_only() -> None:
    assert is_system_namespace("gke-managed-cim")
    assert not is_system_namespace("my-gke-managed-cim")
    assert not is_system_namespace("gke-training")
