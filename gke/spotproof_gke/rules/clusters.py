"""GKE clusters and their pools, found among the resources of a stack."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spotproof_gke.locations import region_of
from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.reading import UNKNOWN, text

CLUSTER = "gcp:container/cluster:Cluster"
NODE_POOL = "gcp:container/nodePool:NodePool"


def region_or_none(location: object) -> str | None:
    """The region of a region or zone in any letter case; None when it has the form of neither."""
    try:
        return region_of(text(location))
    except ValueError:
        return None


def location_of(cluster: Resource) -> Any:
    """A cluster's location: its own, else the provider's default zone, as the provider reads it.

    `UNKNOWN` when the preview does not know it, None when there is none.
    """
    own = cluster.get("location")
    if own is UNKNOWN or text(own):
        return own
    return cluster.provider.get("zone")


@dataclass(frozen=True)
class Cluster:
    """A cluster of the stack.

    Attributes:
        resource: The cluster's resource.
        location: Its region or zone as stated; `UNKNOWN` or None when not known or not stated.
        region: Its region, lower case; None when it is not known.
    """

    resource: Resource
    location: Any
    region: str | None

    @property
    def names(self) -> tuple[str, ...]:
        """What another resource may call this cluster: its cloud name, else its program name."""
        name = text(self.resource.get("name"))
        return (name,) if name else (self.resource.name,)


def clusters_of(stack: Stack) -> list[Cluster]:
    """All clusters of a stack."""
    found = []
    for resource in stack.of_type(CLUSTER):
        location = location_of(resource)
        found.append(Cluster(resource, location, region_or_none(location)))
    return found


def regions_of(clusters: Iterable[Cluster]) -> set[str | None]:
    """The regions of clusters; None stands for those whose region is not known."""
    return {cluster.region for cluster in clusters}


def owner_of(pool: Resource, clusters: Sequence[Cluster]) -> Cluster | None:
    """The cluster of the stack that a node pool belongs to, or None.

    By the name or id that the pool gives; else, when that is unknown or names none, by the
    clusters that its `cluster` property depends on.
    """
    given = pool.get("cluster")
    named = [cluster for cluster in clusters if _names(given, pool.get("location"), cluster)]
    urns = pool.depends_on("cluster")
    depended = [c for c in (named or clusters) if c.resource.urn and c.resource.urn in urns]
    if len(depended) == 1:
        return depended[0]
    return named[0] if named else None


def _names(given: object, pool_location: object, cluster: Cluster) -> bool:
    parts = text(given).split("/")
    if parts[-1] not in cluster.names:
        return False
    location = parts[parts.index("locations") + 1] if "locations" in parts[:-1] else pool_location
    if not text(location) or not text(cluster.location):
        return True
    return text(location).lower() == text(cluster.location).lower()


def inline_pools(cluster: Resource) -> list[Mapping[str, Any]]:
    """The pools that a cluster lists itself, without those that hold no data."""
    pools = cluster.get("nodePools")
    if not isinstance(pools, (list, tuple)):
        return []
    return [pool for pool in pools if isinstance(pool, Mapping)]
