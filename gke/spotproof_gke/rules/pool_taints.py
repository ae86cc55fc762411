"""A pool whose nodes can be taken away, or end by themselves, keeps ordinary pods out by a taint.

Sources, read on 2026-11-29: docs.cloud.google.com/kubernetes-engine/docs/concepts/spot-vms (GKE
labels a hand-made Spot pool and does not taint it), how-to/gpus and how-to/provisioningrequest (the
taints that GKE adds itself).
"""

from collections.abc import Collection, Iterator, Mapping

from spotproof_gke.capacity import (
    FLEX_START_KEY,
    FLEX_START_TAINT,
    GPU_KEY,
    MANAGED_COMPONENTS_KEY,
    PREEMPTIBLE_KEY,
    SPOT_KEY,
    SPOT_TAINT,
    Taint,
)
from spotproof_gke.rules.clusters import NODE_POOL
from spotproof_gke.rules.finding import Finding, Mend, Resource, shown
from spotproof_gke.rules.pools import flag, has_gpu, pools_in, taints_of
from spotproof_gke.rules.reading import UNKNOWN, dig, is_true, text

TAINT_RULE = "a Spot pool keeps ordinary pods out by a taint with effect NO_SCHEDULE or NO_EXECUTE"
FLEX_START_RULE = (
    "a flex-start pool without GPUs keeps ordinary pods out by a taint with effect NO_SCHEDULE "
    "or NO_EXECUTE"
)

TOLERATED_UNASKED = (
    GPU_KEY,
    MANAGED_COMPONENTS_KEY,
    "kubernetes.io/",
    "node.kubernetes.io/",
    "sandbox.gke.io/",
)
"""Beginnings of taint keys that keep only some ordinary pods out, or none: Kubernetes lets all pods
with GPUs pass the GPU taint, GKE's managed components pass theirs, and the others are of the node's
state, processor or sandbox. Sources: docs.cloud.google.com/kubernetes-engine/docs/how-to/gpus,
how-to/isolate-workloads-dedicated-nodes, how-to/prepare-arm-workloads-for-deployment and
how-to/sandbox-pods, 2026-11-30."""

_TAINT_FIX = f"add the taint {SPOT_KEY}=true:NO_SCHEDULE to the pool's nodeConfig.taints"
_FLEX_START_FIX = f"add the taint {FLEX_START_KEY}=true:NO_SCHEDULE to the pool's nodeConfig.taints"


def missing_spot_taint(
    node_config: object, accepted_keys: Collection[str] | None = None
) -> str | None:
    """Why a Spot pool does not keep ordinary pods out, or None when it does or is not Spot.

    Args:
        node_config: A pool's `nodeConfig`, camelCase, taint effects in either spelling. Legacy
            preemptible nodes count as Spot.
        accepted_keys: Taint keys that are accepted, with any value, beside
            `cloud.google.com/gke-spot=true` (and `cloud.google.com/gke-preemptible=true` on
            preemptible nodes). None for every key but those that pods tolerate who have not asked
            for such nodes.
    """
    answer = _judge_taint(node_config, accepted_keys)
    return answer[0] if answer and answer[1] else None


def _judge_taint(node_config: object, accepted: Collection[str] | None) -> tuple[str, bool] | None:
    """What is missing, and whether that is certain; None when nothing is."""
    spot, preemptible = flag(node_config, "spot"), flag(node_config, "preemptible")
    if spot is False and preemptible is False:
        return None
    own_keys = (SPOT_KEY, PREEMPTIBLE_KEY) if preemptible else (SPOT_KEY,)
    taints = taints_of(node_config)
    for taint in taints:
        mine = text(taint.key) in own_keys and text(taint.value) == "true"
        if taint.is_hard and (mine or _is_accepted(taint.key, accepted)):
            return None
    certain = bool(spot or preemptible) and not any(taint.is_unknown for taint in taints)
    if not certain:
        return "whether it is a Spot pool, or its taints", False
    sort = "Spot" if spot else "preemptible"
    for taint in taints:
        if text(taint.key) in own_keys:
            held = f"{text(taint.key)}={shown(taint.value)}:{shown(taint.effect)}"
            return (
                f"{sort} nodes with the taint {held}, which does not keep pods out as it is",
                True,
            )
    return f"{sort} nodes without the taint {SPOT_KEY}=true", True


