"""The table of prices: known list prices come out of it, and its rows are plausible."""

from collections.abc import Iterator
from typing import Any

import pytest

from spotproof_gke import prices
from spotproof_gke.capacity import Capacity
from spotproof_gke.locations import DUAL_REGIONS, MULTI_REGIONS, REGIONS
from spotproof_gke.prices import Missing, Price
from spotproof_gke.tables import table


@pytest.mark.parametrize(
    ("machine", "hour"),
    [
        ("e2-standard-4", 0.134),
        ("n1-standard-4", 0.190),
        ("n2-standard-8", 0.388),
        ("g2-standard-4", 0.707),
        ("g2-standard-48", 4.00),
        ("a2-highgpu-1g", 3.67),
        ("a2-highgpu-8g", 29.39),
        ("a2-ultragpu-8g", 40.55),
        ("a3-highgpu-8g", 88.49),
    ],
)
def test_list_prices_of_iowa_come_out(machine: str, hour: float) -> None:
    price = prices.machine_hour(machine, "us-central1", Capacity.ON_DEMAND)

    assert isinstance(price, Price)
    assert price.low == price.high == pytest.approx(hour, rel=0.005)


def _by_region() -> Iterator[tuple[str, dict[str, list[float]]]]:
    for kind in ("series", "gpus"):
        for name, row in table("prices")[kind].items():
            yield name, row["regions"]
    for name, row in table("prices")["disks"].items():
        yield name, {place: [price] for place, price in row["regions"].items()}


@pytest.mark.parametrize(("name", "rows"), list(_by_region()))
def test_no_region_is_out_of_the_ordinary(name: str, rows: dict[str, list[float]]) -> None:
    """A slip of a digit shows: no region is half as dear again below, or twice as dear."""
    assert set(rows) <= set(REGIONS)
    usual = rows.get("us-central1", next(iter(rows.values())))[0]
    for region, (on_demand, *spot) in rows.items():
        assert 0.7 * usual <= on_demand <= 2 * usual, f"{name} in {region}"
        for price in spot:
            assert 0.08 * on_demand <= price <= 0.55 * on_demand, f"{name} in {region}"


def test_storage_is_priced_where_buckets_can_be() -> None:
    places = {place.lower() for place in (*REGIONS, *DUAL_REGIONS, *MULTI_REGIONS)}

    for row in table("prices")["buckets"].values():
        assert set(row["locations"]) <= places
        assert all(0.005 < price < 0.06 for price in row["locations"].values())


def _rows(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if "from" in value:
            yield value
        for each in value.values():
            yield from _rows(each)


def test_every_price_has_a_source_with_an_address_and_a_day() -> None:
    rows = list(_rows(table("prices")))

    assert len(rows) > 15
    assert {row["from"] for row in rows} <= set(prices.SOURCES)
    for source in prices.SOURCES.values():
        assert source.address.startswith("https://")
        assert source.dated is None or source.dated <= source.read_on


@pytest.mark.parametrize(
    ("machine", "region", "capacity"),
    [
        ("a3-highgpu-8g", "europe-west3", Capacity.SPOT),
        ("g2-standard-4", "africa-south1", Capacity.ON_DEMAND),
        ("a4-highgpu-8g", "us-central1", Capacity.SPOT),
        ("custom-4-8192", "us-central1", Capacity.ON_DEMAND),
        ("", "", Capacity.ON_DEMAND),
    ],
)
def test_price_that_is_not_there_is_missing(machine: str, region: str, capacity: Capacity) -> None:
    assert isinstance(prices.machine_hour(machine, region, capacity), Missing)
