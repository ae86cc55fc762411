"""GKE clusters and their pools, found among the resources of a stack."""

from collections.abc import Iterable, Mapping
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


class Clusters(list[Cluster]):
    """Clusters in the order of the stack, found by URN or by name without a search."""

    def __init__(self, found: Iterable[Cluster] = ()) -> None:
        super().__init__(found)
        self._by_urn = {c.resource.urn: c for c in self if c.resource.urn}
        self._by_name: dict[str, list[Cluster]] = {}
        self._by_program_name: dict[str, list[Cluster]] = {}
        for cluster in self:
            self._by_program_name.setdefault(cluster.resource.name, []).append(cluster)
            for name in cluster.names:
                self._by_name.setdefault(name, []).append(cluster)

    def of_urns(self, urns: Iterable[str]) -> list[Cluster]:
        """The clusters among resources."""
        return [self._by_urn[urn] for urn in dict.fromkeys(urns) if urn in self._by_urn]

    def named(self, name: str) -> list[Cluster]:
        """The clusters of a name, as another resource would give it."""
        return self._by_name.get(name, [])

    def called(self, name: str) -> list[Cluster]:
        """The clusters of a name in the cloud, else of a name in the program."""
        return self.named(name) or self._by_program_name.get(name, [])


def clusters_of(stack: Stack) -> Clusters:
    """All clusters of a stack."""
    found = []
    for resource in stack.of_type(CLUSTER):
        location = location_of(resource)
        found.append(Cluster(resource, location, region_or_none(location)))
    return Clusters(found)


def configured_clusters(locations: Mapping[str, str]) -> Clusters:
    """Clusters that only the configuration knows: regions or zones by cluster name."""
    return Clusters(
        Cluster(Resource(CLUSTER, name), location, region_or_none(location))
        for name, location in locations.items()
    )


def regions_of(clusters: Iterable[Cluster]) -> set[str | None]:
    """The regions of clusters; None stands for those whose region is not known."""
    return {cluster.region for cluster in clusters}


def owner_of(pool: Resource, clusters: Clusters) -> Cluster | None:
    """The cluster of the stack that a node pool belongs to, or None.

    By the name or id that the pool gives; else, when that is unknown or names none, by the
    clusters that its `cluster` property depends on.
    """
    named = _named_by(pool, clusters)
    depended = clusters.of_urns(pool.depends_on("cluster"))
    if named:
        depended = [c for c in depended if any(c is each for each in named)]
    if len(depended) == 1:
        return depended[0]
    return named[0] if named else None


def _named_by(pool: Resource, clusters: Clusters) -> list[Cluster]:
    parts = text(pool.get("cluster")).split("/")
    location, project = pool.get("location"), _project_of(pool)
    if "locations" in parts[:-1]:
        location = parts[parts.index("locations") + 1]
    if "projects" in parts[:-1]:
        project = parts[parts.index("projects") + 1]
    place = text(location).lower()
    return [
        cluster
        for cluster in clusters.named(parts[-1])
        if (not place or text(cluster.location).lower() in ("", place))
        and (not project or _project_of(cluster.resource) in ("", project))
    ]


def _project_of(resource: Resource) -> str:
    """The project of a resource: its own, else its provider's; "" when it is not known."""
    own = resource.get("project")
    return text(own if own is not None else resource.provider.get("project"))


def inline_pools(cluster: Resource) -> list[Mapping[str, Any]]:
    """The pools that a cluster lists itself, without those that hold no data."""
    pools = cluster.get("nodePools")
    if not isinstance(pools, (list, tuple)):
        return []
    return [pool for pool in pools if isinstance(pool, Mapping)]
