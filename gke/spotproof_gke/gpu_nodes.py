"""Which machine carries which GPUs: built in, or attached to an N1 machine.

Tables: `data/machine_types.yaml`, `data/attachable_gpus.yaml`.
"""

import re
from collections.abc import Iterable

from spotproof_gke.accelerators import (
    MACHINE_TYPES,
    MachineType,
    obtainable,
    right_accelerator_name,
)
from spotproof_gke.capacity import Capacity
from spotproof_gke.problems import Problem, did_you_mean
from spotproof_gke.tables import table

_TABLE = table("attachable_gpus")
_FAMILY: str = _TABLE["machine_family"]
_N1 = re.compile(rf"{_FAMILY}-(?P<kind>standard|highmem|highcpu)-(?P<vcpus>[0-9]+)")

ATTACHABLE: tuple[str, ...] = tuple(_TABLE["accelerators"])
"""GKE's names of the GPUs that are attached to N1 machines."""


def gpu_node(
    machine_type: str, accelerator: str | None = None, gpus: int | None = None
) -> MachineType | list[Problem]:
    """The GPU node of this machine type, or what is wrong with the choice.

    Args:
        machine_type: For example `g2-standard-8`, or `n1-standard-8` with an attached GPU.
        accelerator: The GPU as GKE names it; needed on N1 alone, must agree elsewhere.
        gpus: GPUs of one node; likewise.

    The problems have the keys `machine_type`, `accelerator` and `gpus_per_node`.
    """
    if machine_type in MACHINE_TYPES:
        return _built_in(MACHINE_TYPES[machine_type], accelerator, gpus)
    if machine_type.startswith(f"{_FAMILY}-"):
        return _attached(machine_type, accelerator, gpus)
    if accelerator in ATTACHABLE:
        rule = f"{accelerator} is attached to {_FAMILY.upper()} machines alone"
        fix = f"choose one like {_FAMILY}-standard-8"
        return [Problem("machine_type", machine_type, rule, fix)]
    fix = did_you_mean(machine_type, MACHINE_TYPES)
    rule = "this is not a GPU machine type"
    if re.fullmatch(r"[a-z][a-z0-9]*-[a-z]+-[0-9]+[a-z]*", machine_type) and accelerator:
        rule = f"this machine type takes no {accelerator}"
        fix = "those with it: " + (", ".join(_with(accelerator)) or did_you_mean(accelerator, _ALL))
    return [Problem("machine_type", machine_type, rule, fix)]


def _built_in(
    machine: MachineType, accelerator: str | None, gpus: int | None
) -> MachineType | list[Problem]:
    problems: list[Problem] = []
    if accelerator not in (None, machine.accelerator):
        rule = f"{machine.name} has {machine.accelerator}"
        fix = "leave it out, or choose a machine type with it: " + (
            ", ".join(_with(accelerator)) or right_accelerator_name(accelerator, _ALL)
        )
        problems.append(Problem("accelerator", accelerator, rule, fix))
    if gpus not in (None, machine.gpus):
        rule = f"{machine.name} has {machine.gpus} {machine.accelerator}"
        others = sorted(
            other.name
            for other in MACHINE_TYPES.values()
            if other.accelerator == machine.accelerator and other.gpus == gpus
        )
        fix = "leave it out"
        if others:
            fix += f", or choose a machine type with {gpus}: {', '.join(others)}"
        problems.append(Problem("gpus_per_node", gpus, rule, fix))
    return problems or machine


