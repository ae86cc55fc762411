"""Pods on Spot nodes now whose grace period is longer than what they get when the node goes."""

from collections.abc import Iterator, Mapping
from typing import Any

from spotproof_gke.capacity import Capacity
from spotproof_gke.grace import SHUTDOWN_SECONDS, Budget, pod_grace_warning, termination_budget
from spotproof_gke.rules.clusters import CLUSTER, NODE_POOL, inline_pools
from spotproof_gke.rules.finding import Finding, Stack, shown
from spotproof_gke.rules.live_pods import LivePod, by_owner, live_pods
from spotproof_gke.rules.reading import dig, number, text

DEFAULT_POD_GRACE_SECONDS = 30
"""What Kubernetes writes into a pod that states no `terminationGracePeriodSeconds`."""

_LONGEST_SECONDS = 1e9
_TAKEN_AWAY = ("Spot", "preemptible")

GRACE_RULE = "a pod on Spot nodes stops within its termination budget"


def live_pod_grace(stack: Stack) -> Iterator[Finding]:
    """Findings for workloads with pods on Spot nodes that count on more time than they get.

    A pod at Kubernetes' default is passed over: nobody asked for that time. The shutdown of a pool
    is taken from the stack when it declares the pool, else it is GKE's default.
    """
    pools = _shutdowns(stack)
    on_spot = [pod for pod in live_pods(stack) if pod.node and pod.node.sort in _TAKEN_AWAY]
    for (kind, namespace, owner), pods in by_owner(on_spot).items():
        found = [each for each in (_beyond(pod, pools) for pod in pods) if each]
        if found:
            seconds, budget = max(found, key=lambda each: each[0])
            yield Finding(
                f"{shown(kind)} {shown(namespace + '/' + owner)}",
                f"terminationGracePeriodSeconds is {seconds:.0f}, and when its Spot node is taken "
                f"away a pod has {budget.seconds} s ({budget.why})",
                GRACE_RULE,
                f"save within {budget.seconds} s, or extend the shutdown of the pool "
                "(shutdownGracePeriodSeconds 120)",
            )


def _beyond(pod: LivePod, pools: Mapping[str, Budget]) -> tuple[float, Budget] | None:
    seconds = number(pod.spec.get("terminationGracePeriodSeconds"))
    budget = pools.get(pod.node.pool if pod.node else "", termination_budget(Capacity.SPOT))
    if seconds is None or not DEFAULT_POD_GRACE_SECONDS < seconds < _LONGEST_SECONDS:
        return None
    return (seconds, budget) if pod_grace_warning(int(seconds), budget) else None


def _shutdowns(stack: Stack) -> dict[str, Budget]:
    """The budgets of the Spot pools that a stack declares, by the pool's name in the cloud."""
    pools: list[tuple[Any, Any]] = [
        (pool.get("name"), pool.get("nodeConfig")) for pool in stack.of_type(NODE_POOL)
    ]
    for cluster in stack.of_type(CLUSTER):
        pools += [(pool.get("name"), pool.get("nodeConfig")) for pool in inline_pools(cluster)]
    found = {}
    for name, config in pools:
        kubelet = dig(config, "kubeletConfig")
        total = number(dig(kubelet, "shutdownGracePeriodSeconds"))
        critical = number(dig(kubelet, "shutdownGracePeriodCriticalPodsSeconds"))
        if text(name) and total in SHUTDOWN_SECONDS:
            total = int(total or 0)
            share = int(critical) if critical is not None and 0 <= critical < total else None
            found[text(name)] = termination_budget(
                Capacity.SPOT, shutdown_seconds=total, critical_seconds=share
            )
    return found
