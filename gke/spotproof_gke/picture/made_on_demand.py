"""What GKE makes pools for by itself: limits of auto-provisioning, and compute classes."""

from collections.abc import Iterator, Mapping
from typing import Any

from spotproof_gke.audit.evidence import printable
from spotproof_gke.capacity import Capacity
from spotproof_gke.picture.overview import Card
from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.reading import UNKNOWN, dig, is_true, items, mapping, number, text
from spotproof_gke.rules.workloads import kind_of


def limits_of(cluster: Resource) -> Iterator[Card]:
    """The limits of node auto-provisioning, where it is on."""
    scaling = cluster.get("clusterAutoscaling")
    if scaling is UNKNOWN or dig(scaling, "enabled") is UNKNOWN:
        yield Card("node auto-provisioning", ("not known whether it is on",))
    elif is_true(dig(scaling, "enabled")):
        limits = items(dig(scaling, "resourceLimits"))
        yield Card("limits of the cluster", [_limit(mapping(each)) for each in limits])


def _limit(limit: Mapping[Any, Any]) -> str:
    kind, most = text(limit.get("resourceType")), number(limit.get("maximum"))
    amount = "?" if most is None else f"{most:,.0f}"
    names = {"cpu": f"{amount} vCPUs", "memory": f"{amount} GB of memory"}
    return names.get(kind) or printable(f"{amount} x {kind or '?'}")


def classes_in(stack: Stack) -> Iterator[Card]:
    """The compute classes of the stack, with their priorities in order."""
    for resource in stack.resources:
        if kind_of(resource) == "ComputeClass":
            name = text(dig(resource.get("metadata"), "name")) or resource.name
            given = dig(resource.get("spec"), "priorities")
            lines = [f"{n}. {_priority(each)}" for n, each in enumerate(items(given), 1)]
            yield Card(printable(f"class {name}"), lines or ("priorities not known",))


def _priority(priority: object) -> str:
    if is_true(dig(priority, "spot")):
        how = Capacity.SPOT.value
    elif is_true(dig(priority, "flexStart", "enabled")):
        how = Capacity.FLEX_START.value
    else:
        how = Capacity.ON_DEMAND.value
    what = (dig(priority, key) for key in ("machineType", "machineFamily"))
    pools = " ".join(text(each) for each in items(dig(priority, "nodepools")))
    return printable(f"{how} {next((text(each) for each in what if text(each)), pools)}".strip())
