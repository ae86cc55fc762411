"""Which machines can do the work, out of the tables of machine types and zones."""

from dataclasses import dataclass

from spotproof_gke import gpu_nodes, locations
from spotproof_gke.accelerators import MACHINE_TYPES, MachineType
from spotproof_gke.capacity import Capacity

CPU_MACHINES = ("n2-standard-8", "n2d-standard-8", "e2-standard-8")
"""Machine types without GPUs to begin with: ordinary ones, small enough to be found."""

COMFORTABLE_VCPUS = 8
"""The least vCPUs of a machine that is taken first; smaller ones are offered after it."""

_CONTINENTS = {"us": "America", "northamerica": "America", "southamerica": "America"}


def machines_with(accelerator: str, gpus: int | None = None) -> tuple[MachineType, ...]:
    """Machine types with at least `gpus` of an accelerator, the one to take first at the front.

    The fewest GPUs come first, of those the machines with enough vCPUs, of those the smallest.
    """
    if accelerator in gpu_nodes.ATTACHABLE:
        found = _attached(accelerator)
    else:
        found = [m for m in MACHINE_TYPES.values() if m.accelerator == accelerator]
    enough = [machine for machine in found if machine.gpus >= (gpus or 1)]
    return tuple(sorted(enough, key=_first))


def _first(machine: MachineType) -> tuple[int, bool, int]:
    return machine.gpus, machine.vcpus < COMFORTABLE_VCPUS, machine.vcpus


def _attached(accelerator: str) -> list[MachineType]:
    sizes = [
        gpu_nodes.gpu_node(f"n1-standard-{vcpus}", accelerator, gpus)
        for gpus, vcpus in ((1, 8), (2, 16), (4, 32), (8, 64))
    ]
    return [each for each in sizes if isinstance(each, MachineType)]


@dataclass(frozen=True)
class Offer:
    """Where the machines for some work are.

    Attributes:
        machines: Machine types, the one to take first at the front; empty when there is none.
        zones: Zones of the region that have the first.
        zones_known: Whether the tables know the zones of the accelerator at all.
    """

    machines: tuple[MachineType, ...]
    zones: tuple[str, ...]
    zones_known: bool


def offer(
    accelerator: str, gpus: int | None, region: str, capacity: Capacity | None = None
) -> Offer:
    """The machines with an accelerator in a region, sold as `capacity` or in any way when None.

    They have the fewest GPUs that are enough: eight where one is needed would be no answer.
    """
    known = any(machine.zones for machine in machines_with(accelerator))
    fitting = [m for m in machines_with(accelerator, gpus) if not known or m.zones_in(region)]
    size = min((machine.gpus for machine in fitting), default=0)
    # Whoever has a reservation and names no size means that of the reservation.
    any_size = capacity is Capacity.RESERVATION and gpus is None
    machines = [
        machine
        for machine in fitting
        if (any_size or machine.gpus == size)
        and (capacity is None or capacity in machine.obtainable)
    ]
    zones = machines[0].zones_in(region) if machines else ()
    return Offer(tuple(machines), zones, known)


def regions_with(
    accelerator: str, gpus: int | None, capacity: Capacity | None = None
) -> dict[str, tuple[str, ...]]:
    """Zones by region that have a machine for the work, the regions with the most zones first."""
    zones = {
        zone
        for machine in machines_with(accelerator, gpus)
        if capacity is None or capacity in machine.obtainable
        for zone in machine.zones
    }
    found: dict[str, list[str]] = {}
    for zone in sorted(zones):
        found.setdefault(locations.region_of(zone), []).append(zone)
    order = sorted(
        found, key=lambda region: (-len(found[region]), not region.startswith("us-"), region)
    )
    return {region: tuple(found[region]) for region in order}


def continent(region: str) -> str:
    """The part of the world that a region's name begins with; all of America counts as one."""
    part = region.partition("-")[0]
    return _CONTINENTS.get(part, part)
