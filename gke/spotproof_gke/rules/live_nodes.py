"""Nodes as they are now: what they are made of, what keeps pods off them, which pool they are in.

Sources, read on 2026-11-30: kubernetes.io/docs/reference/labels-annotations-taints; the labels that
the GKE cluster autoscaler knows; GoogleContainerTools/kpt-config-sync ("only Autopilot clusters
have nodes with the prefix gk3-").
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from spotproof_gke.capacity import (
    ACCELERATOR_KEY,
    FLEX_START_KEY,
    GPU_KEY,
    MANAGED_COMPONENTS_KEY,
    NODE_POOL_KEY,
    PREEMPTIBLE_KEY,
    PROVISIONING_KEY,
    QUEUED_KEY,
    SPOT_KEY,
)
from spotproof_gke.rules.finding import Finding, Resource, Stack, shown
from spotproof_gke.rules.pools import why_not_home
from spotproof_gke.rules.reading import dig, is_true, items, mapping, text

NODE = "kubernetes:v1:Node"
REGION_LABEL = "topology.kubernetes.io/region"
MACHINE_LABEL = "node.kubernetes.io/instance-type"

HOME_RULE = "a cluster has on-demand nodes without GPUs that system pods can run on"

_AUTOPILOT_PREFIX = "gk3-"
_PASSING_TAINTS = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
    "cloud.google.com/impending-node-termination",
)


@dataclass(frozen=True)
class LiveNode:
    """A node of a cluster.

    Attributes:
        name: The node's name, as in `spec.nodeName` of its pods.
        pool: The node pool that it is in, or "".
        sort: `Spot`, `preemptible` or `flex-start`; "" for a node that is not taken away.
        queued: Whether it came by queued provisioning.
        autopilot: Whether Google looks after it.
        region: Its region, or "".
        config: The node as a pool's `nodeConfig`, for the predicates over pools.
    """

    name: str
    pool: str
    sort: str
    queued: bool
    autopilot: bool
    region: str
    config: dict[str, Any]

    @property
    def place(self) -> str:
        """Words for where the node is: its pool, else itself."""
        return f"node pool {shown(self.pool)}" if self.pool else f"node {shown(self.name)}"


def live_nodes(stack: Stack) -> list[LiveNode]:
    """The nodes among what was read from a cluster."""
    return [_node(resource) for resource in stack.of_type(NODE)]


def _node(resource: Resource) -> LiveNode:
    metadata, spec = mapping(resource.get("metadata")), mapping(resource.get("spec"))
    labels = mapping(metadata.get("labels"))
    sort = _sort(labels)
    taints = [mapping(taint) for taint in items(spec.get("taints"))]
    config = {
        "spot": sort == "Spot",
        "preemptible": sort == "preemptible",
        "flexStart": sort == "flex-start",
        "machineType": text(labels.get(MACHINE_LABEL)),
        "guestAccelerators": [{"count": 1}] if _has_gpu(resource, labels) else [],
        "taints": [taint for taint in taints if not _passes(taint)],
    }
    queued = is_true(labels.get(QUEUED_KEY)) or any(t.get("key") == QUEUED_KEY for t in taints)
    name = text(metadata.get("name"))
    return LiveNode(
        name=name,
        pool=text(labels.get(NODE_POOL_KEY)),
        sort=sort,
        queued=queued,
        autopilot=name.startswith(_AUTOPILOT_PREFIX),
        region=text(labels.get(REGION_LABEL)),
        config=config,
    )


def _sort(labels: Any) -> str:
    provisioning = text(labels.get(PROVISIONING_KEY))
    if is_true(labels.get(SPOT_KEY)) or provisioning == "spot":
        return "Spot"
    if is_true(labels.get(PREEMPTIBLE_KEY)) or provisioning == "preemptible":
        return "preemptible"
    if is_true(labels.get(FLEX_START_KEY)) or provisioning == "flex-start":
        return "flex-start"
    return ""


def _has_gpu(resource: Resource, labels: Any) -> bool:
    capacity = mapping(dig(resource.get("status"), "capacity"))
    return bool(text(labels.get(ACCELERATOR_KEY))) or text(capacity.get(GPU_KEY)) not in ("", "0")


def _passes(taint: Any) -> bool:
    """Whether a taint says how a node is at the moment, not what it is for."""
    return text(taint.get("key")).startswith(_PASSING_TAINTS)


def live_system_pod_homes(
    stack: Stack, tolerated_taint_keys: Sequence[str] = (MANAGED_COMPONENTS_KEY,)
) -> Iterator[Finding]:
    """A finding when no node of a Standard cluster is a lasting home for system pods."""
    nodes = live_nodes(stack)
    if not nodes or any(node.autopilot for node in nodes):
        return
    reasons: dict[str, list[str]] = {}
    for node in nodes:
        reason, _ = why_not_home({"nodeConfig": node.config, "nodeCount": 1}, tolerated_taint_keys)
        if reason is None:
            return
        reasons.setdefault(f"{node.place} {reason}", []).append(node.name)
    found = [f"{words} ({counted(names, 'node')})" for words, names in reasons.items()]
    yield Finding(
        "the cluster",
        f"no on-demand home for system pods: its nodes are {', '.join(found[:6])}"
        + (f" and {len(found) - 6} other pools" if len(found) > 6 else ""),
        HOME_RULE,
        "add a node pool that is neither Spot nor flex-start, has no GPU, and keeps at least one "
        "node",
    )


def counted(things: Collection[Any], noun: str) -> str:
    """A number of things in words, for example `1 node` and `2 nodes`."""
    return f"{len(things)} {noun}{'' if len(things) == 1 else 's'}"
