"""The subnetwork of a cluster lies in its region.

Why: a subnetwork belongs to one region, and GKE takes the one of that name or link in the
cluster's region. A preview accepts any other; the update then fails with "Subnetwork ... is not
valid for Network" or "does not exist in specified region".
Source: docs.cloud.google.com/kubernetes-engine/docs/how-to/alias-ips and
github.com/terraform-google-modules/terraform-google-kubernetes-engine/issues/467,
read on 2026-11-30.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from spotproof_gke.rules.clusters import Cluster, clusters_of, region_or_none
from spotproof_gke.rules.finding import Finding, Resource, Stack, shown
from spotproof_gke.rules.reading import UNKNOWN, dig, text

SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
RULE = "the subnetwork of a cluster lies in the cluster's region"

_LINK = re.compile(r"(?:^|/)regions/([^/]+)/subnetworks/([^/]+)$", re.IGNORECASE)
_PLACES: tuple[tuple[str, ...], ...] = (
    ("subnetwork",),
    ("privateClusterConfig", "privateEndpointSubnetwork"),
)


def region_of_subnetwork(subnetwork: Resource) -> Any:
    """A subnetwork's region: its own, else the provider's; UNKNOWN, or None when there is none."""
    own = subnetwork.get("region")
    for given in (own, subnetwork.provider.get("region")):
        if given is UNKNOWN or text(given):
            return given
    return region_or_none(subnetwork.provider.get("zone"))


def cluster_subnetworks(stack: Stack) -> Iterator[Finding]:
    """Findings for clusters whose subnetwork lies in another region."""
    declared = _Subnetworks(stack.of_type(SUBNETWORK))
    for cluster in clusters_of(stack):
        for path in _PLACES:
            given = dig(cluster.resource.get(path[0]), *path[1:])
            regions = declared.regions_for(given, cluster.resource.depends_on(path[0]))
            yield from _judge(cluster, ".".join(path), given, regions)


class _Subnetworks:
    """The subnetworks of a stack, by name and by URN."""

    def __init__(self, subnetworks: Iterable[Resource]) -> None:
        self._by_urn: dict[str, Resource] = {}
        self._by_name: dict[str, list[Resource]] = {}
        for subnetwork in subnetworks:
            self._by_urn[subnetwork.urn] = subnetwork
            name = text(subnetwork.get("name"))
            self._by_name.setdefault(name, []).append(subnetwork)

    def regions_for(self, given: Any, urns: Sequence[str]) -> list[Any]:
        """Regions of the subnetworks that `given` may be; `UNKNOWN` for one that is not known."""
        name = text(given)
        link = _LINK.search(name)
        if link:
            return [link.group(1)]
        depended = [self._by_urn[urn] for urn in urns if urn in self._by_urn]
        if given is UNKNOWN:
            return [region_of_subnetwork(each) for each in depended] or [UNKNOWN]
        named = self._by_name.get(name, []) or depended if name else []
        return [region_of_subnetwork(each) for each in named]


def _judge(cluster: Cluster, key: str, given: Any, regions: Sequence[Any]) -> Iterator[Finding]:
    resource = cluster.resource
    known = {text(region).lower() for region in regions}
    if not regions or None in regions or cluster.region in known:
        return
    if cluster.location is UNKNOWN or UNKNOWN in regions:
        what = f"{key} or its region, or the location of the cluster"
        fix = "give the subnetwork and the cluster a region as a plain value"
        yield resource.finding(what, RULE, fix, certain=False)
    elif cluster.region:
        name = f" {shown(text(given).split('/')[-1])}" if text(given) else ""
        yield resource.finding(
            f"{key}{name} lies in {shown('+'.join(sorted(known)))}, while the cluster runs in "
            f"{cluster.region}",
            RULE,
            f"use a subnetwork of region {cluster.region}",
        )
