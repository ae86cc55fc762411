"""A checkpoint bucket lies in its cluster's region, and so do the zones of the cluster's pools.

Why: reads and writes across regions are slow and billed, a multi-region always bills egress, and a
zone outside the cluster's region is refused by GKE only during the update.
Source: docs.cloud.google.com/storage/docs/locations and
docs.cloud.google.com/kubernetes-engine/docs/concepts/regional-clusters, read on 2026-11-29.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from spotproof_gke.contract import ROLE_LABEL
from spotproof_gke.locations import is_zone
from spotproof_gke.rules.bucket_location import bucket_location_mismatch, mismatch_anywhere
from spotproof_gke.rules.bucket_references import BUCKET
from spotproof_gke.rules.bucket_users import Service, has_other_role, services_of
from spotproof_gke.rules.cluster_evidence import ClusterEvidence
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


def checkpoint_buckets(
    stack: Stack,
    allowed_dual_regions: Sequence[str] = (),
    cluster_locations: Mapping[str, str] = {},
    assigned: Mapping[str, str] = {},
) -> Iterator[Finding]:
    """Findings for every bucket that serves a cluster and lies elsewhere.

    Args:
        stack: The stack.
        allowed_dual_regions: Dual-regions that are accepted when they contain the cluster's region.
        cluster_locations: Regions or zones of clusters of other stacks, by cluster name.
        assigned: Cluster names by bucket name, for buckets that nothing else ties to a cluster.
    """
    evidence = ClusterEvidence(stack, cluster_locations)
    for bucket, services in services_of(stack, evidence, assigned):
        judged = [_judge(bucket, service, allowed_dual_regions) for service in services]
        found = [finding for finding in judged if finding]
        yield from sorted(found, key=lambda finding: not finding.certain)[:1]


def _judge(bucket: Resource, service: Service, allowed: Sequence[str]) -> Finding | None:
    """One finding for a bucket and the locations of the clusters that it may serve."""
    location, data = bucket.get("location"), _data_locations(bucket)
    if location is UNKNOWN or has_unknown(data):
        fix = "give the bucket its location as a plain value"
        what = f"the bucket's location ({service.why})"
        return None if service.doubt else bucket.finding(what, BUCKET_RULE, fix, certain=False)
    known = [place for place in service.locations if text(place)]
    reasons = [bucket_location_mismatch(location, place, data, allowed) for place in known]
    wrong = mismatch_anywhere(location, data, allowed)
    is_right = None in reasons
    is_unclear = not wrong and len(known) < max(len(service.locations), 1)
    if is_right and not (service.is_of_one and (is_unclear or any(reasons))):
        return None
    if is_right or is_unclear:
        what = f"{service.unclear} ({service.why})"
        fix = service.remedy
        return None if service.doubt else bucket.finding(what, BUCKET_RULE, fix, certain=False)
    reason = reasons[0] if reasons else wrong
    if service.doubt:
        what = f"{service.doubt}: {reason}"
        return bucket.finding(what, BUCKET_RULE, service.remedy, certain=False)
    region = region_or_none(known[0]) if known else None
    where = f'"{region.upper()}"' if region else "the cluster's region"
    fix = f"set location to {where} (a location cannot be changed later, so data must be copied)"
    if service.otherwise:
        fix += f", {service.otherwise}"
    return bucket.finding(f"{reason} ({service.why})", BUCKET_RULE, fix)


def _data_locations(bucket: Resource) -> Sequence[Any]:
    given = dig(bucket.get("customPlacementConfig"), "dataLocations")
    return (UNKNOWN,) if given is UNKNOWN else items(given)


def unlabelled_buckets(
    stack: Stack,
    allowed_dual_regions: Sequence[str] = (),
    cluster_locations: Mapping[str, str] = {},
    assigned: Mapping[str, str] = {},
) -> Iterator[Finding]:
    """Findings for buckets that nothing ties to a cluster, where all clusters share a region.

    Uncertain while the region of one of the clusters is not known. Arguments as for
    `checkpoint_buckets`.
    """
    evidence = ClusterEvidence(stack, cluster_locations)
    regions = regions_of(evidence.declared)
    known = regions - {None}
    if len(known) > 1 or not regions:
        return
    served = {id(bucket) for bucket, _ in services_of(stack, evidence, assigned)}
    region = next(iter(known), None)
    for bucket in stack.of_type(BUCKET):
        location, data = bucket.get("location"), _data_locations(bucket)
        if id(bucket) in served or has_other_role(bucket) or bucket.get("website"):
            continue
        if location is UNKNOWN or has_unknown(data):
            continue
        if region:
            reason = bucket_location_mismatch(location, region, data, allowed_dual_regions)
        else:
            reason = mismatch_anywhere(location, data, allowed_dual_regions)
        if reason:
            yield bucket.finding(
                reason,
                "a bucket in a stack whose clusters share a region usually serves them",
                f"move the bucket to {region or 'their region'} if it holds checkpoints; if it "
                f'does not, say what it is for with the label {ROLE_LABEL}, for example "logs"',
                certain=None not in regions,
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
        # A pool has its cluster's location, so that its own stands for one that is not known.
        location = given if text(given) and not text(location) else location
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
    if owner is None or not text(given) or not text(owner.location):
        return
    if text(given).lower() != text(owner.location).lower():
        yield pool.finding(
            f"location {shown(given)} is not the location of its cluster, {shown(owner.location)}",
            ZONES_RULE,
            f'set location to "{shown(owner.location)}" and choose zones with nodeLocations',
        )
