"""What in a pod specification lets the pod run on Spot nodes, or asks for them.

Source: kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration and assign-pod-node,
read on 2026-11-30; the labels and taints stand in `spotproof_gke.interruptible`.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from spotproof_gke.capacity import COMPUTE_CLASS_KEY, PROVISIONING_KEY
from spotproof_gke.interruptible import (
    EXCLUSIONS,
    LATER_ONLY,
    NAMED_BY_KEY,
    NEVER_REPELS,
    ON_DEMAND,
    Exclusion,
    interruptible_values,
)
from spotproof_gke.rules.finding import shown
from spotproof_gke.rules.reading import UNKNOWN, dig, has_unknown, items, mapping, text

BLANKET = "tolerates every taint (operator Exists without a key)"

ANY_CLASS = "whether a compute class that it tolerates is Spot"
NODE_NAME = "whether the node of its nodeName is Spot"
NODE_FIELD = "whether the node that its affinity names is Spot"

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

_Values = Mapping[str, tuple[str, ...]]


def spot_scheduling(
    spec: object, further_taint_keys: Collection[str] = (), spot_classes: Collection[str] = ()
) -> Iterator[tuple[str, bool]]:
    """What lets a pod run on Spot nodes: a clause, and whether that is certain.

    Args:
        spec: The pod specification.
        further_taint_keys: Further taint keys that mark Spot pools.
        spot_classes: Further compute classes that may take Spot or flex-start nodes.

    A blanket toleration counts unless it is for NoExecute alone, which does not pass the
    NoSchedule taint of a Spot pool. No toleration counts when the selector or the required affinity
    takes on-demand nodes only.
    """
    if spec is UNKNOWN:
        yield "its pod specification", False
        return
    parts, values = mapping(spec), interruptible_values(spot_classes)
    if not _on_demand_only(parts):
        yield from _tolerations(parts.get("tolerations"), further_taint_keys, values)
    yield from _node_selector(parts.get("nodeSelector"), values)
    yield from _affinity(parts.get("affinity"), values)
    if parts.get("nodeName"):
        # The kubelet takes such a pod past every NoSchedule taint.
        yield NODE_NAME, False


def compute_classes_of(spec: object) -> Iterator[str]:
    """The compute classes that a pod selects, requires or prefers."""
    selected = text(dig(spec, "nodeSelector", COMPUTE_CLASS_KEY))
    if selected:
        yield selected
    for expression, _ in _expressions(dig(spec, "affinity", "nodeAffinity")):
        if (expression.get("key"), expression.get("operator")) == (COMPUTE_CLASS_KEY, "In"):
            yield from (text(value) for value in items(expression.get("values")))


def _on_demand_only(parts: Mapping[Any, Any]) -> bool:
    if text(mapping(parts.get("nodeSelector")).get(PROVISIONING_KEY)) == ON_DEMAND:
        return True
    required = dig(parts, "affinity", "nodeAffinity", REQUIRED)
    terms = items(dig(required, "nodeSelectorTerms"))
    return bool(terms) and all(
        any(_keeps_off(mapping(each)) for each in items(mapping(term).get("matchExpressions")))
        for term in terms
    )


def _keeps_off(expression: Mapping[str, Any]) -> bool:
    """Whether an expression matches no node that is Spot."""
    key, operator = text(expression.get("key")), text(expression.get("operator"))
    values = [text(value) for value in items(expression.get("values"))]
    return any(
        (key, operator) == (each.key, each.operator) and _holds(each, values) for each in EXCLUSIONS
    )


def _holds(exclusion: Exclusion, values: list[str]) -> bool:
    if exclusion.operator == "In":
        return bool(values) and all(value == exclusion.value for value in values)
    return exclusion.value is None or exclusion.value in values


def _tolerations(
    value: object, further: Collection[str], values: _Values
) -> Iterator[tuple[str, bool]]:
    for toleration in [UNKNOWN] if value is UNKNOWN else items(value):
        if toleration is UNKNOWN:
            yield "one of its tolerations", False
        else:
            yield from _toleration(mapping(toleration), further, values)


def _toleration(
    parts: Mapping[Any, Any], further: Collection[str], values: _Values
) -> Iterator[tuple[str, bool]]:
    key, operator, effect = (parts.get(part) for part in ("key", "operator", "effect"))
    every = key in (None, "")
    if text(effect) == NEVER_REPELS or (every and text(effect) == LATER_ONLY):
        return
    if key is UNKNOWN:
        yield "a toleration whose key is unknown", False
    elif not every and text(key) not in (*further, *values):
        return
    elif UNKNOWN in (operator, effect):
        yield "the operator or the effect of one of its tolerations", False
    elif not every:
        wanted = None if text(key) in further else values[text(key)]
        yield from _keyed(text(key), text(operator), parts.get("value"), wanted)
    elif text(operator) == "Exists":
        yield BLANKET, True


def _keyed(
    key: str, operator: str, value: Any, wanted: tuple[str, ...] | None
) -> Iterator[tuple[str, bool]]:
    """The clause of a toleration by key; `wanted` is None where every value counts."""
    if key == COMPUTE_CLASS_KEY and operator == "Exists" and wanted is not None:
        yield ANY_CLASS, False
    elif operator == "Exists" or wanted is None:
        yield f"tolerates {shown(key)}", True
    elif value is UNKNOWN:
        yield f"the value of its toleration of {shown(key)}", False
    elif text(value) in wanted:
        yield f"tolerates {shown(key)}={text(value)}", True


def _node_selector(value: object, values: _Values) -> Iterator[tuple[str, bool]]:
    if value is UNKNOWN:
        yield "its node selector", False
    for key, wanted in values.items():
        chosen = mapping(value).get(key)
        if chosen is UNKNOWN:
            yield f"its node selector {key}", False
        elif text(chosen) in wanted:
            yield f"selects {key}={text(chosen)}", True


def _affinity(value: object, values: _Values) -> Iterator[tuple[str, bool]]:
    node = dig(value, "nodeAffinity")
    if node is UNKNOWN:
        yield "its affinity", False
        return
    for expression, verb in _expressions(node):
        clause = _chosen(expression, values)
        if clause:
            yield f"{verb} {clause} by node affinity", True
    if any(text(field.get("operator")) == "In" for field, _ in _expressions(node, "matchFields")):
        yield NODE_FIELD, False
    if has_unknown(node):
        yield "a part of its node affinity", False


def _expressions(
    node_affinity: object, sort: str = "matchExpressions"
) -> Iterator[tuple[Mapping[Any, Any], str]]:
    """The expressions on labels or fields in a node affinity, each with a verb for its force."""
    required = dig(node_affinity, REQUIRED)
    preferred = dig(node_affinity, PREFERRED)
    terms = [(term, "requires") for term in items(dig(required, "nodeSelectorTerms"))]
    terms += [(dig(each, "preference"), "prefers") for each in items(preferred)]
    for term, verb in terms:
        for expression in items(dig(term, sort)):
            yield mapping(expression), verb


def _chosen(expression: Mapping[str, Any], labels: _Values) -> str | None:
    """The Spot label that an expression lets in, or None."""
    key, operator = text(expression.get("key")), text(expression.get("operator"))
    values = [text(value) for value in items(expression.get("values"))]
    wanted = labels.get(key, ())
    chosen = [value for value in wanted if value in values]
    if operator == "In" and chosen:
        return f"{key}={chosen[0]}"
    if operator == "Exists" and key in NAMED_BY_KEY:
        return key
    if operator == "NotIn" and key == PROVISIONING_KEY and ON_DEMAND in values:
        left = [value for value in wanted if value not in values]
        return f"{key}={left[0]}" if left else None
    return None
