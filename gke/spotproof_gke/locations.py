"""Regions, zones and bucket locations. Table and source: `data/locations.yaml`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from spotproof_gke.tables import table

REGIONS: dict[str, tuple[str, ...]] = {
    region: tuple(f"{region}-{letter}" for letter in letters)
    for region, letters in table("locations")["regions"].items()
}
"""Zones by region, both in lower case."""

DUAL_REGIONS: dict[str, tuple[str, ...]] = {
    name: tuple(regions) for name, regions in table("locations")["dual_regions"].items()
}
"""The two regions of each predefined dual-region, by its upper-case name."""

MULTI_REGIONS: tuple[str, ...] = tuple(table("locations")["multi_regions"])

_ZONE = re.compile(r"^([a-z]+-[a-z]+[0-9]+)-[a-z0-9]+$")
_REGION = re.compile(r"^[a-z]+-[a-z]+[0-9]+$")


def is_region(location: str) -> bool:
    """Whether `location` has the form of a region, in any letter case."""
    return bool(_REGION.match(location.lower()))


def is_zone(location: str) -> bool:
    """Whether `location` has the form of a zone, in any letter case."""
    return bool(_ZONE.match(location.lower()))


def region_of(location: str) -> str:
    """The region, in lower case, of a region or zone in any letter case.

    Raises:
        ValueError: `location` has the form of neither.
    """
    lower = location.lower()
    if _REGION.match(lower):
        return lower
    zone = _ZONE.match(lower)
    if zone:
        return zone.group(1)
    raise ValueError(f"{location!r} is neither a region (us-central1) nor a zone (us-central1-a)")


def zones_of(region: str) -> tuple[str, ...]:
    """The zones of a region; empty when the table does not know the region."""
    return REGIONS.get(region.lower(), ())


@dataclass(frozen=True)
class BucketPlacement:
    """Where a bucket keeps its data.

    Attributes:
        kind: What sort of location it is; `unknown` for a name that has no known form.
        regions: The regions that hold the data, lower case; empty for a multi-region or an
            unknown location.
    """

    kind: Literal["region", "dual-region", "multi-region", "zone", "unknown"]
    regions: tuple[str, ...]


def placement_of_bucket(location: str, data_locations: Sequence[str] = ()) -> BucketPlacement:
    """What a bucket's `location` (any letter case) means.

    Args:
        location: The bucket's `location` property.
        data_locations: `customPlacementConfig.dataLocations`, which makes a custom dual-region.
    """
    if data_locations:
        return BucketPlacement("dual-region", tuple(str(d).lower() for d in data_locations))
    upper = location.upper()
    if upper in DUAL_REGIONS:
        return BucketPlacement("dual-region", DUAL_REGIONS[upper])
    if upper in MULTI_REGIONS:
        return BucketPlacement("multi-region", ())
    if is_region(location):
        return BucketPlacement("region", (location.lower(),))
    if is_zone(location):
        return BucketPlacement("zone", (region_of(location),))
    return BucketPlacement("unknown", ())
