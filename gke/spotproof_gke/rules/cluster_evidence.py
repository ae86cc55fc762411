"""On which clusters a workload may run, as far as a stack and the configuration show it."""

from collections.abc import Iterable, Mapping
from typing import Any

from spotproof_gke.rules.clusters import Cluster, Clusters, clusters_of, configured_clusters
from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.reading import UNKNOWN, text


class ClusterEvidence:
    """The clusters that a stack declares and that the configuration names.

    Attributes:
        declared: The clusters of the stack.
        configured: Those that only the configuration knows.
        clusters: All of them.
        everywhere: Their locations.
    """

    def __init__(self, stack: Stack, locations: Mapping[str, str] = {}) -> None:
        self._stack = stack
        self.declared: Clusters = clusters_of(stack)
        own = {name for cluster in self.declared for name in cluster.names}
        self.configured: Clusters = configured_clusters(
            {name: location for name, location in locations.items() if name not in own}
        )
        self.clusters: Clusters = Clusters([*self.declared, *self.configured])
        self._under: dict[str, list[Cluster]] = {}
        for cluster in self.declared:
            for urn in (cluster.resource.urn, *stack.ancestors(cluster.resource)):
                self._under.setdefault(urn, []).append(cluster)
        self._by_provider: dict[str, tuple[Any, ...]] = {}
        self._by_component: dict[str, tuple[Any, ...]] = {}
        self.everywhere: tuple[Any, ...] = places(self.clusters)

    def inside(self, urn: str) -> tuple[Any, ...]:
        """Locations of the cluster of a URN, or of those inside the component of a URN."""
        if urn not in self._by_component:
            self._by_component[urn] = places(self._under.get(urn, []))
        return self._by_component[urn]

    def places_of(self, workload: Resource) -> tuple[Any, ...]:
        """Locations of the clusters that a workload may run on; UNKNOWN or "" when not known.

        Those of its provider; else those in the nearest component above it; else all.
        """
        urn = workload.provider_urn
        if urn not in self._by_provider:
            self._by_provider[urn] = self._places_of_provider(urn)
        if self._by_provider[urn]:
            return self._by_provider[urn]
        return self.near(workload)

    def runs_on(self, workload: Resource) -> list[Cluster]:
        """The clusters of the stack that a workload may run on, found as by `places_of`."""
        provider = self._stack.by_urn.get(workload.provider_urn)
        found = self.declared.of_urns(_needed(provider))
        above = (self._under.get(urn, []) for urn in self._stack.ancestors(workload))
        return found or next(filter(None, above), list(self.declared))

    def near(self, resource: Resource) -> tuple[Any, ...]:
        """Locations of the clusters in the nearest component above a resource, else of all."""
        above = (self.inside(urn) for urn in self._stack.ancestors(resource))
        return next(filter(None, above), self.everywhere)

    def _places_of_provider(self, urn: str) -> tuple[Any, ...]:
        provider = self._stack.by_urn.get(urn)
        if provider is None:
            return ()
        found = self.declared.of_urns(_needed(provider))
        # gcloud names the contexts that it writes gke_PROJECT_LOCATION_NAME.
        parts = text(provider.get("context")).split("_")
        if not found and len(parts) == 4 and parts[0] == "gke":
            return (parts[2],)
        return places(found)


def _needed(provider: Resource | None) -> list[str]:
    """All that a provider's properties depend on."""
    if provider is None:
        return []
    return [each for key in provider.dependencies or {} for each in provider.depends_on(key)]


def places(clusters: Iterable[Cluster]) -> tuple[Any, ...]:
    """The locations of clusters, each once; UNKNOWN or "" for one that is not known."""
    return tuple(
        dict.fromkeys(
            UNKNOWN if cluster.location is UNKNOWN else text(cluster.location)
            for cluster in clusters
        )
    )
