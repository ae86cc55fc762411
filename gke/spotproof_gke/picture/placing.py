"""Whether a pod may run on a node pool: its selector, required affinity and tolerations.

Source: kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration and assign-pod-node,
read on 2026-11-30; what GKE adds itself stands in `spotproof_gke.capacity`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spotproof_gke.capacity import GPU_KEY, GPU_TAINT, MANAGED_COMPONENTS_KEY, QUEUED_KEY
from spotproof_gke.rules.interruptible_pools import Pool, is_set_by_others
from spotproof_gke.rules.pools import NodeTaint, has_gpu, taints_of
from spotproof_gke.rules.reading import UNKNOWN, dig, is_true, items, mapping, text
from spotproof_gke.rules.spot_scheduling import REQUIRED
from spotproof_gke.rules.workloads import containers

ORDINARY: Mapping[str, Any] = {}
"""The specification of a pod that asks for nothing."""

SYSTEM: Mapping[str, Any] = {
    "tolerations": [{"key": MANAGED_COMPONENTS_KEY, "operator": "Exists"}],
}
"""The specification of a system pod of GKE's."""


@dataclass(frozen=True)
class Target:
    """A node pool as the scheduler sees it: its labels, and the taints that keep pods out."""

    seen: Pool
    taints: tuple[NodeTaint, ...]


def hard_taints(pool: Mapping[str, Any], *, beside_others: bool) -> tuple[NodeTaint, ...]:
    """The taints of a pool that keep pods out, with those that GKE adds.

    Args:
        pool: The pool's properties.
        beside_others: Whether the cluster has a pool without GPUs: then GKE taints the GPU pools.
    """
    config = pool.get("nodeConfig")
    stated = taints_of(config)
    found = [taint for taint in stated if taint.is_hard or taint.effect is UNKNOWN]
    keys = {text(taint.key) for taint in stated}
    if is_true(dig(pool.get("queuedProvisioning"), "enabled")) and QUEUED_KEY not in keys:
        found.append(NodeTaint(QUEUED_KEY, "true", "NO_SCHEDULE"))
    if has_gpu(config) and beside_others and GPU_KEY not in keys:
        given = GPU_TAINT.provider_taint()
        found.append(NodeTaint(given["key"], given["value"], given["effect"]))
    return tuple(found)


def may_run(spec: object, target: Target) -> bool | None:
    """Whether a pod with this specification may run on a pool; None when that is not known."""
    if spec is UNKNOWN:
        return None
    parts = mapping(spec)
    selector = parts.get("nodeSelector")
    return _all(
        (
            None if selector is UNKNOWN else target.seen.answers(mapping(selector)),
            _affinity_admits(parts, target.seen),
            _all(_is_tolerated(parts, taint) for taint in target.taints),
        )
    )


def _all(answers: Iterable[bool | None]) -> bool | None:
    found = list(answers)
    return False if False in found else None if None in found else True


def _any(answers: Iterable[bool | None]) -> bool | None:
    found = list(answers)
    return True if True in found else None if None in found else False


def _is_tolerated(spec: Mapping[Any, Any], taint: NodeTaint) -> bool | None:
    if taint.is_unknown:
        return None
    given = spec.get("tolerations")
    if given is UNKNOWN:
        return None
    # Kubernetes adds this toleration to each pod that requests GPUs.
    if taint.key == GPU_KEY and _asks_for_gpus(spec):
        return True
    # GKE lets the pods of a ProvisioningRequest past the taint of queued nodes.
    selected = text(mapping(spec.get("nodeSelector")).get(QUEUED_KEY))
    if taint.key == QUEUED_KEY and selected == "true":
        return True
    return _any(_tolerates(each, taint) for each in items(given))


def _tolerates(toleration: object, taint: NodeTaint) -> bool | None:
    parts = mapping(toleration)
    if toleration is UNKNOWN or UNKNOWN in parts.values():
        return None
    effect = text(parts.get("effect"))
    if effect and effect.lower() != text(taint.effect).replace("_", "").lower():
        return False
    exists = text(parts.get("operator")) == "Exists"
    if not text(parts.get("key")):
        return exists
    if text(parts.get("key")) != text(taint.key):
        return False
    return exists or text(parts.get("value")) == text(taint.value)


def _asks_for_gpus(spec: Mapping[Any, Any]) -> bool:
    return any(
        GPU_KEY in mapping(dig(container, "resources", sort))
        for container in containers(spec)
        for sort in ("limits", "requests")
    )


def _affinity_admits(spec: Mapping[Any, Any], pool: Pool) -> bool | None:
    required = dig(spec.get("affinity"), "nodeAffinity", REQUIRED)
    if required is UNKNOWN:
        return None
    terms: Sequence[Any] = items(dig(required, "nodeSelectorTerms"))
    if not terms:
        return True
    return _any(_term_admits(term, pool) for term in terms)


def _term_admits(term: object, pool: Pool) -> bool | None:
    if term is UNKNOWN or items(mapping(term).get("matchFields")):
        return None
    return _all(
        _holds(mapping(each), pool) for each in items(mapping(term).get("matchExpressions"))
    )


def _holds(expression: Mapping[Any, Any], pool: Pool) -> bool | None:
    key, operator = text(expression.get("key")), text(expression.get("operator"))
    held = pool.labels.get(key, UNKNOWN if not pool.all_known or is_set_by_others(key) else None)
    values = [each if each is UNKNOWN else text(each) for each in items(expression.get("values"))]
    if held is UNKNOWN or UNKNOWN in values:
        return None
    if operator in ("In", "NotIn"):
        return (held is not None and text(held) in values) is (operator == "In")
    if operator in ("Exists", "DoesNotExist"):
        return (held is not None) is (operator == "Exists")
    return None
