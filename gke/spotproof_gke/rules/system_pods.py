"""Which pods a cluster needs to work, in workloads and in the values of Helm releases.

Source of the priority classes: kubernetes.io/docs/tasks/administer-cluster/
guaranteed-scheduling-critical-addon-pods, read on 2026-11-29.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from spotproof_gke.rules.finding import Resource, shown
from spotproof_gke.rules.helm_values import release_namespace, scheduled_values
from spotproof_gke.rules.reading import UNKNOWN, mapping, text
from spotproof_gke.rules.workloads import pod_specs
from spotproof_gke.tables import table

SYSTEM_NAMESPACES: tuple[str, ...] = tuple(table("system_namespaces")["namespaces"])
"""Namespaces of what a cluster needs to work; `*` matches any ending."""

CRITICAL_PRIORITY_CLASSES = ("system-cluster-critical", "system-node-critical")
"""Priority classes of pods that a cluster needs, in whatever namespace."""


@dataclass(frozen=True)
class SystemPod:
    """What says where a system pod runs.

    Attributes:
        what: Words for the workload, and for what makes it one of the system's.
        spec: The pod specification, or the like in values; `UNKNOWN` when the preview does not
            know it.
        certain: Whether it certainly is a system pod.
        of_values: Whether it stands in the values of a Helm release, which name no kind.
        may_be_daemon_set: Whether the values may be those of a DaemonSet.
    """

    what: str
    spec: Any
    certain: bool
    of_values: bool = False
    may_be_daemon_set: bool = False


def system_pods(
    resource: Resource,
    system_namespaces: Sequence[str] = SYSTEM_NAMESPACES,
    exempt_daemon_sets: bool = True,
    critical_priority_classes: Collection[str] = CRITICAL_PRIORITY_CLASSES,
) -> Iterator[SystemPod]:
    """The system pods in a resource; none when it is no workload and no Helm release.

    Args:
        resource: Any resource.
        system_namespaces: Namespaces of system pods; `*` matches any ending.
        exempt_daemon_sets: Whether to pass over DaemonSets, which run on every node on purpose.
        critical_priority_classes: Priority classes of system pods in every namespace.
    """
    for pod in pod_specs(resource):
        why = _why_system(pod.namespace, pod.spec, system_namespaces, critical_priority_classes)
        if why and not (exempt_daemon_sets and pod.kind == "DaemonSet"):
            yield SystemPod(f"{pod.kind} {why[0]}", pod.spec, why[1])
    namespace = release_namespace(resource)
    for values in scheduled_values(resource):
        why = _why_system(namespace, values.spec, system_namespaces, critical_priority_classes)
        if why and not (exempt_daemon_sets and values.for_daemon_set):
            place = f"values {shown(values.path)}:" if values.path else "values:"
            yield SystemPod(
                f"Release {why[0]}, {place}",
                values.spec,
                why[1],
                of_values=True,
                may_be_daemon_set=not values.has_replicas,
            )


def _why_system(
    namespace: Any, spec: object, namespaces: Sequence[str], priority_classes: Collection[str]
) -> tuple[str, bool] | None:
    """Words for what makes a pod a system one, and whether that is certain; None when nothing."""
    priority = mapping(spec).get("priorityClassName")
    if is_system_namespace(text(namespace), namespaces):
        return f"in namespace {shown(namespace)}", True
    if text(priority) and text(priority) in priority_classes:
        return f"of priority {shown(priority)}", True
    if namespace is UNKNOWN:
        return "in an unknown namespace", False
    return ("of an unknown priority", False) if priority is UNKNOWN else None


def is_system_namespace(namespace: str, patterns: Sequence[str] = SYSTEM_NAMESPACES) -> bool:
    """Whether a namespace is one of `patterns`."""
    return any(fnmatchcase(namespace, pattern) for pattern in patterns)
