"""Which clusters a bucket serves, as far as a stack shows it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from spotproof_gke.contract import (
    CHECKPOINTS_ROLE,
    CLUSTER_LABEL,
    CLUSTER_LOCATION_LABEL,
    ROLE_LABEL,
)
from spotproof_gke.rules.clusters import Cluster
from spotproof_gke.rules.finding import Resource, Stack, shown
from spotproof_gke.rules.reading import UNKNOWN, dig, items, mapping, text
from spotproof_gke.rules.workloads import containers, kind_of, pod_specs

BUCKET = "gcp:storage/bucket:Bucket"
FUSE_DRIVER = "gcsfuse.csi.storage.gke.io"

_GS_ADDRESS = re.compile(r"gs://([a-z0-9][a-z0-9._-]*[a-z0-9])", re.IGNORECASE)


@dataclass(frozen=True)
class Service:
    """Why a bucket is judged, and where the clusters are that it may serve.

    Attributes:
        why: How the bucket was found; safe to print.
        locations: Locations of the clusters that it may serve; UNKNOWN or None stands for one that
            is not known.
        unclear: What stands in the way when the locations are not known.
        otherwise: What to do, beside moving the bucket, when it does not serve the cluster.
    """

    why: str
    locations: tuple[Any, ...]
    unclear: str = "the cluster's location"
    otherwise: str = ""


def label(bucket: Resource, key: str) -> Any:
    """A label of a bucket, its own before what provider defaults add; UNKNOWN or None."""
    for source in ("labels", "effectiveLabels"):
        value = dig(bucket.get(source), key)
        if value is not None:
            return value
    return None


def services_of(
    stack: Stack, clusters: Sequence[Cluster]
) -> Iterator[tuple[Resource, list[Service]]]:
    """Each bucket that is known to serve a cluster, with the services to judge it by.

    The first of these that applies: labels, naming in a workload, a component in common. A bucket
    whose label says that it holds something else than checkpoints is not judged.
    """
    workloads = [user for resource in stack.resources for user in _users(resource)]
    for bucket in stack.of_type(BUCKET):
        role = text(label(bucket, ROLE_LABEL))
        if role and role != CHECKPOINTS_ROLE:
            continue
        services = (
            _by_label(bucket, clusters)
            or _by_workload(bucket, workloads, stack, clusters)
            or _by_component(bucket, stack, clusters)
        )
        if services:
            yield bucket, services


def _places(clusters: Sequence[Cluster]) -> tuple[Any, ...]:
    return tuple(cluster.location for cluster in clusters)


def _by_label(bucket: Resource, clusters: Sequence[Cluster]) -> list[Service]:
    name = label(bucket, CLUSTER_LABEL)
    elsewhere = label(bucket, CLUSTER_LOCATION_LABEL)
    if name is UNKNOWN:
        urns = bucket.depends_on("labels")
        depended = [c for c in clusters if c.resource.urn and c.resource.urn in urns]
        if depended:
            return [Service("its labels come from the cluster", _places(depended))]
    if text(name):
        named = [c for c in clusters if text(name) in c.names] or [
            c for c in clusters if text(name) == c.resource.name
        ]
        same = [c for c in named if text(c.location).lower() == text(elsewhere).lower()]
        if named:
            return [Service(f"label {CLUSTER_LABEL}={shown(name)}", _places(same or named))]
    if text(elsewhere):
        return [Service(f"label {CLUSTER_LOCATION_LABEL}={shown(elsewhere)}", (elsewhere,))]
    if name is UNKNOWN or elsewhere is UNKNOWN:
        return [Service(f"label {CLUSTER_LABEL}", (UNKNOWN,), "which cluster it serves")]
    if text(name):
        unclear = (
            f"the location of cluster {shown(name)}, which is not in this stack; "
            f"the label {CLUSTER_LOCATION_LABEL} would say it"
        )
        return [Service(f"label {CLUSTER_LABEL}={shown(name)}", (), unclear)]
    if text(label(bucket, ROLE_LABEL)) == CHECKPOINTS_ROLE and clusters:
        return [Service(f"label {ROLE_LABEL}={CHECKPOINTS_ROLE}", _places(clusters))]
    return []


@dataclass(frozen=True)
class _User:
    """A workload or volume, the bucket names in it, and all that its specification depends on."""

    resource: Resource
    buckets: frozenset[str]
    urns: frozenset[str]


def _users(resource: Resource) -> Iterator[_User]:
    specs = [each.spec for each in pod_specs(resource)]
    names = {name for spec in specs for name in _buckets_in(spec)}
    if kind_of(resource) == "PersistentVolume":
        source = dig(resource.get("spec"), "csi")
        if text(dig(source, "driver")) == FUSE_DRIVER:
            names.add(text(dig(source, "volumeHandle")))
        specs.append(source)
    if specs:
        urns = {*resource.depends_on("spec"), *resource.depends_on("template")}
        yield _User(resource, frozenset(names - {""}), frozenset(urns))


def _buckets_in(spec: object) -> Iterator[str]:
    """Names of the buckets that a pod specification mounts or names in `gs://` addresses."""
    for volume in items(mapping(spec).get("volumes")):
        source = dig(volume, "csi")
        if text(dig(source, "driver")) == FUSE_DRIVER:
            yield text(dig(source, "volumeAttributes", "bucketName"))
    for container in containers(spec):
        words = [*items(container.get("command")), *items(container.get("args"))]
        words += [mapping(each).get("value") for each in items(container.get("env"))]
        for word in words:
            yield from _GS_ADDRESS.findall(text(word))


def _by_workload(
    bucket: Resource, users: Sequence[_User], stack: Stack, clusters: Sequence[Cluster]
) -> list[Service]:
    if not clusters:
        return []
    name = text(bucket.get("name"))
    services = []
    for user in users:
        if (name and name in user.buckets) or (bucket.urn and bucket.urn in user.urns):
            places = _places(_clusters_behind(user.resource, stack, clusters))
            services.append(Service(f"used by workload {shown(user.resource.name)}", places))
    return services


def _clusters_behind(
    workload: Resource, stack: Stack, clusters: Sequence[Cluster]
) -> Sequence[Cluster]:
    """The clusters that a workload may run on: those its provider depends on, else all."""
    provider = stack.by_urn.get(workload.provider_urn)
    urns = set(provider.depends_on("kubeconfig")) if provider else set()
    return [c for c in clusters if c.resource.urn and c.resource.urn in urns] or clusters


def _by_component(bucket: Resource, stack: Stack, clusters: Sequence[Cluster]) -> list[Service]:
    above = {c.resource.urn: set(stack.ancestors(c.resource)) for c in clusters if c.resource.urn}
    for urn in stack.ancestors(bucket):
        inside = [
            c
            for c in clusters
            if c.resource.urn and (urn == c.resource.urn or urn in above[c.resource.urn])
        ]
        if inside:
            parent = stack.by_urn.get(urn)
            name = shown(parent.name) if parent else "one component"
            return [
                Service(
                    f"in component {name} with its cluster",
                    _places(inside),
                    otherwise=f"or say by the label {ROLE_LABEL} what else it holds",
                )
            ]
    return []
