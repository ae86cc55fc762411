"""What runs now where it should not: system pods on Spot nodes, ordinary pods on untainted ones."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from spotproof_gke.rules.finding import Finding, Stack, shown
from spotproof_gke.rules.live_nodes import LiveNode, counted, live_nodes
from spotproof_gke.rules.live_pods import LivePod, by_owner, live_pods
from spotproof_gke.rules.pool_taints import (
    FLEX_START_RULE,
    TAINT_RULE,
    missing_flex_start_taint,
    missing_spot_taint,
)
from spotproof_gke.rules.reading import text
from spotproof_gke.rules.spot_isolation import (
    CRITICAL_PRIORITY_CLASSES,
    SYSTEM_NAMESPACES,
    is_system_namespace,
)
from spotproof_gke.rules.spot_scheduling import spot_scheduling

SYSTEM_POD_RULE = "no system pod runs on a node that can be taken away or that ends by itself"

_TAINT_FIX = (
    "add the taint {key}=true:NO_SCHEDULE to the pool (nodeConfig.taints), with a toleration in "
    "what belongs there"
)
_MOVE_FIX = (
    "keep room on an on-demand pool, keep system pods off the others by a taint, then restart the "
    "workload"
)


def live_spot_taints(stack: Stack, accepted_keys: Collection[str] = ()) -> Iterator[Finding]:
    """Findings for pools with Spot or preemptible nodes that carry no taint to keep pods out."""
    fix = _TAINT_FIX.format(key="cloud.google.com/gke-spot")
    for node, reason, among in _untainted(
        stack, lambda each: missing_spot_taint(each.config, accepted_keys)
    ):
        yield Finding(node.place, f"{reason} ({among})", TAINT_RULE, fix)


def live_flex_start_taints(stack: Stack, accepted_keys: Collection[str] = ()) -> Iterator[Finding]:
    """Findings for pools with flex-start nodes without GPUs that carry no taint."""
    fix = _TAINT_FIX.format(key="cloud.google.com/gke-flex-start")
    for node, reason, among in _untainted(
        stack, lambda each: missing_flex_start_taint(each.config, each.queued, accepted_keys)
    ):
        yield Finding(node.place, f"{reason} ({among})", FLEX_START_RULE, fix)


def _untainted(stack: Stack, judge: Any) -> Iterator[tuple[LiveNode, str, str]]:
    """One node for each pool with nodes that `judge` finds fault with, why, and how many."""
    pools: dict[str, list[LiveNode]] = {}
    for node in live_nodes(stack):
        # Google looks after the nodes of Autopilot, and taints those that are Spot.
        if node.sort and not node.autopilot:
            pools.setdefault(node.place, []).append(node)
    found = []
    for nodes in pools.values():
        faults = {node.name: reason for node in nodes if (reason := judge(node))}
        if faults:
            found.append((nodes, faults))
    if not found:
        return
    strays = _strays(stack)
    for nodes, faults in found:
        some = "" if len(faults) == len(nodes) else f" of {len(nodes)}"
        among = f"{len(faults)}{some} {'node' if len(faults) == 1 and not some else 'nodes'}"
        inside = sum(strays[name] for name in faults)
        if inside:
            verb = "runs" if inside == 1 else "run"
            among += (
                f"; {inside} pod{'' if inside == 1 else 's'} that did not ask for it {verb} there"
            )
        yield nodes[0], next(iter(faults.values())), among


def _strays(stack: Stack) -> Mapping[str, int]:
    """How many pods of each node neither select nor tolerate nodes that can be taken away."""
    count: Counter[str] = Counter()
    for pod in live_pods(stack):
        spec = {key: value for key, value in pod.spec.items() if key != "nodeName"}
        if not any(spot_scheduling(spec)):
            count[pod.node_name] += 1
    return count


def system_pods_on_spot(
    stack: Stack,
    system_namespaces: Sequence[str] = SYSTEM_NAMESPACES,
    critical_priority_classes: Collection[str] = CRITICAL_PRIORITY_CLASSES,
) -> Iterator[Finding]:
    """Findings for what has system pods on Spot, preemptible or flex-start nodes now.

    DaemonSets and static pods run on every node on purpose, and a Job's pods end by themselves;
    they are passed over, and so is what runs on nodes of Autopilot.
    """
    pods = [
        pod
        for pod in live_pods(stack)
        if pod.kind not in ("Job", "CronJob")
        and (
            is_system_namespace(pod.namespace, system_namespaces)
            or text(pod.spec.get("priorityClassName")) in critical_priority_classes
        )
    ]
    for (kind, namespace, owner), group in by_owner(pods).items():
        where = f"{shown(kind)} {shown(namespace + '/' + owner)}"
        taken = [pod for pod in group if pod.node and pod.node.sort and not pod.node.autopilot]
        unseen = [pod for pod in group if pod.node is None]
        if taken:
            yield Finding(where, _said(taken), SYSTEM_POD_RULE, _MOVE_FIX)
        elif unseen:
            what = f"whether the nodes of {counted(unseen, 'pod')} are Spot, which were not seen"
            yield Finding(where, what, SYSTEM_POD_RULE, "list the nodes too", certain=False)


def _said(pods: Sequence[LivePod]) -> str:
    places = Counter((pod.node.sort, pod.node.place) for pod in pods if pod.node)
    first = places.most_common(1)[0][0]
    verb = "runs" if len(pods) == 1 else "run"
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    example = f"{shown(pods[0].name)} on {shown(pods[0].node_name)}"
    return f"{counted(pods, 'pod')} {verb} on {first[0]} nodes of {first[1]}{more} ({example})"
