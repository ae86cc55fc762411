import pytest

from spotproof_gke import locations


@pytest.mark.parametrize(
    ("location", "region"),
    [
        ("us-central1", "us-central1"),
        ("US-CENTRAL1", "us-central1"),
        ("us-central1-a", "us-central1"),
        ("Europe-West4-B", "europe-west4"),
        ("northamerica-northeast2-c", "northamerica-northeast2"),
    ],
)
def test_region_of_takes_regions_and_zones_in_any_case(location: str, region: str) -> None:
    assert locations.region_of(location) == region


@pytest.mark.parametrize("location", ["", "US", "nam4", "us-central1-a-b", "central"])
def test_region_of_refuses_what_is_neither_and_names_it(location: str) -> None:
    with pytest.raises(ValueError, match="neither a region"):
        locations.region_of(location)


def test_every_zone_of_the_table_belongs_to_its_region() -> None:
    for region, zones in locations.REGIONS.items():
        assert locations.is_region(region)
        assert len(zones) >= 3
        for zone in zones:
            assert locations.is_zone(zone)
            assert locations.region_of(zone) == region


def test_both_regions_of_every_dual_region_are_known() -> None:
    for regions in locations.DUAL_REGIONS.values():
        assert len(regions) == 2
        assert set(regions) <= set(locations.REGIONS)


@pytest.mark.parametrize(
    ("location", "data_locations", "kind", "regions"),
    [
        ("US-CENTRAL1", (), "region", ("us-central1",)),
        ("us-central1", (), "region", ("us-central1",)),
        ("nam4", (), "dual-region", ("us-central1", "us-east1")),
        ("eu", (), "multi-region", ()),
        ("US", ("US-EAST1", "US-WEST1"), "dual-region", ("us-east1", "us-west1")),
        ("us-central1-a", (), "zone", ("us-central1",)),
        ("moon", (), "unknown", ()),
    ],
)
def test_a_bucket_location_is_read_as_cloud_storage_reads_it(
    location: str, data_locations: tuple[str, ...], kind: str, regions: tuple[str, ...]
) -> None:
    placement = locations.placement_of_bucket(location, data_locations)
    assert (placement.kind, placement.regions) == (kind, regions)
