"""Which GPU machines there are, where and how they are sold, and what is nearest to the wish."""

from collections.abc import Iterator
from dataclasses import dataclass

from spotproof_gke import distance
from spotproof_gke.accelerators import MACHINE_TYPES, MachineType
from spotproof_gke.capacity import Capacity
from spotproof_gke.gpu_nodes import ATTACHABLE, gpu_node, replacements
from spotproof_gke.locations import region_of
from spotproof_gke.tables import table

COMMON_VCPUS = 8
"""vCPUs of the N1 machine that stands for all that take an attached GPU."""


@dataclass(frozen=True)
class Offer:
    """A machine type, as far as it fits a wish.

    Attributes:
        machine: The machine type; for an attached GPU, a common one that takes it.
        counts: How many GPUs such a machine may have.
        regions: All regions that have it.
        zones: Its zones in the region wished for; all of them when none is.
        fits: Whether it is there and sold so; None when no table knows its zones.
        why_not: What is amiss, in one clause, or "".
        instead: The nearest alternatives, each in one clause.
    """

    machine: MachineType
    counts: tuple[int, ...]
    regions: tuple[str, ...]
    zones: tuple[str, ...]
    fits: bool | None
    why_not: str
    instead: tuple[str, ...]

    @property
    def is_attached(self) -> bool:
        """Whether the GPU is attached to a machine of a free choice of size."""
        return self.machine.accelerator in ATTACHABLE


def offers(
    accelerator: str | None = None,
    region: str | None = None,
    capacity: Capacity | None = None,
) -> list[Offer]:
    """The machine types of a wish, in the order of the tables.

    Args:
        accelerator: GKE's name of a GPU. Then all machine types with it are there, also those
            that do not fit; without it, those that fit and those of which it is not known.
        region: Where it is wanted.
        capacity: How it is wanted.
    """
    found = [_offer(machine, region, capacity) for machine in _machines(accelerator)]
    return [each for each in found if accelerator or each.fits is not False]


def _machines(accelerator: str | None) -> Iterator[MachineType]:
    for machine in MACHINE_TYPES.values():
        if accelerator in (None, machine.accelerator):
            yield machine
    for attached in ATTACHABLE:
        if accelerator in (None, attached):
            yield _attached(attached)


def _attached(accelerator: str) -> MachineType:
    machine = gpu_node(f"n1-standard-{COMMON_VCPUS}", accelerator, 1)
    assert isinstance(machine, MachineType)
    return machine


def _counts(machine: MachineType) -> tuple[int, ...]:
    if machine.accelerator not in ATTACHABLE:
        return (machine.gpus,)
    return tuple(table("attachable_gpus")["accelerators"][machine.accelerator]["most_vcpus"])


def _offer(machine: MachineType, region: str | None, capacity: Capacity | None) -> Offer:
    counts = _counts(machine)
    regions = tuple(dict.fromkeys(region_of(zone) for zone in machine.zones))
    zones = machine.zones_in(region) if region else machine.zones
    sold = capacity is None or capacity in machine.obtainable
    if not machine.zones:
        why = "no table lists the zones of this GPU"
        return Offer(machine, counts, regions, zones, None, why, ())
    if zones and sold:
        return Offer(machine, counts, regions, zones, True, "", ())
    reasons = []
    if not zones:
        reasons.append(f"not in {region}")
    if not sold and capacity is not None:
        reasons.append(f"not sold as {capacity.value}")
    instead = tuple(_instead(machine, region, capacity))
    return Offer(machine, counts, regions, zones, False, ", ".join(reasons), instead)


def _instead(machine: MachineType, region: str | None, capacity: Capacity | None) -> Iterator[str]:
    """The nearest: another machine in the region, and the same GPU in the nearest region."""
    if region:
        here = _replacement(machine, region, capacity)
        if here:
            same = here.accelerator == machine.accelerator
            what = "same GPU" if same else f"{here.gpus} x {here.accelerator}"
            yield f"{here.name} in {region} ({what}, {here.gpu_memory_gb} GB)"
        yield from _elsewhere(machine, region, capacity)
    elif capacity is not None:
        kinds = ", ".join(sorted(kind.value for kind in machine.obtainable))
        yield f"as {kinds}"


def _replacement(
    machine: MachineType, region: str, capacity: Capacity | None
) -> MachineType | None:
    wished = (capacity,) if capacity else (Capacity.ON_DEMAND, Capacity.SPOT)
    zones = {z for each in MACHINE_TYPES.values() for z in each.zones_in(region)}
    for kind in wished:
        found = replacements(machine, zones, kind)
        if found:
            return found[0]
    return None


def _elsewhere(machine: MachineType, region: str, capacity: Capacity | None) -> Iterator[str]:
    """The nearest region that has the GPU so, on the same machine type if that is sold so."""
    same = [machine] if capacity is None or capacity in machine.obtainable else []
    others = [
        other
        for other in MACHINE_TYPES.values()
        if other.accelerator == machine.accelerator
        and other.gpus >= machine.gpus
        and (capacity is None or capacity in other.obtainable)
    ]
    for candidates in (same, others):
        places = {region_of(zone) for each in candidates for zone in each.zones} - {region}
        near = distance.nearest(region, sorted(places))
        if near is None:
            continue
        there = next(each for each in candidates if each.zones_in(near))
        way = distance.kilometres(region, near) or 0.0
        yield f"{there.name} in {near} (about {round(way, -2):,.0f} km away)"
        return
