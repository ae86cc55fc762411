"""Which clusters a bucket serves, as far as a stack and the configuration show it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spotproof_gke.contract import (
    CHECKPOINTS_ROLE,
    CLUSTER_LABEL,
    CLUSTER_LOCATION_LABEL,
    ROLE_LABEL,
)
from spotproof_gke.rules.bucket_references import BUCKET, References, User
from spotproof_gke.rules.cluster_evidence import ClusterEvidence, places
from spotproof_gke.rules.finding import Resource, Stack, shown
from spotproof_gke.rules.reading import UNKNOWN, dig, text


@dataclass(frozen=True)
class Service:
    """Why a bucket is judged, and where the clusters are that it may serve.

    Attributes:
        why: How the bucket was found; safe to print.
        locations: Locations of the clusters that it may serve; UNKNOWN or "" stands for one that is
            not known.
        unclear: What stands in the way when it is not known which location counts.
        remedy: What to do about that.
        otherwise: What to do, beside moving the bucket, when it does not serve the cluster.
        is_of_one: Whether it serves one cluster of these and must lie in that one's region, so that
            the region of another does not do.
        doubt: What is not known about the tie itself, "" when the tie is certain.
    """

    why: str
    locations: tuple[Any, ...]
    unclear: str = "the cluster's location"
    remedy: str = "give the cluster its location as a plain value"
    otherwise: str = ""
    is_of_one: bool = False
    doubt: str = ""


def label(bucket: Resource, key: str) -> Any:
    """A label of a bucket, its own before what provider defaults add; UNKNOWN or None."""
    for source in ("labels", "effectiveLabels"):
        value = dig(bucket.get(source), key)
        if value is not None:
            return value
    return None


def has_other_role(bucket: Resource) -> bool:
    """Whether a bucket's label says that it holds something else than checkpoints."""
    role = text(label(bucket, ROLE_LABEL))
    return bool(role) and role != CHECKPOINTS_ROLE


def services_of(
    stack: Stack, evidence: ClusterEvidence, assigned: Mapping[str, str] = {}
) -> Iterator[tuple[Resource, list[Service]]]:
    """Each bucket that serves a cluster, or may do so, with the services to judge it by.

    The first of these that applies: labels, naming in a workload, a component in common, the
    configuration; else a workload with a value that may be the bucket's name. A bucket whose label
    says that it holds something else than checkpoints is not judged.

    Args:
        stack: The stack.
        evidence: The clusters of the stack and of the configuration.
        assigned: Cluster names by the name of a bucket, from the configuration.
    """
    references = References(stack)
    for bucket in stack.of_type(BUCKET):
        if has_other_role(bucket):
            continue
        services = (
            _by_label(bucket, evidence)
            or _by_workload(references.to(bucket), evidence)
            or _by_component(bucket, stack, evidence)
            or _by_configuration(bucket, evidence, assigned)
            or _by_doubt(bucket, references, evidence)
        )
        if services:
            yield bucket, services


def _by_label(bucket: Resource, evidence: ClusterEvidence) -> list[Service]:
    name = label(bucket, CLUSTER_LABEL)
    place = label(bucket, CLUSTER_LOCATION_LABEL)
    why = f"label {CLUSTER_LABEL}={shown(name)}"
    if name is UNKNOWN:
        depended = evidence.declared.of_urns(bucket.depends_on("labels"))
        if depended:
            return [Service("its labels come from the cluster", places(depended))]
    named = evidence.declared.called(text(name))
    if named:
        same = [c for c in named if text(c.location).lower() == text(place).lower()]
        return [Service(why, places(same or named))]
    if text(place):
        return [Service(f"label {CLUSTER_LOCATION_LABEL}={shown(place)}", (place,))]
    configured = evidence.configured.called(text(name))
    if configured:
        return [Service(f"{why}, its location from the configuration", places(configured))]
    if name is UNKNOWN or place is UNKNOWN:
        remedy = "give the bucket's labels as plain values"
        return [Service(f"label {CLUSTER_LABEL}", (UNKNOWN,), "which cluster it serves", remedy)]
    if text(name):
        unclear = f"the location of cluster {shown(name)}, which is not in this stack"
        remedy = (
            f"say it by the label {CLUSTER_LOCATION_LABEL}, or by clusters in the configuration"
        )
        return [Service(why, (), unclear, remedy)]
    if text(label(bucket, ROLE_LABEL)) == CHECKPOINTS_ROLE and evidence.clusters:
        return [Service(f"label {ROLE_LABEL}={CHECKPOINTS_ROLE}", evidence.everywhere)]
    return []


def _by_workload(users: Sequence[User], evidence: ClusterEvidence) -> list[Service]:
    services: dict[tuple[Any, ...], Service] = {}
    for user in users:
        where = evidence.places_of(user.resource)
        if where and where not in services:
            name = shown(user.resource.name)
            services[where] = Service(
                f"used by workload {name}",
                where,
                f"on which cluster workload {name} runs, or where that is",
                f"name the cluster in the bucket's label {CLUSTER_LABEL}",
                is_of_one=True,
            )
    return list(services.values())


def _by_component(bucket: Resource, stack: Stack, evidence: ClusterEvidence) -> list[Service]:
    for urn in stack.ancestors(bucket):
        inside = evidence.inside(urn)
        if inside:
            parent = stack.by_urn.get(urn)
            name = shown(parent.name) if parent else "one component"
            return [
                Service(
                    f"in component {name} with its cluster",
                    inside,
                    otherwise=f"or say by the label {ROLE_LABEL} what else it holds",
                )
            ]
    return []


def _by_configuration(
    bucket: Resource, evidence: ClusterEvidence, assigned: Mapping[str, str]
) -> list[Service]:
    name = text(bucket.get("name"))
    key = name if name in assigned else bucket.name
    cluster = text(assigned.get(key))
    if not cluster:
        return []
    why = f"the configuration's buckets: {shown(key)} serves {shown(cluster)}"
    found = evidence.declared.called(cluster) or evidence.configured.called(cluster)
    if found:
        return [Service(why, places(found))]
    unclear = f"the location of cluster {shown(cluster)}, which is not in this stack"
    return [Service(why, (), unclear, "say it by clusters in the configuration")]


def _by_doubt(bucket: Resource, references: References, evidence: ClusterEvidence) -> list[Service]:
    """For a bucket that nothing is known to use, while a name that would tell is unknown."""
    users = references.unclear
    what = "which holds a value that is not known"
    if bucket.get("name") is UNKNOWN and not users:
        users = references.of_strangers
        what = "which names a bucket, while the name of this one is not known"
    if not users or not evidence.clusters:
        return []
    who = f"workload {shown(users[0].resource.name)}"
    if len(users) > 1:
        who += f" or {len(users) - 1} more"
    remedy = (
        f"say by the bucket's label {CLUSTER_LABEL} which cluster it serves, or by {ROLE_LABEL} "
        "what else it holds"
    )
    doubt = f"whether {who} uses it, {what}"
    return [Service("no known user", evidence.everywhere, remedy=remedy, doubt=doubt)]
