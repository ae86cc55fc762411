"""What a node pool is: how its nodes are obtained, what keeps pods out, how small it can get."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spotproof_gke.rules.clusters import CLUSTER, NODE_POOL, inline_pools
from spotproof_gke.rules.finding import Resource
from spotproof_gke.rules.reading import UNKNOWN, dig, is_true, items, mapping, number, text

HARD_EFFECTS = ("NO_SCHEDULE", "NO_EXECUTE")
"""Taint effects that keep pods out, in the GKE API's spelling."""

_TPU_MACHINE_FAMILIES = ("ct", "tpu")
_GPU_MACHINE_FAMILIES = ("a2-", "a3-", "a4-", "a4x-", "g2-", "g4-")
_WINDOWS_IMAGES = "WINDOWS_"


@dataclass(frozen=True)
class NodeTaint:
    """A taint as the program states it; each part may be `UNKNOWN`."""

    key: Any
    value: Any
    effect: Any

    @property
    def is_hard(self) -> bool:
        """Whether it keeps pods out, rather than asking the scheduler to prefer other nodes."""
        return _effect(self.effect) in HARD_EFFECTS

    @property
    def is_unknown(self) -> bool:
        """Whether a part of it is not known."""
        return UNKNOWN in (self.key, self.value, self.effect)


def _effect(effect: object) -> str:
    """An effect in the GKE API's spelling, also when written as in Kubernetes (`NoSchedule`)."""
    return {"NoSchedule": "NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}.get(text(effect), text(effect))


def taints_of(node_config: object) -> list[NodeTaint]:
    """The taints of a node configuration, those of GKE included where they are known.

    A list that is not known is one taint of which nothing is known.
    """
    config = mapping(node_config)
    stated = [*_taints(config.get("taints"))]
    seen = [taint for taint in _taints(config.get("effectiveTaints")) if not taint.is_unknown]
    return stated + [taint for taint in seen if taint not in stated]


def _taints(value: object) -> Iterator[NodeTaint]:
    for taint in [UNKNOWN] if value is UNKNOWN else items(value):
        if taint is UNKNOWN:
            yield NodeTaint(UNKNOWN, UNKNOWN, UNKNOWN)
        else:
            parts = mapping(taint)
            yield NodeTaint(parts.get("key"), parts.get("value"), parts.get("effect"))


def has_gpu(node_config: object) -> bool:
    """Whether nodes have a GPU, by their accelerators or by their machine type."""
    config = mapping(node_config)
    for gpu in items(config.get("guestAccelerators")):
        if number(mapping(gpu).get("count")) != 0:
            return True
    return text(config.get("machineType")).startswith(_GPU_MACHINE_FAMILIES)


def flag(node_config: object, key: str) -> bool | None:
    """A yes-or-no property of a node configuration; None when it is not known."""
    value = dig(node_config, key)
    return None if value is UNKNOWN else is_true(value)


def least_nodes(pool: Mapping[str, Any]) -> float | None:
    """The smallest number of nodes (per zone or in total) a pool can have; None when not known."""
    autoscaling = pool.get("autoscaling")
    if autoscaling is UNKNOWN:
        return None
    if mapping(autoscaling):
        limits = [dig(autoscaling, key) for key in ("minNodeCount", "totalMinNodeCount")]
        known = [number(limit) or 0 for limit in limits if limit is not UNKNOWN]
        least = max(known, default=0)
        return None if least < 1 and UNKNOWN in limits else least
    # A stated count is the pool's size; the initial one only its first.
    if pool.get("nodeCount") is UNKNOWN:
        return None
    size = number(pool.get("nodeCount"))
    return number(pool.get("initialNodeCount")) if size is None else size


def why_not_home(
    pool: Mapping[str, Any], tolerated_taint_keys: Collection[str]
) -> tuple[str | None, bool]:
    """Why system pods have no lasting home on a pool, and whether that is certain.

    Args:
        pool: A node pool's properties: `nodeConfig`, `autoscaling`, `nodeCount` and so on.
        tolerated_taint_keys: Keys of hard taints that system pods tolerate.

    Returns:
        The reason, or None when the pool is a home; then whether the answer is certain.
    """
    config = pool.get("nodeConfig")
    queued = dig(pool.get("queuedProvisioning"), "enabled")
    doubts = []
    for key, reason in (
        ("spot", "Spot"),
        ("preemptible", "preemptible"),
        ("flexStart", "flex-start"),
    ):
        answer = flag(config, key)
        if answer:
            return reason, True
        doubts.append(answer is None)
    if is_true(queued):
        return "queued", True
    if has_gpu(config):
        return "with GPUs", True
    if text(mapping(config).get("machineType")).startswith(_TPU_MACHINE_FAMILIES):
        return "with TPUs", True
    if text(mapping(config).get("imageType")).upper().startswith(_WINDOWS_IMAGES):
        return "with Windows", True
    for taint in taints_of(config):
        tolerated = text(taint.key) in tolerated_taint_keys
        if taint.is_hard and taint.key is not UNKNOWN and not tolerated:
            return "with a taint that system pods do not tolerate", True
        doubts.append(taint.is_unknown and not tolerated)
    least = least_nodes(pool)
    if least is not None and least < 1:
        return "that can shrink to no node", True
    if any(doubts) or config is UNKNOWN or queued is UNKNOWN or least is None:
        return "of which too little is known", False
    return None, True


_POOL_KEYS = (
    "autoscaling",
    "initialNodeCount",
    "management",
    "nodeConfig",
    "nodeCount",
    "nodeLocations",
    "placementPolicy",
    "queuedProvisioning",
    "upgradeSettings",
)


def pools_in(resource: Resource) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The pools in a resource, each with words that say where it stands.

    A node pool is one itself; a Standard cluster has those that it lists, or a default pool.
    """
    if resource.type == NODE_POOL:
        yield "", {key: resource.get(key) for key in _POOL_KEYS}
    if resource.type != CLUSTER or is_true(resource.get("enableAutopilot")):
        return
    if resource.get("nodePools") is UNKNOWN:
        yield "nodePools: ", {"nodeConfig": UNKNOWN}
    pools = inline_pools(resource)
    for index, pool in enumerate(pools):
        yield f"nodePools[{index}]: ", pool
    if not pools and not is_true(resource.get("removeDefaultNodePool")):
        yield "default pool: ", {"nodeConfig": resource.get("nodeConfig")}
