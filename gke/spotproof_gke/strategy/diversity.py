"""What else to allow: the more zones and machine types may do the work, the less it waits."""

from dataclasses import dataclass
from math import inf

from spotproof_gke import distance, locations
from spotproof_gke.accelerators import MachineType
from spotproof_gke.capacity import Capacity
from spotproof_gke.gpu_nodes import replacements
from spotproof_gke.strategy import hardware
from spotproof_gke.strategy.place import Place

MOST_TYPES = 5
"""How many other machine types are named; GKE takes ten priorities in a compute class."""

MOST_MEMORY = 2
"""How many times the GPU memory of the first machine another one may have; beyond it is waste."""

MOST_REGIONS = 4
"""How many other regions are named."""


@dataclass(frozen=True)
class Also:
    """What to allow besides the first machine.

    Attributes:
        machine: The machine type to take first; None when there is none.
        zones: Zones of the region that have it.
        machine_types: Other machine types there that can do the work, the nearest first.
        regions: Other regions of the same part of the world with the same GPU, with their zones,
            the nearest first.
        how: What another GPU asks of the stack; None where none is named.
        unknown: What our tables do not tell, each a sentence.
    """

    machine: str | None
    zones: tuple[str, ...]
    machine_types: tuple[MachineType | str, ...]
    regions: dict[str, tuple[str, ...]]
    how: str | None
    unknown: tuple[str, ...]


def also(place: Place, capacity: Capacity) -> Also:
    """What to allow besides the first machine for this kind of capacity."""
    question = place.question
    if question.accelerator is None:
        return _without_gpu(place)
    offer = place.offer(capacity)
    reference = offer.machines or hardware.machines_with(question.accelerator, question.gpus)
    unknown: list[str] = []
    if not offer.zones_known:
        unknown.append(f"Which zones have {question.accelerator} is not in our tables.")
    here = locations.zones_of(place.region)
    found = replacements(reference[0], here, capacity) if reference else ()
    others = [m for m in found if m.gpu_memory_gb <= MOST_MEMORY * reference[0].gpu_memory_gb]
    others = others[:MOST_TYPES]
    how = None
    if any(machine.accelerator != question.accelerator for machine in others):
        how = (
            "A pod selects one GPU by name; another one takes a compute class (`capacityClasses`)."
        )
    regions: dict[str, tuple[str, ...]] = {}
    if capacity is not Capacity.RESERVATION:
        elsewhere = hardware.regions_with(question.accelerator, question.gpus, capacity)
        near = hardware.continent(place.region)
        names = [r for r in elsewhere if r != place.region and hardware.continent(r) == near]
        names.sort(key=lambda name: distance.kilometres(place.region, name) or inf)
        regions = {region: elsewhere[region] for region in names[:MOST_REGIONS]}
    unknown.append("What is in stock today is in no table.")
    first = offer.machines[0].name if offer.machines else None
    return Also(first, offer.zones, tuple(others), regions, how, tuple(unknown))


def _without_gpu(place: Place) -> Also:
    first, *others = hardware.CPU_MACHINES
    return Also(
        first,
        locations.zones_of(place.region),
        tuple(others),
        {},
        None,
        (
            "Our tables hold no machine types without GPUs: the zones are all of the region, and "
            "which of them has which is not known.",
        ),
    )
