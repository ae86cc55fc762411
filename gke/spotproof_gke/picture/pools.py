"""Node pools of a cluster as lanes of a picture: pools that let the same pods in, side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spotproof_gke.accelerators import MACHINE_TYPES
from spotproof_gke.audit.evidence import printable
from spotproof_gke.capacity import ACCELERATOR_KEY, GPU_KEY, Capacity
from spotproof_gke.picture.overview import Card, Kind
from spotproof_gke.picture.placing import Target, hard_taints
from spotproof_gke.rules.finding import Resource
from spotproof_gke.rules.interruptible_pools import seen_by_pods
from spotproof_gke.rules.pool_capacity import RESERVED
from spotproof_gke.rules.pool_shape import PoolShape
from spotproof_gke.rules.pools import NodeTaint, has_gpu, pools_in
from spotproof_gke.rules.reading import UNKNOWN, items, mapping, number, text

_KINDS = {
    Capacity.ON_DEMAND: Kind.ON_DEMAND,
    Capacity.SPOT: Kind.SPOT,
    Capacity.FLEX_START: Kind.FLEX_START,
    Capacity.FLEX_START_QUEUED: Kind.QUEUED,
    None: Kind.UNKNOWN,
}


@dataclass(frozen=True)
class DrawnPool:
    """A node pool: how it is shown, and how the scheduler sees it."""

    card: Card
    kind: Kind
    target: Target

    @property
    def lane(self) -> tuple[Kind, str]:
        """What it has in common with the other pools of its lane."""
        return self.kind, gate_words(self.target.taints)


def drawn_pools(resources: Sequence[Resource]) -> list[DrawnPool]:
    """The pools of one cluster, given by the cluster itself and by node pools of its own."""
    found = [
        (where or resource.name, {"name": resource.get("name"), **pool})
        for resource in resources
        for where, pool in pools_in(resource)
    ]
    beside_others = any(not has_gpu(pool.get("nodeConfig")) for _, pool in found)
    return [_drawn(name, pool, beside_others) for name, pool in found]


def _drawn(name: str, pool: Mapping[str, Any], beside_others: bool) -> DrawnPool:
    seen = seen_by_pods(name, pool)
    kind = _KINDS[seen.capacity]
    if kind is Kind.ON_DEMAND and PoolShape(pool).affinity in RESERVED:
        kind = Kind.RESERVATION
    taints = hard_taints(pool, beside_others=beside_others)
    called = printable(text(pool.get("name")) or name.rstrip(": "))
    lines = [*_machine(mapping(pool.get("nodeConfig")), seen.labels.get(ACCELERATOR_KEY))]
    return DrawnPool(Card(called, (*lines, _nodes(pool))), kind, Target(seen, taints))


def _machine(config: Mapping[Any, Any], accelerator: Any) -> Iterator[str]:
    machine = config.get("machineType")
    if machine is UNKNOWN:
        yield "machine type not known"
    else:
        yield printable(text(machine)) or "machine type of GKE's choice"
    if accelerator is UNKNOWN:
        yield "GPU not known"
    elif text(accelerator):
        yield f"{_gpus(config)}{printable(text(accelerator))}"


def _gpus(config: Mapping[Any, Any]) -> str:
    for gpu in items(config.get("guestAccelerators")):
        count = number(mapping(gpu).get("count"))
        return f"{count:g} x " if count else ""
    known = MACHINE_TYPES.get(text(config.get("machineType")))
    return f"{known.gpus} x " if known else ""


def _nodes(pool: Mapping[str, Any]) -> str:
    """How many nodes a pool has, or may have."""
    scaling = pool.get("autoscaling")
    if scaling is UNKNOWN or pool.get("nodeCount") is UNKNOWN:
        return "number of nodes not known"
    for least, most, where in (
        ("totalMinNodeCount", "totalMaxNodeCount", ""),
        ("minNodeCount", "maxNodeCount", " per zone"),
    ):
        limits = mapping(scaling)
        if limits.get(most) is not None:
            return f"{_count(limits.get(least))} to {_count(limits[most])} nodes{where}"
    given = pool.get("nodeCount")
    size = number(pool.get("initialNodeCount") if given is None else given)
    return "number of nodes not known" if size is None else f"{size:g} nodes per zone"


def _count(value: Any) -> str:
    size = number(0 if value is None else value)
    return "?" if size is None else f"{size:g}"


def gate_words(taints: Sequence[NodeTaint]) -> str:
    """What keeps pods out of a pool, in words; "" when nothing does."""
    if any(taint.is_unknown for taint in taints):
        return "taints not known"
    words = dict.fromkeys(_taint(taint) for taint in sorted(taints, key=lambda each: each.key))
    return ", ".join(words)


def _taint(taint: NodeTaint) -> str:
    if taint.key == GPU_KEY:
        return printable(text(taint.key))
    value = text(taint.value)
    return printable(f"{text(taint.key)}={value}" if value else text(taint.key))
