"""What in a pod specification lets the pod run on Spot nodes, or asks for them.

Source: kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration and assign-pod-node,
read on 2026-11-30; the labels and taints stand in `spotproof_gke.interruptible`.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from spotproof_gke.capacity import COMPUTE_CLASS_KEY, PROVISIONING_KEY
from spotproof_gke.interruptible import (
    EVERY_KIND,
    EXCLUSIONS,
    LATER_ONLY,
    NAMED_BY_KEY,
    NEVER_REPELS,
    ON_DEMAND,
    Exclusion,
    Kind,
    interruptible_values,
    kinds_behind,
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
    NoSchedule taint of a Spot pool. A toleration counts as long as it reaches a kind of node that
    neither the selector nor the required affinity excludes: no toleration counts when they take
    on-demand nodes only, and one of flex-start counts when they exclude Spot alone.
    """
    if spec is UNKNOWN:
        yield "its pod specification", False
        return
    parts, values = mapping(spec), interruptible_values(spot_classes)
    open_kinds = kinds_left_open(parts)
    for kinds, what, certain in _tolerations(parts.get("tolerations"), further_taint_keys, values):
        if any(kind in open_kinds for kind in kinds):
            yield what, certain
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


def kinds_left_open(spec: object) -> tuple[Kind, ...]:
    """The kinds of nodes that selector and required affinity do not keep a pod off."""
    if text(mapping(dig(spec, "nodeSelector")).get(PROVISIONING_KEY)) == ON_DEMAND:
        return ()
    required = dig(spec, "affinity", "nodeAffinity", REQUIRED)
    terms = items(dig(required, "nodeSelectorTerms"))
    if not terms:
        return EVERY_KIND
    excluded = [set(_kinds_excluded(term)) for term in terms]
    return tuple(kind for kind in EVERY_KIND if not all(kind in each for each in excluded))


def _kinds_excluded(term: object) -> Iterator[Kind]:
    """The kinds of which no node matches a term."""
    for expression in items(mapping(term).get("matchExpressions")):
        parts = mapping(expression)
        key, operator = text(parts.get("key")), text(parts.get("operator"))
        values = [text(value) for value in items(parts.get("values"))]
        for each in EXCLUSIONS:
            if (key, operator) == (each.key, each.operator) and _holds(each, values):
                yield from each.kinds


def _holds(exclusion: Exclusion, values: list[str]) -> bool:
    if exclusion.operator == "In":
        return bool(values) and all(value == exclusion.value for value in values)
    return exclusion.value is None or exclusion.value in values


_Reach = tuple[tuple[Kind, ...], str, bool]
"""The kinds of nodes that a toleration reaches, its clause, and whether that is certain."""


def _tolerations(value: object, further: Collection[str], values: _Values) -> Iterator[_Reach]:
    for toleration in [UNKNOWN] if value is UNKNOWN else items(value):
        if toleration is UNKNOWN:
            yield EVERY_KIND, "one of its tolerations", False
        else:
            yield from _toleration(mapping(toleration), further, values)


def _toleration(
    parts: Mapping[Any, Any], further: Collection[str], values: _Values
) -> Iterator[_Reach]:
    key, operator, effect = (parts.get(part) for part in ("key", "operator", "effect"))
    every = key in (None, "")
    if text(effect) == NEVER_REPELS or (every and text(effect) == LATER_ONLY):
        return
    if key is UNKNOWN:
        yield EVERY_KIND, "a toleration whose key is unknown", False
    elif not every and text(key) not in (*further, *values):
        return
    elif UNKNOWN in (operator, effect):
        kinds = kinds_behind(text(key), None, further)
        yield kinds, "the operator or the effect of one of its tolerations", False
    elif not every:
        wanted = None if text(key) in further else values[text(key)]
        for value, what, certain in _keyed(text(key), text(operator), parts.get("value"), wanted):
            yield kinds_behind(text(key), value, further), what, certain
    elif text(operator) == "Exists":
        yield EVERY_KIND, BLANKET, True


def _keyed(
    key: str, operator: str, value: Any, wanted: tuple[str, ...] | None
) -> Iterator[tuple[str | None, str, bool]]:
    """The value that a toleration by key is for, its clause, and whether that is certain.

    The value is None for every one, and so is `wanted` where every value counts.
    """
    if key == COMPUTE_CLASS_KEY and operator == "Exists" and wanted is not None:
        yield None, ANY_CLASS, False
    elif operator == "Exists" or wanted is None:
        yield None, f"tolerates {shown(key)}", True
    elif value is UNKNOWN:
        yield None, f"the value of its toleration of {shown(key)}", False
    elif text(value) in wanted:
        yield text(value), f"tolerates {shown(key)}={text(value)}", True


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
