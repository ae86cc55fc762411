"""A checkpoint bucket lies in its cluster's region, and so do the zones of the cluster's pools.

Why: reads and writes across regions are slow and billed, a multi-region always bills egress, and a
zone outside the cluster's region is refused by GKE only during the update.
Source: docs.cloud.google.com/storage/docs/locations and
docs.cloud.google.com/kubernetes-engine/docs/concepts/regional-clusters, read on 2026-11-29.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from spotproof_gke.contract import CHECKPOINTS_ROLE, ROLE_LABEL
from spotproof_gke.locations import DUAL_REGIONS, BucketPlacement, is_zone, placement_of_bucket
from spotproof_gke.rules.bucket_users import BUCKET, Service, label, services_of
from spotproof_gke.rules.clusters import (
    NODE_POOL,
    Cluster,
    clusters_of,
    inline_pools,
    owner_of,
    region_or_none,
    regions_of,
)
from spotproof_gke.rules.finding import Finding, Resource, Stack, shown
from spotproof_gke.rules.reading import UNKNOWN, dig, has_unknown, items, text

BUCKET_RULE = "a checkpoint bucket lies in the region of the cluster that it serves"
ZONES_RULE = "the zones of a pool lie in the region of its cluster"


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
    stated = text(bucket_location)
    placement = _placement(stated, data_locations)
    if region in placement.regions and (
        placement.kind == "region"
        or (
            placement.kind == "dual-region"
            and _is_allowed(stated, placement.regions, allowed_dual_regions)
        )
    ):
        return None
    return f"{_described(stated, placement)}, while the cluster runs in {region}"


def _placement(stated: str, data_locations: Sequence[object]) -> BucketPlacement:
    names = [text(name) for name in data_locations if text(name)]
    if len(names) == 1 and is_zone(names[0]):
        return BucketPlacement("zone", (names[0].lower(),))
    return placement_of_bucket(stated, names)


def _described(stated: str, placement: BucketPlacement) -> str:
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


def _is_allowed(name: str, regions: Sequence[str], allowed: Sequence[str]) -> bool:
    for each in allowed:
        words = text(each).lower()
        if words == name.lower() and words.upper() in DUAL_REGIONS:
            return True
        if sorted(words.split("+")) == sorted(regions):
            return True
    return False


def checkpoint_buckets(stack: Stack, allowed_dual_regions: Sequence[str] = ()) -> Iterator[Finding]:
    """Findings for every bucket that is known to serve a cluster and lies elsewhere."""
    clusters = clusters_of(stack)
    for bucket, services in services_of(stack, clusters):
        judged = [_judge(bucket, service, allowed_dual_regions) for service in services]
        found = [finding for finding in judged if finding]
        yield from sorted(found, key=lambda finding: not finding.certain)[:1]


def _judge(bucket: Resource, service: Service, allowed: Sequence[str]) -> Finding | None:
    """One finding for a bucket and the locations of the clusters that it may serve."""
    location, data = bucket.get("location"), _data_locations(bucket)
    known = [place for place in service.locations if text(place)]
    if location is UNKNOWN or has_unknown(data):
        return _doubt(bucket, f"the bucket's location ({service.why})")
    reasons = [bucket_location_mismatch(location, place, data, allowed) for place in known]
    if None in reasons:
        return None
    if not known or len(known) < len(service.locations):
        if not _is_wrong_everywhere(location, data, allowed):
            return _doubt(bucket, f"{service.unclear} ({service.why})")
        reasons.append(_described(text(location), _placement(text(location), data)))
    region = region_or_none(known[0]) if known else None
    where = f'"{region.upper()}"' if region else "the cluster's region"
    fix = f"set location to {where} (a location cannot be changed later, so data must be copied)"
    if service.otherwise:
        fix += f", {service.otherwise}"
    return bucket.finding(f"{reasons[0]} ({service.why})", BUCKET_RULE, fix)


def _doubt(resource: Resource, what: str) -> Finding:
    fix = "give the bucket and the cluster a region as a plain value"
    return resource.finding(what, BUCKET_RULE, fix, certain=False)


def _is_wrong_everywhere(location: object, data: Sequence[object], allowed: Sequence[str]) -> bool:
    """Whether a bucket is in no cluster's region, wherever the cluster is."""
    placement = _placement(text(location), data)
    if placement.kind == "dual-region":
        return not _is_allowed(text(location), placement.regions, allowed)
    return placement.kind != "region"


