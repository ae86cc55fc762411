"""Which machine a pool's arguments ask for, in which zones, with which boot disk."""

import re
from dataclasses import dataclass

from spotproof.places import read_zones
from spotproof.reader import Reader
from spotproof_gke import locations
from spotproof_gke.accelerators import MACHINE_TYPES, MachineType
from spotproof_gke.capacity import Capacity
from spotproof_gke.gpu_nodes import gpu_node, replacements

_ACCELERATED = re.compile(r"^(a2|a3|a4|a4x|ct[0-9a-z]+|g2|g4|tpu[0-9a-z]*)-")
_MACHINE_TYPE = re.compile(r"[a-z][a-z0-9]*-[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Machine:
    """A machine type with its zones and boot disk, as far as they could be read.

    Attributes:
        name: The machine type; "" when it could not be read.
        gpu: What is known of it as a GPU node; None for a machine without GPUs.
        zones: The zones of the pool.
        disk_type: The boot disk type.
    """

    name: str
    gpu: MachineType | None
    zones: tuple[str, ...]
    disk_type: str


def read_gpu_machine(read: Reader, capacity: Capacity | None, location: str) -> Machine:
    """The GPU machine, its zones and disk; problems are noted on `read`."""
    name = read.text("machine_type")
    gpus = read.integer("gpus_per_node", default=0, least=1, most=16)
    accelerator = read.text("accelerator", default=None)
    node = _gpu_node(read, name, accelerator or None, gpus or None) if name else None
    if node is None:
        return Machine("", None, read.texts("zones", default=()), "")
    _judge_capacity(read, node, capacity, location)
    zones = _gpu_zones(read, node, location)
    return Machine(node.name, node, zones, _gpu_disk(read, node))


def _gpu_node(
    read: Reader, name: str, accelerator: str | None, gpus: int | None
) -> MachineType | None:
    found = gpu_node(name, accelerator, gpus)
    if isinstance(found, MachineType):
        return found
    unknown_type = [p for p in found if p.key == "machine_type"]
    if not unknown_type or not _MACHINE_TYPE.fullmatch(name):
        read.extend(found)
        return None
    problem = unknown_type[0]
    if not read.unlisted("machine_type", name, problem.rule, problem.fix):
        return None
    if accelerator is None or gpus is None:
        rule = "a machine type that the tables do not list comes with accelerator and GPUs"
        read.problem("accelerator", accelerator, rule, "give accelerator and gpus_per_node too")
        return None
    return MachineType(name, accelerator, gpus, 0, 0, 0, (), frozenset(Capacity), ())


def _judge_capacity(
    read: Reader, node: MachineType, capacity: Capacity | None, location: str
) -> None:
    if capacity is None or capacity in node.obtainable:
        return
    zones = locations.zones_of(locations.region_of(location)) if location else ()
    others = [machine.name for machine in replacements(node, zones, capacity)][:3]
    sold_as = ", ".join(sorted(kind.value for kind in node.obtainable))
    rule = f"Google does not sell it as {capacity.value}, only as {sold_as}"
    fix = "choose " + (f"another ({', '.join(others)})" if others else "another capacity")
    read.problem("machine_type", node.name, rule, fix)


def _gpu_zones(read: Reader, node: MachineType, location: str) -> tuple[str, ...]:
    if not location:
        return read.texts("zones", default=())
    region = locations.region_of(location)
    possible = node.zones_in(region)
    if locations.is_zone(location):
        possible = tuple(zone for zone in possible if zone == location)
    what = f"the zones of {location} with {node.name}"
    if node.attached_in is not None:
        what += f" and {node.accelerator}"
    if possible:
        return read_zones(read, "zones", region, possible, what)
    if read.has("zones") and read.is_list("zones"):
        return _vouched(read, node, region, what)
    rule = f"{location} does not have this machine type"
    if node.attached_in is not None:
        rule += f" with {node.accelerator}, as far as our table knows"
    fix = "zones that have it: " + (", ".join(sorted(node.zones)) or "none that we know")
    if read.unlisted("machine_type", node.name, rule, fix):
        read.problem("zones", None, "zones that the tables do not know are named", "name them")
    return ()


def _vouched(read: Reader, node: MachineType, region: str, what: str) -> tuple[str, ...]:
    """Zones that the caller names for a machine of which no zone here is known."""
    zones = read.texts("zones", default=())
    wrong = [zone for zone in zones if not re.fullmatch(rf"{region}-[a-z0-9]+", zone)]
    known = ", ".join(sorted(node.zones)) or "none that we know"
    if wrong or not zones:
        read.problem("zones", wrong, f"these are not zones of {region}", "name zones of it")
    else:
        read.unlisted("zones", list(zones), f"these are not among {what}", f"use {known}")
    return zones


def _gpu_disk(read: Reader, node: MachineType) -> str:
    disks = node.boot_disks or ("pd-balanced",)
    disk = read.text("disk_type", default=disks[0])
    if disk and node.boot_disks and disk not in disks:
        rule = f"{node.name} can't boot from it"
        read.problem("disk_type", disk, rule, "use one of " + ", ".join(disks))
    return disk


def read_cpu_machine(
    read: Reader, location: str, default: object, whose: str = "machines of this pool"
) -> Machine:
    """The machine without GPUs, its zones and disk.

    Args:
        read: The reader.
        location: Region or zone of the cluster, "" when it could not be read.
        default: Machine type when none is given, or `REQUIRED`.
        whose: Who never runs on GPUs, for the message.
    """
    name = read.text("machine_type", default=default)
    if name in MACHINE_TYPES or _ACCELERATED.match(name):
        rule = f"{whose} have no GPUs or TPUs"
        read.problem("machine_type", name, rule, "choose one like e2-standard-4")
    elif name and not _MACHINE_TYPE.fullmatch(name):
        rule = "this is no name of a machine type"
        read.problem("machine_type", name, rule, "choose one like e2-standard-4")
    region = locations.region_of(location) if location else ""
    here = locations.zones_of(region)
    if location and locations.is_zone(location):
        here = (location,)
    zones = read_zones(read, "zones", region, here, "the zones of the cluster")
    return Machine(name, None, zones, read.text("disk_type", default="pd-balanced"))
