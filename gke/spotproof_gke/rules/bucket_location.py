"""Whether a bucket's location is its cluster's region.

Why: reads and writes across regions are slow and billed, and a multi-region always bills them.
Source: docs.cloud.google.com/storage/docs/locations, read on 2026-11-29.
"""

from collections.abc import Sequence

from spotproof_gke.locations import (
    DUAL_REGIONS,
    BucketPlacement,
    is_region,
    is_zone,
    placement_of_bucket,
)
from spotproof_gke.rules.clusters import region_or_none
from spotproof_gke.rules.finding import shown
from spotproof_gke.rules.reading import text


def bucket_location_mismatch(
    bucket_location: object,
    cluster_location: object,
    data_locations: Sequence[object] = (),
    allowed_dual_regions: Sequence[str] = (),
) -> str | None:
    """Why a bucket does not lie in its cluster's region, or None when it does.

    Args:
        bucket_location: The bucket's `location` in any letter case; None when it states none.
        cluster_location: The cluster's region or zone in any letter case.
        data_locations: `customPlacementConfig.dataLocations` of the bucket.
        allowed_dual_regions: Dual-regions that are accepted when they contain the cluster's region:
            a predefined name (`NAM4`) or two regions (`us-central1+us-east1`).

    Returns:
        A clause that names both locations, or None. A cluster location that is neither a region
        nor a zone is a mismatch too.
    """
    region = region_or_none(cluster_location)
    if region is None:
        return f"the cluster's location {shown(cluster_location)} is neither a region nor a zone"
    placement = _placement(bucket_location, data_locations)
    if region in placement.regions and _may_serve(placement, allowed_dual_regions):
        return None
    return f"{described(bucket_location, data_locations)}, while the cluster runs in {region}"


def mismatch_anywhere(
    bucket_location: object,
    data_locations: Sequence[object] = (),
    allowed_dual_regions: Sequence[str] = (),
) -> str | None:
    """Why a bucket lies in no cluster's region, wherever the cluster is; None when it may."""
    if _may_serve(_placement(bucket_location, data_locations), allowed_dual_regions):
        return None
    return described(bucket_location, data_locations)


def described(bucket_location: object, data_locations: Sequence[object] = ()) -> str:
    """What sort of location a bucket has, in one clause."""
    stated = text(bucket_location)
    placement = _placement(bucket_location, data_locations)
    held = shown("+".join(sorted(placement.regions)))
    if not stated:
        return "the bucket states no location"
    if placement.kind == "region":
        return f"location {shown(stated)} is another region"
    if placement.kind == "dual-region":
        return f"location {shown(stated)} is a dual-region ({held})"
    if placement.kind == "multi-region":
        return f"location {shown(stated)} is a multi-region"
    if placement.kind == "zone":
        return f"location {held if is_zone(held) else shown(stated)} is a zone"
    return f"location {shown(stated)} is no known location"


def regions_of_dual_region(words: object) -> tuple[str, ...]:
    """The regions of `NAM4` or `us-central1 + us-east1`, lower case; none when it is neither."""
    name = text(words)
    if name.upper() in DUAL_REGIONS:
        return DUAL_REGIONS[name.upper()]
    parts = sorted({part.strip().lower() for part in name.split("+")})
    return tuple(parts) if len(parts) == 2 and all(map(is_region, parts)) else ()


def _placement(bucket_location: object, data_locations: Sequence[object]) -> BucketPlacement:
    names = [text(name) for name in data_locations if text(name)]
    if len(names) == 1 and is_zone(names[0]):
        return BucketPlacement("zone", (names[0].lower(),))
    return placement_of_bucket(text(bucket_location), names)


def _may_serve(placement: BucketPlacement, allowed: Sequence[str]) -> bool:
    if placement.kind != "dual-region":
        return placement.kind == "region"
    held = set(placement.regions)
    return any(set(regions_of_dual_region(each)) == held for each in allowed)
