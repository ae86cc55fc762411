"""What node auto-provisioning may add to a cluster: its limits, as an upper bound."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from spotproof_gke import prices
from spotproof_gke.accelerators import MACHINE_TYPES
from spotproof_gke.audit.evidence import printable
from spotproof_gke.capacity import Capacity
from spotproof_gke.cost.lines import Line, Use
from spotproof_gke.cost.nodes import NodeGroup
from spotproof_gke.prices import Price
from spotproof_gke.rules.finding import Resource
from spotproof_gke.rules.reading import UNKNOWN, dig, is_true, items, mapping, number, text

SMALL_MACHINE = "e2-standard-2"
"""The machine by which nodes without GPUs are priced: E2 is what GKE takes unless pods ask."""


MOST = 1e7
"""A limit from here up is none."""


@dataclass(frozen=True)
class Limits:
    """What a cluster may grow to by itself.

    Attributes:
        gpus: The most GPUs of each kind.
        vcpus: The most vCPUs of all nodes, those of pools included; None for no known limit.
    """

    gpus: dict[str, float]
    vcpus: float | None


def limits_of(cluster: Resource) -> Limits | str | None:
    """The limits of a cluster; why they are not known; or None when it does not grow by itself."""
    scaling = cluster.get("clusterAutoscaling")
    if scaling is UNKNOWN:
        return "whether nodes are auto-provisioned is not known before the update"
    if is_true(cluster.get("enableAutopilot")) or not is_true(dig(scaling, "enabled")):
        return None
    stated = dig(scaling, "resourceLimits")
    if stated is UNKNOWN:
        return "its limits are not known before the update"
    found = {
        printable(text(mapping(row).get("resourceType"))): number(mapping(row).get("maximum"))
        for row in items(stated)
    }
    known = {
        key: most for key, most in found.items() if key and most is not None and 0 <= most < MOST
    }
    gpus = {key: most for key, most in known.items() if key not in ("cpu", "memory")}
    return Limits(gpus, known.get("cpu"))


def auto_lines(
    cluster: Resource, region: str | None, pools: Iterable[NodeGroup], use: Use
) -> Iterator[Line]:
    """Nodes that a cluster may add by itself."""
    limits = limits_of(cluster)
    if limits is None:
        return
    if isinstance(limits, str):
        yield Line(cluster.name, "auto-provisioned nodes", unknown=limits)
        return
    left = limits.vcpus
    for accelerator, most in limits.gpus.items():
        yield _gpu_line(cluster, region, accelerator, most, use)
        left = None if left is None else left - most * _vcpus_of_a_gpu(accelerator)
    if left is not None:
        left -= sum((pool.most or 0) * (pool.vcpus or 0) for pool in pools)
    if left is None or left > 0:
        yield _cpu_line(cluster, region, left, use)


def _gpu_line(
    cluster: Resource, region: str | None, accelerator: str, most: float, use: Use
) -> Line:
    what = f"auto-provisioned nodes with up to {most:g} {accelerator}"
    if most == 0:
        return Line(cluster.name, what, 0.0, 0.0)
    known = _of_one_gpu(accelerator, region or "")
    if not known:
        place = region or "its region"
        why = f"no price of a machine with {accelerator} in {place} is in the table"
        return Line(cluster.name, what, unknown=why)
    dearest = max(known, key=lambda price: price.high)
    reason = "what pods ask for; the most is on demand"
    high = dearest.high * most * use.node_hours
    return Line(cluster.name, what, 0.0, high, "", reason, dearest.sources)


def _of_one_gpu(accelerator: str, region: str) -> list[Price]:
    """Prices of an hour of a GPU with its part of a machine, by machine type."""
    found = [
        (machine, prices.machine_hour(machine.name, region, Capacity.ON_DEMAND))
        for machine in MACHINE_TYPES.values()
        if machine.accelerator == accelerator
    ]
    return [price.times(1 / each.gpus) for each, price in found if isinstance(price, Price)]


def _vcpus_of_a_gpu(accelerator: str) -> float:
    shares = [m.vcpus / m.gpus for m in MACHINE_TYPES.values() if m.accelerator == accelerator]
    return min(shares, default=0.0)


def _cpu_line(cluster: Resource, region: str | None, vcpus: float | None, use: Use) -> Line:
    what = "auto-provisioned nodes without GPUs"
    if vcpus is None:
        return Line(cluster.name, what, unknown="the cluster states no limit of vCPUs")
    hour = prices.machine_hour(SMALL_MACHINE, region or "", Capacity.ON_DEMAND)
    size = prices.vcpus_of(SMALL_MACHINE) or 1
    what += f", up to {vcpus:g} vCPUs that pools and GPU nodes leave of the limit"
    if not isinstance(hour, Price):
        return Line(cluster.name, what, unknown=hour.why)
    high = hour.times(vcpus / size * use.node_hours).high
    reason = "what pods ask for; the most is on demand, of E2 machines"
    return Line(cluster.name, what, 0.0, high, "", reason, hour.sources)
