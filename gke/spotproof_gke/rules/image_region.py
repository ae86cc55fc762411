"""A Docker repository of Artifact Registry lies in the region of the clusters that pull from it.

Why: every new Spot node pulls its images again; from another region that is slower, and billed as
transfer between regions. A multi-region (us, europe, asia) that holds the region will do.
Source: docs.cloud.google.com/artifact-registry/docs/repositories/repo-locations and
cloud.google.com/artifact-registry/pricing, read on 2026-11-30.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from spotproof_gke.rules.cluster_evidence import ClusterEvidence
from spotproof_gke.rules.clusters import region_or_none
from spotproof_gke.rules.finding import Finding, Resource, Stack, shown
from spotproof_gke.rules.reading import UNKNOWN, text
from spotproof_gke.rules.workloads import containers, pod_specs

REPOSITORY = "gcp:artifactregistry/repository:Repository"
RULE = "an image repository lies in the region of the clusters that pull from it"
PUBLIC_PROJECTS = (
    "cloudrun",
    "deeplearning-platform-release",
    "gke-release",
    "google-samples",
    "vertex-ai",
)
"""Projects in which Google publishes images for everyone: nobody else can move them."""

_IMAGE = re.compile(r"^([a-z0-9-]+)-docker\.pkg\.dev/([^/\s]+)/([^/\s:@]+)")


def repository_elsewhere(repository_location: object, cluster_location: object) -> str | None:
    """Why a repository does not lie where a cluster runs, or None when it does.

    Args:
        repository_location: A region or a multi-region (`us`), in any letter case.
        cluster_location: The cluster's region or zone in any letter case.
    """
    place = text(repository_location).lower()
    region = region_or_none(cluster_location)
    if region is None:
        return f"the cluster's location {shown(cluster_location)} is neither a region nor a zone"
    if f"{region}-".startswith(f"{place}-"):
        return None
    return f"it lies in {shown(place)}, while the cluster runs in {region}"


@dataclass
class _Repository:
    """A repository, what it is reported at, and who pulls from it."""

    at: Resource
    location: Any
    name: str
    users: list[Resource] = field(default_factory=list)
    places: set[tuple[Any, ...]] = field(default_factory=set)


def image_repositories(
    stack: Stack,
    cluster_locations: Mapping[str, str] = {},
    public_projects: Collection[str] = PUBLIC_PROJECTS,
) -> Iterator[Finding]:
    """Findings for repositories that lie elsewhere than every cluster that pulls from them.

    Judged are the repositories that images of workloads name, and those that the stack declares
    where all its clusters share a region.

    Args:
        stack: The stack.
        cluster_locations: Regions or zones of clusters of other stacks, by cluster name.
        public_projects: Projects whose repositories are not judged.
    """
    evidence = ClusterEvidence(stack, cluster_locations)
    for repository in _repositories(stack, evidence, public_projects):
        places = [place for each in repository.places for place in each]
        if not repository.users:
            places = list(evidence.near(repository.at))
            if len({region_or_none(place) for place in places}) != 1:
                continue
        yield from _judge(repository, places)


def _repositories(
    stack: Stack, evidence: ClusterEvidence, public_projects: Collection[str]
) -> Iterator[_Repository]:
    by_urn: dict[str, _Repository] = {}
    declared: dict[tuple[str, str], _Repository] = {}
    named: dict[tuple[str, str, str], _Repository] = {}
    for resource in stack.of_type(REPOSITORY):
        if text(resource.get("format")).upper() == "DOCKER":
            name, location = text(resource.get("repositoryId")), _location(resource)
            repository = _Repository(resource, location, name or resource.name)
            by_urn[resource.urn] = repository
            declared.setdefault((text(location).lower(), name), repository)
    for workload in stack.resources:
        if not workload.type.startswith("kubernetes:"):
            continue
        urns = (*workload.depends_on("spec"), *workload.depends_on("template"))
        pulled = {urn: by_urn[urn] for urn in urns if urn in by_urn}
        for location, project, name in _images(workload):
            repository = declared.get((location, name))
            if repository is None and project not in public_projects:
                path = (location, project, name)
                repository = named.setdefault(path, _Repository(workload, location, name))
            if repository:
                pulled[f"{location}/{project}/{name}"] = repository
        for repository in {id(each): each for each in pulled.values()}.values():
            repository.users.append(workload)
            repository.places.add(evidence.places_of(workload))
    yield from by_urn.values()
    yield from named.values()


def _images(workload: Resource) -> Iterator[tuple[str, str, str]]:
    """Location, project and repository of each image of a workload."""
    for pod in pod_specs(workload):
        for container in containers(pod.spec):
            match = _IMAGE.match(text(container.get("image")))
            if match:
                yield match.group(1), match.group(2), match.group(3)


def _location(repository: Resource) -> Any:
    own = repository.get("location")
    for given in (own, repository.provider.get("region")):
        if given is UNKNOWN or text(given):
            return given
    return None


def _judge(repository: _Repository, places: Collection[Any]) -> Iterator[Finding]:
    known = [place for place in places if text(place)]
    reasons = [repository_elsewhere(repository.location, place) for place in known]
    is_unclear = repository.location is UNKNOWN or UNKNOWN in places
    if repository.location is None or None in reasons:
        return
    if not (repository.users if is_unclear else known):
        return
    who = ""
    if repository.users:
        who = f" (pulled by workload {shown(repository.users[0].name)}"
        more = len(repository.users) - 1
        who += f" and {more} more)" if more else ")"
    name = shown(repository.name)
    if is_unclear:
        what = f"whether repository {name} lies where its clusters run{who}"
        fix = "give the repository and the cluster a location as a plain value"
        yield repository.at.finding(what, RULE, fix, certain=False)
        return
    region = region_or_none(known[0]) or "the cluster's region"
    yield repository.at.finding(
        f"repository {name}: {reasons[0]}{who}",
        RULE,
        f"keep the images in a repository of {region}, or of the multi-region that holds it",
    )
