"""How many nodes a pool may have, and how many an upgrade adds or takes away.

Sources, read on 2026-11-29: preconditions of GoogleCloudPlatform/cluster-toolkit
(modules/compute/gke-node-pool); documentation strings of pulumi-gcp 10.2.0.
"""

from collections.abc import Iterator

from spotproof_gke.rules.pool_shape import Conflict, PoolShape
from spotproof_gke.rules.reading import UNKNOWN, dig, items, number


def judge_size(pool: PoolShape) -> Iterator[Conflict]:
    """A fixed number or limits, of one kind, in their order."""
    static, initial = pool.props.get("nodeCount"), pool.props.get("initialNodeCount")
    # Flex-start has no static number at all: said once, by its own rule.
    if static not in (None, UNKNOWN) and not pool.flex_start:
        for path, other in (("autoscaling", pool.autoscaling), ("initialNodeCount", initial)):
            if other not in (None, UNKNOWN, {}):
                rule = "a static number of nodes excludes autoscaling and an initial number"
                found = "…" if path == "autoscaling" else other
                yield Conflict(path, found, rule, "keep one", refused=False)
                break
    limits = pool.autoscaling

    def has_some(key: str) -> bool:
        return (number(limits[key]) or 0) > 0

    per_zone = [key for key in ("minNodeCount", "maxNodeCount") if limits.get(key) is not None]
    total = [k for k in ("totalMinNodeCount", "totalMaxNodeCount") if limits.get(k) is not None]
    if per_zone and total:
        # GKE answers with zero for the limits of the kind that a pool does not have.
        zone_limit = next(filter(has_some, per_zone), None)
        both = zone_limit is not None and any(map(has_some, total))
        rule, path = "limits hold for each zone or in total, not both", zone_limit or per_zone[0]
        yield Conflict(f"autoscaling.{path}", limits[path], rule, "keep one kind", refused=both)
        return
    yield from _ordered(pool, in_total=bool(total))


def _ordered(pool: PoolShape, in_total: bool) -> Iterator[Conflict]:
    """Least <= initial <= most, where these are known; the initial number is that of each zone."""
    least_key, most_key = ("minNodeCount", "maxNodeCount")
    if in_total:
        least_key, most_key = ("totalMinNodeCount", "totalMaxNodeCount")
    least, most = number(pool.autoscaling.get(least_key)), number(pool.autoscaling.get(most_key))
    if most is not None and most < 1:
        rule = "a pool that is scaled may reach at least one node"
        yield Conflict(f"autoscaling.{most_key}", pool.autoscaling[most_key], rule, "raise it")
        return
    if least is not None and most is not None and least > most:
        rule = f"the least number of nodes is not above the most ({most:g})"
        yield Conflict(f"autoscaling.{least_key}", pool.autoscaling[least_key], rule, "lower it")
    zones = len(items(pool.props.get("nodeLocations"))) if in_total else 1
    stated = pool.props.get("initialNodeCount")
    initial = number(stated)
    if initial is None:
        return
    scales_from_zero = pool.flex_start or pool.queued
    if not in_total and not scales_from_zero and least is not None and initial < least:
        rule = f"the pool starts with fewer nodes in a zone than its least number ({least:g})"
        yield Conflict("initialNodeCount", stated, rule, "raise it", refused=False)
    if most is not None and initial * zones > most:
        nodes = f"{initial * zones:g}"
        rule = f"the pool starts with {nodes} nodes, above the most it may have ({most:g})"
        fix = "lower it, or raise the most"
        yield Conflict("initialNodeCount", stated, rule, fix, refused=False)


def judge_surge(pool: PoolShape) -> Iterator[Conflict]:
    """An upgrade that can go on."""
    settings = pool.props.get("upgradeSettings")
    surge, away = dig(settings, "maxSurge"), dig(settings, "maxUnavailable")
    if UNKNOWN in (surge, away) or None in (surge, away):
        return
    if (number(surge) or 0) + (number(away) or 0) < 1:
        rule = "an upgrade adds a node or takes one away: the two together are at least 1"
        yield Conflict("upgradeSettings.maxSurge", surge, rule, "raise it, or maxUnavailable")
