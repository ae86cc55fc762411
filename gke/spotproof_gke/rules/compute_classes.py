"""No compute class puts system pods on nodes that can be taken away.

Sources, read on 2026-11-30: docs.cloud.google.com/kubernetes-engine pages
how-to/run-pods-default-compute-classes (labels of a namespace, the class named `default`) and
concepts/about-built-in-compute-classes; documentation strings of pulumi-gcp 10.2.0
(`defaultComputeClassEnabled`).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from spotproof_gke.interruptible import SPOT_CLASS
from spotproof_gke.rules.clusters import CLUSTER, NODE_POOL, inline_pools
from spotproof_gke.rules.finding import Finding, Resource, Stack, shown
from spotproof_gke.rules.pools import flag
from spotproof_gke.rules.reading import UNKNOWN, dig, is_true, items, text
from spotproof_gke.rules.spot_scheduling import compute_classes_of
from spotproof_gke.rules.system_pods import (
    CRITICAL_PRIORITY_CLASSES,
    SYSTEM_NAMESPACES,
    SystemPod,
    is_system_namespace,
    system_pods,
)
from spotproof_gke.rules.workloads import kind_of

DEFAULT_CLASS_LABELS = (
    "cloud.google.com/default-compute-class",
    "cloud.google.com/default-compute-class-non-daemonset",
)
"""Labels by which a namespace gives its pods a class that they do not ask for."""

DEFAULT_POOL = "default-pool"
"""The name that GKE gives to the pool that a cluster makes itself."""

CLASS_RULE = "no compute class that system pods may get has a Spot or flex-start priority"
_FIX = "take the Spot and flex-start priorities out of the class, or give system pods another class"

Why = tuple[str, bool]
"""What a class may obtain, and whether that is certain."""


def system_compute_classes(
    stack: Stack,
    system_namespaces: Sequence[str] = SYSTEM_NAMESPACES,
    exempt_daemon_sets: bool = True,
    critical_priority_classes: Collection[str] = CRITICAL_PRIORITY_CLASSES,
) -> Iterator[Finding]:
    """Findings for what gives system pods a compute class with a Spot or flex-start priority.

    A class that the stack does not hold is not judged.
    """
    judged = (system_namespaces, exempt_daemon_sets, critical_priority_classes)
    pools = _pools_that_end(stack)
    classes: dict[str, Why] = {SPOT_CLASS: ("Spot nodes", True)}
    for resource in stack.resources:
        if _is_class(resource):
            why = _why_ends(resource, pools)
            if why:
                classes[_name(resource)] = why
                yield from _cluster_default(stack, resource, why)
    for resource in stack.resources:
        if kind_of(resource) == "Namespace":
            yield from _namespace_default(resource, classes, system_namespaces)
        elif len(classes) > 1:  # with GKE's own alone there is nothing to find
            yield from _selected(resource, classes, system_pods(resource, *judged))


def _is_class(resource: Resource) -> bool:
    return kind_of(resource) == "ComputeClass" and ":cloud.google.com/" in resource.type


def _name(resource: Resource) -> str:
    return text(dig(resource.get("metadata"), "name")) or resource.name


def _pools_that_end(stack: Stack) -> dict[str, str]:
    """Spot, preemptible and flex-start pools of the stack: name to words for what they are."""
    pools = [
        (text(pool.get("name")) or pool.name, pool.get("nodeConfig"))
        for pool in stack.of_type(NODE_POOL)
    ]
    for cluster in stack.of_type(CLUSTER):
        listed = inline_pools(cluster)
        pools += [(text(pool.get("name")), pool.get("nodeConfig")) for pool in listed]
        if not listed and not is_true(cluster.get("removeDefaultNodePool")):
            pools.append((DEFAULT_POOL, cluster.get("nodeConfig")))
    found = {}
    for name, config in pools:
        if flag(config, "spot") or flag(config, "preemptible"):
            found[name] = "Spot nodes"
        elif flag(config, "flexStart"):
            found[name] = "flex-start nodes"
    return found


def _why_ends(resource: Resource, pools: Mapping[str, str]) -> Why | None:
    """Why nodes of a class can be taken away, or end; the certain reason before others."""
    spec = resource.get("spec")
    reasons = list(_reasons(dig(spec, "priorities"), pools))
    certain = [reason for reason in reasons if reason[1]]
    return (certain or reasons or [None])[0]


def _reasons(priorities: Any, pools: Mapping[str, str]) -> Iterator[Why]:
    for number, priority in enumerate([UNKNOWN] if priorities is UNKNOWN else items(priorities)):
        spot, flex = dig(priority, "spot"), dig(priority, "flexStart", "enabled")
        where = f"by priorities[{number}]"
        if is_true(spot):
            yield f"Spot nodes {where}", True
        if is_true(flex):
            yield f"flex-start nodes {where}", True
        if UNKNOWN in (spot, flex):
            yield "Spot nodes by a priority that is unknown", False
        for name in items(dig(priority, "nodepools")):
            if text(name) in pools:
                yield f"{pools[text(name)]} of pool {shown(text(name))} {where}", True


def _cluster_default(stack: Stack, resource: Resource, why: Why) -> Iterator[Finding]:
    if _name(resource) != "default":
        return
    answers = [
        dig(cluster.get("clusterAutoscaling"), "defaultComputeClassEnabled")
        for cluster in stack.of_type(CLUSTER)
        if not is_true(cluster.get("enableAutopilot"))
    ]
    if not any(answer is UNKNOWN or is_true(answer) for answer in answers):
        return
    # Which of several clusters a class is in cannot be read from its resource.
    certain = why[1] and all(is_true(answer) for answer in answers)
    what = f"the class default, which its cluster gives to every pod without one, takes {why[0]}"
    yield resource.finding(what, CLASS_RULE, _FIX, certain)


def _namespace_default(
    resource: Resource, classes: Mapping[str, Why], namespaces: Sequence[str]
) -> Iterator[Finding]:
    name = dig(resource.get("metadata"), "name")
    labels = dig(resource.get("metadata"), "labels")
    known = name is not UNKNOWN
    if known and not is_system_namespace(text(name) or resource.name, namespaces):
        return
    if labels is UNKNOWN:
        yield resource.finding("the labels of a system namespace", CLASS_RULE, _FIX, False)
        return
    for key in DEFAULT_CLASS_LABELS:
        chosen = dig(labels, key)
        if chosen is UNKNOWN:
            what = f"which class the label {key} gives to pods of a system namespace"
            yield resource.finding(what, CLASS_RULE, _FIX, False)
        elif text(chosen) in classes:
            takes, certain = classes[text(chosen)]
            what = f"label {key}={shown(text(chosen))}, a class that takes {takes}"
            yield resource.finding(what, CLASS_RULE, _FIX, certain and known)


def _selected(
    resource: Resource, classes: Mapping[str, Why], pods: Iterable[SystemPod]
) -> Iterator[Finding]:
    for pod in pods:
        for chosen in dict.fromkeys(compute_classes_of(pod.spec)):
            # The class of GKE's own is one of the labels that `system-workload-off-spot` knows.
            if chosen in classes and chosen != SPOT_CLASS:
                takes, certain = classes[chosen]
                what = f"{pod.what} asks for the class {shown(chosen)}, which takes {takes}"
                yield resource.finding(what, CLASS_RULE, _FIX, certain and pod.certain)
