"""Whether a pod could run on a node, as Kubernetes judges it: selectors, taints and room.

The real scheduler decides in the end; this serves the autoscaler's stand-in, which has to guess
before a node is there. It is written from Kubernetes' documentation and not from Spotproof's own
rules, so that the two can disagree.
Source: kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration and
assign-pod-node, read on 2026-11-30.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

_SUFFIXES = {
    "m": Decimal("0.001"),
    "k": Decimal(1000),
    "M": Decimal(1000) ** 2,
    "G": Decimal(1000) ** 3,
    "T": Decimal(1000) ** 4,
    "Ki": Decimal(1024),
    "Mi": Decimal(1024) ** 2,
    "Gi": Decimal(1024) ** 3,
    "Ti": Decimal(1024) ** 4,
}
_REPELLING = ("NoSchedule", "NoExecute")

Resources = dict[str, Decimal]


def quantity(text: str | float) -> Decimal:
    """A Kubernetes quantity such as `500m` or `4Gi` as a plain number."""
    given = str(text)
    for suffix in sorted(_SUFFIXES, key=len, reverse=True):
        if given.endswith(suffix):
            return Decimal(given.removesuffix(suffix)) * _SUFFIXES[suffix]
    return Decimal(given)


def tolerates(spec: Mapping[str, Any], taints: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a pod may be put on a node with these taints."""
    return all(_is_tolerated(spec, taint) for taint in taints if taint["effect"] in _REPELLING)


def _is_tolerated(spec: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    for each in spec.get("tolerations") or ():
        if each.get("effect") not in (None, "", taint["effect"]):
            continue
        key, exists = each.get("key") or "", each.get("operator") == "Exists"
        if key == "" and exists:
            return True
        if key == taint["key"] and (exists or (each.get("value") or "") == taint.get("value", "")):
            return True
    return False


def selects(spec: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a node with these labels is one that a pod asks for."""
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return False
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    terms = required.get("nodeSelectorTerms") or []
    return not terms or any(_matches(term, labels) for term in terms)


def _matches(term: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    wanted = term.get("matchExpressions") or []
    return bool(wanted) and all(_holds(expression, labels) for expression in wanted)


def _holds(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    value = labels.get(expression["key"])
    values: Sequence[str] = expression.get("values") or []
    match expression["operator"]:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt":
            return value is not None and int(value) > int(values[0])
        case "Lt":
            return value is not None and int(value) < int(values[0])
    return False


def requests(spec: Mapping[str, Any]) -> Resources:
    """What a pod takes of a node: the sum of its containers, or its largest init container."""
    total: Resources = {"pods": Decimal(1)}
    for container in spec.get("containers") or ():
        for name, amount in _requested(container).items():
            total[name] = total.get(name, Decimal(0)) + amount
    for container in spec.get("initContainers") or ():
        for name, amount in _requested(container).items():
            total[name] = max(total.get(name, Decimal(0)), amount)
    return total


def _requested(container: Mapping[str, Any]) -> Resources:
    resources = container.get("resources") or {}
    stated = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {name: quantity(amount) for name, amount in stated.items()}


def has_room(allocatable: Mapping[str, str], taken: Iterable[Resources], wanted: Resources) -> bool:
    """Whether a node can hold `wanted` beside what is `taken` on it."""
    left = {name: quantity(amount) for name, amount in allocatable.items()}
    for each in taken:
        for name, amount in each.items():
            left[name] = left.get(name, Decimal(0)) - amount
    return all(left.get(name, Decimal(0)) >= amount for name, amount in wanted.items())