def _data_locations(bucket: Resource) -> Sequence[Any]:
    given = dig(bucket.get("customPlacementConfig"), "dataLocations")
    return (UNKNOWN,) if given is UNKNOWN else items(given)


def unlabelled_buckets(stack: Stack) -> Iterator[Finding]:
    """Findings for buckets that nothing ties to a cluster, where all clusters share a region."""
    clusters = clusters_of(stack)
    regions = regions_of(clusters)
    if len(regions) != 1 or None in regions:
        return
    served = {id(bucket) for bucket, _ in services_of(stack, clusters)}
    region = text(next(iter(regions)))
    for bucket in stack.of_type(BUCKET):
        location, data = bucket.get("location"), _data_locations(bucket)
        if id(bucket) in served or location is UNKNOWN or has_unknown(data):
            continue
        role = label(bucket, ROLE_LABEL)
        if text(role) and text(role) != CHECKPOINTS_ROLE:
            continue
        reason = bucket_location_mismatch(location, region, data)
        if reason:
            yield bucket.finding(
                reason,
                "a bucket in a stack whose clusters share a region usually serves them",
                f"move the bucket to {region} if it holds checkpoints; if it does not, say what it "
                f'is for with the label {ROLE_LABEL}, for example "logs"',
            )


def zone_outside_region(zone: object, cluster_location: object) -> str | None:
    """Why `zone` cannot serve a cluster at `cluster_location`, or None when it can.

    Args:
        zone: A zone in any letter case.
        cluster_location: The cluster's region or zone in any letter case.
    """
    region = region_or_none(cluster_location)
    if region is None:
        return f"the cluster's location {shown(cluster_location)} is neither a region nor a zone"
    if not is_zone(text(zone)):
        return f"{shown(zone)} is not a zone"
    if region_or_none(zone) != region:
        return f"zone {shown(zone)} lies outside the cluster's region {region}"
    return None


def pool_zones(stack: Stack) -> Iterator[Finding]:
    """Findings for zones of pools, clusters and auto-provisioning outside the cluster's region."""
    clusters = clusters_of(stack)
    for cluster in clusters:
        resource = cluster.resource
        yield from _judge_zones(resource, cluster.location, _cluster_zones(resource))
    for pool in stack.of_type(NODE_POOL):
        owner = owner_of(pool, clusters)
        given = pool.get("location")
        location = owner.location if owner else given
        yield from _judge_zones(pool, location, [("nodeLocations", pool.get("nodeLocations"))])
        yield from _judge_pool_location(pool, given, owner)


def _cluster_zones(cluster: Resource) -> list[tuple[str, Any]]:
    auto = dig(cluster.get("clusterAutoscaling"), "autoProvisioningLocations")
    zones = [
        ("nodeLocations", cluster.get("nodeLocations")),
        ("clusterAutoscaling.autoProvisioningLocations", auto),
    ]
    for number, pool in enumerate(inline_pools(cluster)):
        zones.append((f"nodePools[{number}].nodeLocations", pool.get("nodeLocations")))
    return zones


def _judge_zones(
    resource: Resource, location: Any, stated: Iterable[tuple[str, Any]]
) -> Iterator[Finding]:
    for key, value in stated:
        zones = [UNKNOWN] if value is UNKNOWN else list(items(value))
        known = [zone for zone in zones if zone is not UNKNOWN]
        # Without a known cluster the zones of one pool must at least agree with each other.
        place = location if text(location) else next(filter(region_or_none, known), None)
        reasons = [zone_outside_region(zone, place) for zone in known] if place else []
        for reason in filter(None, reasons):
            fix = f"use zones of {region_or_none(place) or 'the region of the cluster'} only"
            yield resource.finding(f"{key}: {reason}", ZONES_RULE, fix)
        if len(known) < len(zones) or (zones and location is UNKNOWN and not any(reasons)):
            what = f"{key} or the location of its cluster"
            fix = "give locations and zones as plain values"
            yield resource.finding(what, ZONES_RULE, fix, certain=False)


def _judge_pool_location(pool: Resource, given: Any, owner: Cluster | None) -> Iterator[Finding]:
    if owner is None or given is UNKNOWN or not text(given) or not text(owner.location):
        return
    if text(given).lower() != text(owner.location).lower():
        yield pool.finding(
            f"location {shown(given)} is not the location of its cluster, {shown(owner.location)}",
            ZONES_RULE,
            f'set location to "{shown(owner.location)}" and choose zones with nodeLocations',
        )
