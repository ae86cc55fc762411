"""GPU machine types and their zones. Tables: `data/machine_types.yaml`, `data/zones.yaml`."""

from collections.abc import Iterable
from dataclasses import dataclass

from spotproof_gke.capacity import Capacity
from spotproof_gke.locations import region_of
from spotproof_gke.problems import did_you_mean
from spotproof_gke.tables import table


@dataclass(frozen=True)
class MachineType:
    """A GPU machine type.

    Attributes:
        name: For example `g2-standard-8`.
        accelerator: The GPU as GKE names it, for example `nvidia-l4`.
        gpus: How many GPUs one machine has; fixed by the machine type.
        gpu_memory_gb: Memory of all its GPUs together, in GB.
        vcpus: Virtual CPUs.
        memory_gb: Main memory, in GB.
        boot_disks: Boot disk types it takes, the preferred one first.
        obtainable: The kinds of capacity it is sold as.
        attached_in: Zones of an attached GPU; None when the GPU is built in.
    """

    name: str
    accelerator: str
    gpus: int
    gpu_memory_gb: int
    vcpus: int
    memory_gb: int
    boot_disks: tuple[str, ...]
    obtainable: frozenset[Capacity]
    attached_in: tuple[str, ...] | None = None

    @property
    def zones(self) -> tuple[str, ...]:
        """The zones that have this machine type."""
        if self.attached_in is not None:
            return self.attached_in
        series = table("zones")["series"]
        key = "a2-highgpu" if self.name.startswith("a2-megagpu") else None
        key = key or next(s for s in series if self.name.startswith(f"{s}-"))
        return tuple(series[key]["zones"])

    def zones_in(self, region: str) -> tuple[str, ...]:
        """The zones of `region` that have this machine type; empty when there is none."""
        return tuple(zone for zone in self.zones if region_of(zone) == region)


def obtainable(words: Iterable[str]) -> frozenset[Capacity]:
    """Capacities by the words of a table; what is sold as flex-start is sold queued too."""
    found = {Capacity(word) for word in words}
    if Capacity.FLEX_START in found:
        found.add(Capacity.FLEX_START_QUEUED)
    return frozenset(found)


MACHINE_TYPES: dict[str, MachineType] = {
    name: MachineType(
        name=name,
        accelerator=row["accelerator"],
        gpus=row["gpus"],
        gpu_memory_gb=row["gpu_memory_gb"],
        vcpus=row["vcpus"],
        memory_gb=row["memory_gb"],
        boot_disks=tuple(row["boot_disks"]),
        obtainable=obtainable(row["obtainable"]),
    )
    for name, row in table("machine_types")["machine_types"].items()
}
"""All GPU machine types with GPUs attached by the machine type, by name."""

ACCELERATORS: tuple[str, ...] = tuple(dict.fromkeys(m.accelerator for m in MACHINE_TYPES.values()))
"""GKE's names of all GPUs in the table."""


def machine_type(name: str) -> MachineType:
    """The GPU machine type of this name.

    Raises:
        KeyError: The table does not have it; the message names the nearest or all known ones.
    """
    try:
        return MACHINE_TYPES[name]
    except KeyError:
        raise KeyError(f"unknown GPU machine type; {did_you_mean(name, MACHINE_TYPES)}") from None


def right_accelerator_name(name: object, known: Iterable[str]) -> str:
    """A clause that leads from a wrong accelerator name to one of `known`."""
    possible = tuple(known)
    right = table("machine_types")["misnamed_accelerators"].get(str(name).lower())
    return f'GKE calls it "{right}"' if right in possible else did_you_mean(name, possible)


def zones_with(accelerator: str) -> tuple[str, ...]:
    """All zones that have a machine type with this accelerator, sorted."""
    found = {
        zone
        for machine in MACHINE_TYPES.values()
        if machine.accelerator == accelerator
        for zone in machine.zones
    }
    return tuple(sorted(found))
