"""Policies of the pack: what a cluster needs to work stays off Spot nodes."""

from collections.abc import Iterable

from pulumi_policy import Severity

from spotproof_gke.policy_adapter import Config, Rule, policies_of, strings
from spotproof_gke.rules import (
    compute_classes,
    pool_refusals,
    spot_isolation,
    system_pod_pools,
)
from spotproof_gke.rules.finding import Finding, Mend, Resource, Stack

_TAINT_KEYS = {
    "acceptedTaintKeys": {
        "type": "array",
        "items": {"type": "string"},
        "default": [],
        "description": (
            "Keys of taints of your own that mark such pools, with any value. Without any, every "
            "key will do but those that pods tolerate without asking, such as nvidia.com/gpu."
        ),
    }
}


_SYSTEM_PODS = {
    "systemNamespaces": {
        "type": "array",
        "items": {"type": "string"},
        "default": list(spot_isolation.SYSTEM_NAMESPACES),
        "description": "Namespaces to judge; * matches any ending. Replaces the default.",
    },
    "exemptDaemonSets": {
        "type": "boolean",
        "default": True,
        "description": "Whether to pass over DaemonSets.",
    },
    "criticalPriorityClasses": {
        "type": "array",
        "items": {"type": "string"},
        "default": list(spot_isolation.CRITICAL_PRIORITY_CLASSES),
        "description": "Priority classes to judge in every namespace.",
    },
}


def _accepted(config: Config) -> tuple[str, ...] | None:
    return strings(config, "acceptedTaintKeys") or None


def _spot_taints(resource: Resource, config: Config) -> Iterable[Finding]:
    return spot_isolation.spot_pool_taints(resource, _accepted(config))


def _flex_start_taints(resource: Resource, config: Config) -> Iterable[Finding]:
    return spot_isolation.flex_start_pool_taints(resource, _accepted(config))


def _spot_mend(resource: Resource, config: Config) -> Mend | None:
    return spot_isolation.spot_taint_mend(resource, _accepted(config))


def _flex_start_mend(resource: Resource, config: Config) -> Mend | None:
    return spot_isolation.flex_start_taint_mend(resource, _accepted(config))


def _homes(stack: Stack, config: Config) -> Iterable[Finding]:
    keys = strings(config, "toleratedTaintKeys", spot_isolation.TOLERATED_TAINT_KEYS)
    return spot_isolation.system_pod_homes(stack, keys)


def _system_workloads(resource: Resource, config: Config) -> Iterable[Finding]:
    return spot_isolation.system_workloads(
        resource,
        strings(config, "systemNamespaces", spot_isolation.SYSTEM_NAMESPACES),
        strings(config, "acceptedTaintKeys"),
        config.get("exemptDaemonSets") is not False,
        strings(config, "criticalPriorityClasses", spot_isolation.CRITICAL_PRIORITY_CLASSES),
    )


def _system_pools(stack: Stack, config: Config) -> Iterable[Finding]:
    return system_pod_pools.system_pods_on_spot_pools(
        stack,
        strings(config, "systemNamespaces", spot_isolation.SYSTEM_NAMESPACES),
        config.get("exemptDaemonSets") is not False,
        strings(config, "criticalPriorityClasses", spot_isolation.CRITICAL_PRIORITY_CLASSES),
    )


def _compute_classes(stack: Stack, config: Config) -> Iterable[Finding]:
    return compute_classes.system_compute_classes(
        stack,
        strings(config, "systemNamespaces", spot_isolation.SYSTEM_NAMESPACES),
        config.get("exemptDaemonSets") is not False,
        strings(config, "criticalPriorityClasses", spot_isolation.CRITICAL_PRIORITY_CLASSES),
    )


def _refused_pools(resource: Resource, config: Config) -> Iterable[Finding]:
    return pool_refusals.refused_pools(resource)