def _attached(
    machine_type: str, accelerator: str | None, gpus: int | None
) -> MachineType | list[Problem]:
    size = _N1.fullmatch(machine_type)
    if size is None or int(size["vcpus"]) not in _TABLE["sizes"]:
        known = [f"{_FAMILY}-{kind}-{n}" for kind in _KINDS for n in _TABLE["sizes"]]
        rule = f"this is not an {_FAMILY.upper()} machine type"
        return [Problem("machine_type", machine_type, rule, did_you_mean(machine_type, known))]
    if accelerator is None:
        rule = f"an {_FAMILY.upper()} machine has the GPU that is attached to it"
        return [Problem("accelerator", None, rule, "name one of " + ", ".join(ATTACHABLE))]
    if accelerator not in ATTACHABLE:
        rule = f"this is not a GPU that {_FAMILY.upper()} machines take"
        elsewhere = _with(accelerator)
        fix = right_accelerator_name(accelerator, ATTACHABLE)
        if elsewhere:
            fix = "machine types with it: " + ", ".join(elsewhere)
        return [Problem("accelerator", accelerator, rule, fix)]
    row, vcpus = _TABLE["accelerators"][accelerator], int(size["vcpus"])
    count = 1 if gpus is None else gpus
    if count not in row["most_vcpus"]:
        rule = f"a node has {', '.join(map(str, row['most_vcpus']))} of {accelerator}"
        return [Problem("gpus_per_node", count, rule, "choose one of these numbers")]
    if vcpus > row["most_vcpus"][count]:
        rule = f"with {count} {accelerator} a machine has at most {row['most_vcpus'][count]} vCPUs"
        fix = "choose a smaller machine type, or more GPUs"
        return [Problem("machine_type", machine_type, rule, fix)]
    return MachineType(
        name=machine_type,
        accelerator=accelerator,
        gpus=count,
        gpu_memory_gb=count * row["gpu_memory_gb"],
        vcpus=vcpus,
        memory_gb=int(vcpus * _TABLE["memory_gb_per_vcpu"][size["kind"]]),
        boot_disks=tuple(_TABLE["boot_disks"]),
        obtainable=obtainable(_TABLE["obtainable"]),
        attached_in=tuple(row["zones"]),
    )


def _with(accelerator: str | None) -> list[str]:
    """Machine types with an accelerator."""
    if accelerator in ATTACHABLE:
        return [f"{_FAMILY}-{kind}-…" for kind in _KINDS]
    return [m.name for m in MACHINE_TYPES.values() if m.accelerator == accelerator]


_KINDS: tuple[str, ...] = tuple(_TABLE["memory_gb_per_vcpu"])
_ALL = (*dict.fromkeys(m.accelerator for m in MACHINE_TYPES.values()), *ATTACHABLE)


def sold_as(accelerator: str) -> frozenset[Capacity]:
    """The kinds of capacity that some machine with this accelerator is sold as."""
    if accelerator in ATTACHABLE:
        return obtainable(_TABLE["obtainable"])
    return frozenset().union(*(MACHINE_TYPES[name].obtainable for name in _with(accelerator)))


def most_gpus(accelerator: str) -> int:
    """The most GPUs of this kind that one machine has; 0 when no table knows it."""
    if accelerator in ATTACHABLE:
        return max(_TABLE["accelerators"][accelerator]["most_vcpus"])
    return max((MACHINE_TYPES[name].gpus for name in _with(accelerator)), default=0)


def replacements(
    machine: MachineType, zones: Iterable[str], capacity: Capacity
) -> tuple[MachineType, ...]:
    """Machine types that can do the work of `machine` in one of `zones`, the nearest first.

    Each has at least as much GPU memory in all and is sold as this capacity; those with the same
    GPU come first, then those with the least memory more than needed.
    """
    wanted = set(zones)
    found = [
        other
        for other in MACHINE_TYPES.values()
        if other.name != machine.name
        and capacity in other.obtainable
        and other.gpu_memory_gb >= machine.gpu_memory_gb
        and wanted.intersection(other.zones)
    ]
    return tuple(
        sorted(
            found,
            key=lambda m: (
                m.accelerator != machine.accelerator,
                m.gpu_memory_gb,
                abs(m.vcpus - machine.vcpus),
                m.name,
            ),
        )
    )
