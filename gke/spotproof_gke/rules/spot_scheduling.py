"""What in a pod specification lets the pod run on Spot nodes, or asks for them.

Source: the labels and taints that the GKE cluster autoscaler knows;
kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration;
docs.cloud.google.com/kubernetes-engine/docs/concepts/about-built-in-compute-classes (the class
`autopilot-spot`), read on 2026-11-30.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from spotproof_gke.capacity import FLEX_START_KEY, PREEMPTIBLE_KEY, PROVISIONING_KEY, SPOT_KEY
from spotproof_gke.rules.finding import shown
from spotproof_gke.rules.reading import UNKNOWN, dig, has_unknown, items, mapping, text

COMPUTE_CLASS_KEY = "cloud.google.com/compute-class"
"""Label and taint of the nodes of a compute class."""

BLANKET = "tolerates every taint (operator Exists without a key)"

_SPOT_VALUES: dict[str, tuple[str, ...]] = {
    SPOT_KEY: ("true",),
    PREEMPTIBLE_KEY: ("true",),
    FLEX_START_KEY: ("true",),
    PROVISIONING_KEY: ("spot", "preemptible", "flex-start"),
    COMPUTE_CLASS_KEY: ("autopilot-spot",),
}
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_SPOT_BY_NAME = (SPOT_KEY, PREEMPTIBLE_KEY, FLEX_START_KEY)


def spot_scheduling(
    spec: object, further_taint_keys: Collection[str] = ()
) -> Iterator[tuple[str, bool]]:
    """What lets a pod run on Spot nodes: a clause, and whether that is certain.

    A blanket toleration counts unless it is for NoExecute alone, which does not pass the
    NoSchedule taint of a Spot pool. No toleration counts when the selector or the required affinity
    takes on-demand nodes only.
    """
    if spec is UNKNOWN:
        yield "its pod specification", False
        return
    parts = mapping(spec)
    if not _on_demand_only(parts):
        yield from _tolerations(parts.get("tolerations"), further_taint_keys)
    yield from _node_selector(parts.get("nodeSelector"))
    yield from _affinity(parts.get("affinity"))
    if parts.get("nodeName"):
        # The kubelet takes such a pod past every NoSchedule taint.
        yield "whether the node of its nodeName is Spot", False


def compute_classes_of(spec: object) -> Iterator[str]:
    """The compute classes that a pod selects, requires or prefers."""
    selected = text(dig(spec, "nodeSelector", COMPUTE_CLASS_KEY))
    if selected:
        yield selected
    for expression, _ in _expressions(dig(spec, "affinity", "nodeAffinity")):
        if (expression.get("key"), expression.get("operator")) == (COMPUTE_CLASS_KEY, "In"):
            yield from (text(value) for value in items(expression.get("values")))


def _on_demand_only(parts: Mapping[Any, Any]) -> bool:
    if text(mapping(parts.get("nodeSelector")).get(PROVISIONING_KEY)) == "standard":
        return True
    required = dig(parts, "affinity", "nodeAffinity", _REQUIRED)
    terms = items(dig(required, "nodeSelectorTerms"))
    return bool(terms) and all(
        any(_keeps_off(mapping(each)) for each in items(mapping(term).get("matchExpressions")))
        for term in terms
    )


def _keeps_off(expression: Mapping[str, Any]) -> bool:
    """Whether an expression matches no node that is Spot. One alone need not know flex-start."""
    key, operator = text(expression.get("key")), text(expression.get("operator"))
    values = [text(value) for value in items(expression.get("values"))]
    if key == SPOT_KEY:
        return operator == "DoesNotExist" or (operator == "NotIn" and "true" in values)
    if key == PROVISIONING_KEY and operator == "In":
        return bool(values) and all(value == "standard" for value in values)
    return key == PROVISIONING_KEY and operator == "NotIn" and "spot" in values


def _tolerations(value: object, further: Collection[str]) -> Iterator[tuple[str, bool]]:
    for toleration in [UNKNOWN] if value is UNKNOWN else items(value):
        if toleration is UNKNOWN:
            yield "one of its tolerations", False
        else:
            yield from _toleration(mapping(toleration), further)


def _toleration(parts: Mapping[Any, Any], further: Collection[str]) -> Iterator[tuple[str, bool]]:
    key, operator, effect = (parts.get(part) for part in ("key", "operator", "effect"))
    every = key in (None, "")
    if text(effect) == "PreferNoSchedule" or (every and text(effect) == "NoExecute"):
        return
    if key is UNKNOWN:
        yield "a toleration whose key is unknown", False
    elif not every and text(key) not in (*further, *_SPOT_VALUES):
        return
    elif UNKNOWN in (operator, effect):
        yield "the operator or the effect of one of its tolerations", False
    elif not every:
        yield from _keyed(text(key), text(operator), parts.get("value"), text(key) in further)
    elif text(operator) == "Exists":
        yield BLANKET, True


def _keyed(key: str, operator: str, value: Any, any_value: bool) -> Iterator[tuple[str, bool]]:
    if key == COMPUTE_CLASS_KEY and operator == "Exists" and not any_value:
        yield "whether a compute class that it tolerates is Spot", False
    elif operator == "Exists" or any_value:
        yield f"tolerates {shown(key)}", True
    elif value is UNKNOWN:
        yield f"the value of its toleration of {shown(key)}", False
    elif text(value) in _SPOT_VALUES[key]:
        yield f"tolerates {shown(key)}={text(value)}", True


def _node_selector(value: object) -> Iterator[tuple[str, bool]]:
    if value is UNKNOWN:
        yield "its node selector", False
    for key, wanted in _SPOT_VALUES.items():
        chosen = mapping(value).get(key)
        if chosen is UNKNOWN:
            yield f"its node selector {key}", False
        elif text(chosen) in wanted:
            yield f"selects {key}={text(chosen)}", True


def _affinity(value: object) -> Iterator[tuple[str, bool]]:
    node = dig(value, "nodeAffinity")
    if node is UNKNOWN:
        yield "its affinity", False
        return
    for expression, verb in _expressions(node):
        clause = _chosen(expression)
        if clause:
            yield f"{verb} {clause} by node affinity", True
    if has_unknown(node):
        yield "a part of its node affinity", False


def _expressions(node_affinity: object) -> Iterator[tuple[Mapping[Any, Any], str]]:
    """The expressions on labels in a node affinity, each with a verb for its force."""
    required = dig(node_affinity, _REQUIRED)
    preferred = dig(node_affinity, _PREFERRED)
    terms = [(term, "requires") for term in items(dig(required, "nodeSelectorTerms"))]
    terms += [(dig(each, "preference"), "prefers") for each in items(preferred)]
    for term, verb in terms:
        for expression in items(dig(term, "matchExpressions")):
            yield mapping(expression), verb


def _chosen(expression: Mapping[str, Any]) -> str | None:
    """The Spot label that an expression lets in, or None."""
    key, operator = text(expression.get("key")), text(expression.get("operator"))
    values = [text(value) for value in items(expression.get("values"))]
    wanted = _SPOT_VALUES.get(key, ())
    chosen = [value for value in wanted if value in values]
    if operator == "In" and chosen:
        return f"{key}={chosen[0]}"
    if operator == "Exists" and key in _SPOT_BY_NAME:
        return key
    if operator == "NotIn" and key == PROVISIONING_KEY and "standard" in values:
        left = [value for value in wanted if value not in values]
        return f"{key}={left[0]}" if left else None
    return None