RULES = [
    Rule(
        name="spot-pool-taint",
        display_name="Spot pool with its taint",
        description=(
            "A Spot or preemptible node pool carries the taint cloud.google.com/gke-spot=true, or "
            "one of its owner's; GKE adds none, and without it any pod lands on nodes that can be "
            "taken away."
        ),
        remediation=(
            "Add to nodeConfig.taints: key cloud.google.com/gke-spot, value true, effect "
            "NO_SCHEDULE. Workloads that belong on the pool tolerate it."
        ),
        severity=Severity.HIGH,
        types=("gcp:container/",),
        check_resource=_spot_taints,
        mend=_spot_mend,
        config=_TAINT_KEYS,
        tags=("gke", "spot", "reliability"),
    ),
    Rule(
        name="flex-start-pool-taint",
        display_name="Flex-start pool without GPUs with its taint",
        description=(
            "A flex-start node pool without GPUs carries the taint "
            "cloud.google.com/gke-flex-start=true, or one of its owner's; GKE taints only GPU "
            "pools and queued ones."
        ),
        remediation=(
            "Add to nodeConfig.taints: key cloud.google.com/gke-flex-start, value true, effect "
            "NO_SCHEDULE. Workloads that belong on the pool tolerate it."
        ),
        severity=Severity.MEDIUM,
        types=("gcp:container/",),
        check_resource=_flex_start_taints,
        mend=_flex_start_mend,
        config=_TAINT_KEYS,
        tags=("gke", "flex-start", "reliability"),
    ),
    Rule(
        name="on-demand-home-for-system-pods",
        display_name="On-demand home for system pods",
        description=(
            "A Standard cluster has an on-demand node pool that is never empty, has no GPUs and no "
            "taint that system pods do not tolerate; otherwise they run on Spot nodes or nowhere."
        ),
        remediation=(
            "Add a node pool without spot, preemptible or flexStart, with nodeCount or "
            "autoscaling.minNodeCount of at least 1, or keep the default pool."
        ),
        severity=Severity.CRITICAL,
        types=("gcp:container/",),
        check_stack=_homes,
        config={
            "toleratedTaintKeys": {
                "type": "array",
                "items": {"type": "string"},
                "default": list(spot_isolation.TOLERATED_TAINT_KEYS),
                "description": "Keys of hard taints that system pods tolerate.",
            }
        },
        tags=("gke", "spot", "reliability"),
    ),
    Rule(
        name="system-workload-off-spot",
        display_name="System workload off Spot",
        description=(
            "A workload in a system namespace, or of a critical priority class, neither selects "
            "nor tolerates Spot or flex-start nodes; a blanket toleration counts, also with an "
            "affinity against Spot alone. DaemonSets are exempt by default."
        ),
        remediation=(
            "Remove the toleration, selector or affinity. Instead of a blanket toleration name "
            "the key of each taint that the workload needs to tolerate, or select on-demand nodes "
            "(cloud.google.com/gke-provisioning: standard). One that tolerates nvidia.com/gpu and "
            "uses no GPU is not reported, but selects them too where flex-start pools have GPUs."
        ),
        severity=Severity.HIGH,
        types=("kubernetes:",),
        check_resource=_system_workloads,
        config={**_TAINT_KEYS, **_SYSTEM_PODS},
        tags=("gke", "kubernetes", "spot", "reliability"),
    ),
    Rule(
        name="system-workload-off-spot-pools",
        display_name="System workload off the stack's Spot pools",
        description=(
            "A workload in a system namespace, or of a critical priority class, does not select, "
            "by name or by a label of its owner's, a pool of the stack whose nodes can be taken "
            "away or end."
        ),
        remediation="Select a pool of on-demand nodes, or none.",
        severity=Severity.HIGH,
        types=("gcp:container/", "kubernetes:"),
        check_stack=_system_pools,
        config=_SYSTEM_PODS,
        tags=("gke", "kubernetes", "spot", "reliability"),
    ),
    Rule(
        name="compute-class-off-spot-for-system-pods",
        display_name="No Spot compute class for system pods",
        description=(
            "A compute class that system pods get, by default of the cluster or of a system "
            "namespace or by their selector, has no Spot or flex-start priority."
        ),
        remediation=(
            "Take the Spot and flex-start priorities out of the class, or take the label off the "
            "system namespace, or name the class other than default and let workloads select it."
        ),
        severity=Severity.HIGH,
        types=("kubernetes:", "gcp:container/"),
        check_stack=_compute_classes,
        config=_SYSTEM_PODS,
        tags=("gke", "kubernetes", "spot", "reliability"),
    ),
    Rule(
        name="node-pool-accepted-by-gke",
        display_name="Node pool that GKE accepts",
        description=(
            "The properties of a node pool go together as GKE demands; else the preview is clean "
            "and the update fails, after minutes and with other resources changed already."
        ),
        remediation="Change the property that the message names, as it says.",
        severity=Severity.MEDIUM,
        types=("gcp:container/",),
        check_resource=_refused_pools,
        mandatory=False,
        tags=("gke", "spot", "flex-start", "correctness"),
    ),
]

POLICIES = policies_of(RULES)