def _is_accepted(key: object, accepted: Collection[str] | None) -> bool:
    """Whether a hard taint of this key, not one of GKE's own for such pools, will do."""
    name = text(key)
    if accepted is not None:
        return name in accepted
    own = (SPOT_KEY, PREEMPTIBLE_KEY, FLEX_START_KEY)
    return bool(name) and name not in own and not name.startswith(TOLERATED_UNASKED)


def spot_pool_taints(
    resource: Resource, accepted_keys: Collection[str] | None = None
) -> Iterator[Finding]:
    """Findings for a node pool, or for the pools that a cluster declares itself."""
    for where, pool in pools_in(resource):
        answer = _judge_taint(pool.get("nodeConfig"), accepted_keys)
        if answer:
            what, certain = answer
            yield resource.finding(f"{where}{what}", TAINT_RULE, _TAINT_FIX, certain)


def missing_flex_start_taint(
    node_config: object, queued: bool = False, accepted_keys: Collection[str] | None = None
) -> str | None:
    """Why a flex-start pool does not keep ordinary pods out, or None when it does or is not one.

    A pool with GPUs is kept free by GKE's own GPU taint, a queued one by GKE's queue taint.

    Args:
        node_config: A pool's `nodeConfig`, camelCase.
        queued: Whether the pool has queued provisioning.
        accepted_keys: Taint keys that are accepted beside `cloud.google.com/gke-flex-start`; None
            for every key but those that pods tolerate who have not asked for such nodes.
    """
    answer = _judge_flex_start(node_config, queued, accepted_keys)
    return answer[0] if answer and answer[1] else None


def _judge_flex_start(
    node_config: object, queued: bool, accepted: Collection[str] | None
) -> tuple[str, bool] | None:
    flex = flag(node_config, "flexStart")
    if flex is False or queued or has_gpu(node_config):
        return None
    taints = taints_of(node_config)
    if any(
        taint.is_hard and (text(taint.key) == FLEX_START_KEY or _is_accepted(taint.key, accepted))
        for taint in taints
    ):
        return None
    if flex is None or any(taint.is_unknown for taint in taints):
        return "whether it is a flex-start pool, or its taints", False
    return f"flex-start nodes without GPUs and without the taint {FLEX_START_KEY}=true", True


def flex_start_pool_taints(
    resource: Resource, accepted_keys: Collection[str] | None = None
) -> Iterator[Finding]:
    """Findings for a flex-start node pool, or for such pools that a cluster declares itself."""
    for where, pool in pools_in(resource):
        config = pool.get("nodeConfig")
        queued = dig(pool.get("queuedProvisioning"), "enabled")
        answer = _judge_flex_start(config, is_true(queued), accepted_keys)
        if answer:
            what, certain = answer
            certain = certain and queued is not UNKNOWN
            yield resource.finding(f"{where}{what}", FLEX_START_RULE, _FLEX_START_FIX, certain)


def spot_taint_mend(
    resource: Resource, accepted_keys: Collection[str] | None = None
) -> Mend | None:
    """The taint to add to a Spot node pool; None where that is not certain to be right.

    A pool that a cluster declares itself is left alone, since a change there can replace the
    cluster, and so is a pool with a taint of the same key, where another intention is in the way.
    """
    config = resource.get("nodeConfig")
    if resource.type != NODE_POOL or missing_spot_taint(config, accepted_keys) is None:
        return None
    return _mend(config, SPOT_TAINT, (SPOT_KEY, PREEMPTIBLE_KEY))


def flex_start_taint_mend(
    resource: Resource, accepted_keys: Collection[str] | None = None
) -> Mend | None:
    """The taint to add to a flex-start node pool; None where that is not certain to be right."""
    config = resource.get("nodeConfig")
    queued = dig(resource.get("queuedProvisioning"), "enabled")
    if resource.type != NODE_POOL or queued is UNKNOWN:
        return None
    if missing_flex_start_taint(config, is_true(queued), accepted_keys) is None:
        return None
    return _mend(config, FLEX_START_TAINT, (FLEX_START_KEY,))


def _mend(config: object, taint: Taint, keys: Collection[str]) -> Mend | None:
    unfit = not isinstance(config, Mapping) or not isinstance(
        config.get("taints"), (list, tuple, type(None))
    )
    if unfit or any(text(held.key) in keys for held in taints_of(config)):
        return None
    return Mend(("nodeConfig", "taints"), taint.provider_taint())
