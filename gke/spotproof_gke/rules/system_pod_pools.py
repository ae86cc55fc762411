"""System pods that ask for a pool of the stack by name or label, and the pool can be taken away.

`system_workloads` knows the labels and taints that GKE gives; this knows those of the owner.
"""

from collections.abc import Collection, Iterator, Sequence

from spotproof_gke.rules.finding import Finding, Stack, shown
from spotproof_gke.rules.interruptible_pods import Landings
from spotproof_gke.rules.spot_scheduling import spot_scheduling
from spotproof_gke.rules.system_pods import (
    CRITICAL_PRIORITY_CLASSES,
    SYSTEM_NAMESPACES,
    system_pods,
)

POOL_RULE = "a system workload asks for no pool whose nodes can be taken away or end"


def system_pods_on_spot_pools(
    stack: Stack,
    system_namespaces: Sequence[str] = SYSTEM_NAMESPACES,
    exempt_daemon_sets: bool = True,
    critical_priority_classes: Collection[str] = CRITICAL_PRIORITY_CLASSES,
) -> Iterator[Finding]:
    """Findings for system workloads that select pools of the stack which are all interruptible.

    Args:
        stack: All resources.
        system_namespaces: Namespaces to judge; `*` matches any ending.
        exempt_daemon_sets: Whether to pass over DaemonSets, which run on every node on purpose.
        critical_priority_classes: Priority classes to judge in every namespace.
    """
    landings = Landings(stack)
    for resource in stack.resources:
        pods = system_pods(
            resource, system_namespaces, exempt_daemon_sets, critical_priority_classes
        )
        for pod in pods:
            landing = landings.of(pod.spec)
            # Without a pool it is a compute class that brings such nodes, which has its own rule.
            if landing.may_end is False or not landing.pools:
                continue
            if list(spot_scheduling(pod.spec)):
                continue  # `system_workloads` reports it
            names = ", ".join(shown(pool.name) for pool in landing.pools)
            joint = " " if pod.of_values else ", "
            yield resource.finding(
                f"{pod.what}{joint}selects pool {names}, whose nodes can be taken away or end",
                POOL_RULE,
                "select a pool of on-demand nodes, or none",
                certain=landing.may_end is True and pod.certain,
            )
