"""Nothing that a cluster needs to work runs on nodes that can be taken away.

Why: GKE labels a hand-made Spot pool but does not taint it, so any pod may land there, those of
kube-system included; and the autoscaler never removes a node that such a pod sits on.
Sources, read on 2026-11-29: docs.cloud.google.com/kubernetes-engine/docs/concepts/spot-vms,
docs.cloud.google.com/kubernetes-engine/docs/concepts/node-auto-provisioning,
kubernetes/autoscaler#2377.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from spotproof_gke.capacity import MANAGED_COMPONENTS_KEY, PROVISIONING_KEY
from spotproof_gke.interruptible import ON_DEMAND
from spotproof_gke.rules.clusters import NODE_POOL, Cluster, clusters_of, inline_pools, owner_of
from spotproof_gke.rules.finding import Finding, Resource, Stack, shown
from spotproof_gke.rules.pool_taints import (
    flex_start_pool_taints,
    flex_start_taint_mend,
    missing_flex_start_taint,
    missing_spot_taint,
    spot_pool_taints,
    spot_taint_mend,
)
from spotproof_gke.rules.pools import why_not_home
from spotproof_gke.rules.reading import UNKNOWN, is_true, text
from spotproof_gke.rules.spot_scheduling import BLANKET, spot_scheduling
from spotproof_gke.rules.system_pods import (
    CRITICAL_PRIORITY_CLASSES,
    SYSTEM_NAMESPACES,
    is_system_namespace,
    system_pods,
)

__all__ = [
    "CRITICAL_PRIORITY_CLASSES",
    "SYSTEM_NAMESPACES",
    "TOLERATED_TAINT_KEYS",
    "flex_start_pool_taints",
    "flex_start_taint_mend",
    "is_system_namespace",
    "missing_flex_start_taint",
    "missing_spot_taint",
    "spot_pool_taints",
    "spot_taint_mend",
    "system_pod_homes",
    "system_workloads",
]

TOLERATED_TAINT_KEYS = (MANAGED_COMPONENTS_KEY,)
"""Keys of hard taints that GKE's system pods tolerate."""

HOME_RULE = "a Standard cluster has an on-demand pool, without GPUs, that keeps at least one node"
WORKLOAD_RULE = "a system workload neither selects nor tolerates Spot nodes"
WORKLOAD_FIX = (
    "remove the toleration or selector, tolerate each taint that it needs by key, or select "
    f"on-demand nodes ({PROVISIONING_KEY}: {ON_DEMAND})"
)


def system_pod_homes(
    stack: Stack, tolerated_taint_keys: Sequence[str] = TOLERATED_TAINT_KEYS
) -> Iterator[Finding]:
    """Findings for Standard clusters whose system pods have no lasting on-demand home."""
    clusters = clusters_of(stack)
    owned: dict[int, list[Resource]] = {id(cluster.resource): [] for cluster in clusters}
    strays = False
    for pool in stack.of_type(NODE_POOL):
        owner = owner_of(pool, clusters)
        if owner:
            owned[id(owner.resource)].append(pool)
        elif pool.get("cluster") is UNKNOWN:
            strays = True
    for cluster in clusters:
        if not is_true(cluster.resource.get("enableAutopilot")):
            pools = owned[id(cluster.resource)]
            yield from _judge_home(cluster, pools, tolerated_taint_keys, strays)


def _judge_home(
    cluster: Cluster, pools: Sequence[Resource], tolerated: Sequence[str], strays: bool
) -> Iterator[Finding]:
    resource = cluster.resource
    reasons, doubt = [], strays or resource.get("enableAutopilot") is UNKNOWN
    for name, pool in _pools_of(resource, pools):
        reason, certain = why_not_home(pool, tolerated)
        if reason is None:
            return
        doubt = doubt or not certain
        reasons.append(f"{name} {reason}")
    if not reasons and not strays:
        return  # Nothing runs without a pool, so its pools are in another stack.
    if resource.get("removeDefaultNodePool") is UNKNOWN:
        doubt = True
    found = "its pools are " + ", ".join(reasons) if reasons else "no pool is known to be its own"
    yield resource.finding(
        f"no on-demand home for system pods: {found}",
        HOME_RULE,
        "add a node pool that is neither Spot nor flex-start, has no GPU, and has nodeCount or "
        "autoscaling.minNodeCount of 1 or more",
        certain=not doubt,
    )


_POOL_KEYS = ("nodeConfig", "autoscaling", "nodeCount", "initialNodeCount", "queuedProvisioning")


def _pools_of(
    cluster: Resource, declared: Sequence[Resource]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The pools of a cluster, each with a name to show.

    These are the declared ones, those that it lists itself, and a default pool that it keeps.
    """
    for pool in declared:
        yield shown(pool.name), {key: pool.get(key) for key in _POOL_KEYS}
    removed = is_true(cluster.get("removeDefaultNodePool"))
    if removed and declared:
        return
    # After a refresh a cluster also lists the pools that are resources of their own.
    known = {text(pool.get("name")) for pool in declared}
    listed = inline_pools(cluster)
    for number, pool in enumerate(listed):
        name = text(pool.get("name"))
        if name not in known or not name:
            yield shown(name) if name else f"nodePools[{number}]", pool
    if not listed and not removed:
        count = cluster.get("initialNodeCount")
        yield (
            "default-pool",
            {
                "nodeConfig": cluster.get("nodeConfig"),
                "initialNodeCount": 1 if count is None else count,
            },
        )


def system_workloads(
    resource: Resource,
    system_namespaces: Sequence[str] = SYSTEM_NAMESPACES,
    spot_taint_keys: Collection[str] = (),
    exempt_daemon_sets: bool = True,
    critical_priority_classes: Collection[str] = CRITICAL_PRIORITY_CLASSES,
    spot_classes: Collection[str] = (),
) -> Iterator[Finding]:
    """Findings for a system workload that may run on Spot nodes.

    Args:
        resource: Any resource; what is no Kubernetes workload or Helm release has no findings.
        system_namespaces: Namespaces to judge; `*` matches any ending.
        spot_taint_keys: Further taint keys that mark Spot pools.
        exempt_daemon_sets: Whether to pass over DaemonSets, which run on every node on purpose.
        critical_priority_classes: Priority classes to judge in every namespace.
        spot_classes: Compute classes that may take Spot or flex-start nodes.
    """
    pods = system_pods(resource, system_namespaces, exempt_daemon_sets, critical_priority_classes)
    for pod in pods:
        for what, certain in spot_scheduling(pod.spec, spot_taint_keys, spot_classes):
            # A chart's DaemonSets tolerate all taints as a rule, and values do not name the kind.
            doubt = pod.may_be_daemon_set and exempt_daemon_sets and what == BLANKET
            joint = " " if pod.of_values else ", "
            yield resource.finding(
                f"{pod.what}{joint}{what}",
                WORKLOAD_RULE,
                WORKLOAD_FIX,
                certain and pod.certain and not doubt,
            )
