"""Node auto-provisioning of a Standard cluster, set up for flex-start GPUs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypedDict

import pulumi
from pulumi_gcp import container
from typing_extensions import NotRequired

from spotproof.nodes import CLOUD_PLATFORM
from spotproof.places import read_zones
from spotproof.reader import Reader
from spotproof_gke import accelerators
from spotproof_gke.accelerators import MACHINE_TYPES, MachineType
from spotproof_gke.capacity import Capacity

MOST_GPUS = 100_000
"""Upper bound of a limit, to catch a slip; far above any quota."""


class AutoProvisioningArgs(TypedDict):
    accelerators: dict[str, int]
    """Most GPUs in the whole cluster, hand-made pools included, by accelerator, for example `{"nvidia-tesla-a100": 8}`; GKE makes no node for an accelerator that is not named here."""

    max_vcpus: int
    """Most vCPUs in the whole cluster, hand-made pools included."""

    max_memory_gb: int
    """Most memory in GB in the whole cluster, hand-made pools included."""

    zones: NotRequired[list[str]]
    """Zones of the nodes; those of the region that have one of the accelerators when omitted."""

    disk_size_gb: NotRequired[int]
    """Boot disk of a node in GB; 200 when omitted."""


@dataclass(frozen=True)
class AutoProvisioningPlan:
    """Checked arguments of auto-provisioning; `accelerators` holds (name, most GPUs), sorted."""

    accelerators: tuple[tuple[str, int], ...]
    max_vcpus: int
    max_memory_gb: int
    zones: tuple[str, ...]
    disk_type: str
    disk_size_gb: int


def plan_auto_provisioning(read: Reader, region: str) -> AutoProvisioningPlan:
    """Judge the arguments of auto-provisioning in a region; problems are noted on `read`."""
    limits = _limits(read)
    names = [accelerator for accelerator, _ in limits]
    zones: set[str] = set()
    for accelerator in names:
        here = [z for z in accelerators.zones_with(accelerator) if z.startswith(f"{region}-")]
        zones.update(here)
        if region and not here:
            rule = f"no zone of {region} has this accelerator"
            known = sorted({z.rpartition("-")[0] for z in accelerators.zones_with(accelerator)})
            read.problem("accelerators", accelerator, rule, "regions with it: " + ", ".join(known))
    chosen = read_zones(
        read, "zones", region, sorted(zones), f"the zones of {region} with these accelerators"
    )
    stated = read.has("zones") and read.is_right("zones")
    for accelerator in names:
        possible = zones.intersection(accelerators.zones_with(accelerator))
        if stated and possible and not possible.intersection(chosen):
            rule = f"none of these zones has {accelerator}"
            read.problem("zones", list(chosen), rule, "add one of " + ", ".join(sorted(possible)))
    return AutoProvisioningPlan(
        accelerators=limits,
        max_vcpus=_room(read, "max_vcpus", names, lambda machine: machine.vcpus),
        max_memory_gb=_room(read, "max_memory_gb", names, lambda machine: machine.memory_gb),
        zones=chosen,
        disk_type=_disk_type(read, names),
        disk_size_gb=read.integer("disk_size_gb", default=200, least=10, most=65_536),
    )


def _limits(read: Reader) -> tuple[tuple[str, int], ...]:
    limits = read.items("accelerators")
    if not limits and read.is_right("accelerators"):
        rule = "auto-provisioning of flex-start GPUs needs a limit for each accelerator"
        read.problem("accelerators", {}, rule, "name one, for example nvidia-l4: 4")
    flexible = [name for name in accelerators.ACCELERATORS if _machines([name])]
    good: list[tuple[str, int]] = []
    for name in sorted(limits):
        most = limits[name]
        key = f"accelerators.{name}"
        if name not in flexible:
            rule = "this is not an accelerator that flex-start offers, as GKE names it"
            fix = accelerators.right_accelerator_name(name, flexible)
            read.problem("accelerators", name, rule, fix)
        elif isinstance(most, bool) or not isinstance(most, (int, float)) or most % 1:
            read.problem(key, most, "this is a whole number of GPUs", "write a number")
        elif not _gpus_of_a_node(name) <= most <= MOST_GPUS:
            rule = f"one node has {_gpus_of_a_node(name)} of them, and {MOST_GPUS} is our bound"
            read.problem(key, most, rule, "choose a number between, or leave the accelerator out")
        else:
            good.append((name, int(most)))
    return tuple(good)


def _gpus_of_a_node(accelerator: str) -> int:
    """The fewest GPUs that a flex-start node with this accelerator has."""
    return min(machine.gpus for machine in _machines([accelerator]))


def _machines(names: Sequence[str]) -> list[MachineType]:
    """The machine types with these accelerators that flex-start offers."""
    return [
        machine
        for machine in MACHINE_TYPES.values()
        if machine.accelerator in names and Capacity.FLEX_START in machine.obtainable
    ]


def _room(read: Reader, key: str, names: Sequence[str], size: Callable[[MachineType], int]) -> int:
    most = read.integer(key, least=1)
    needed = max((min(map(size, _machines([name]))) for name in names), default=1)
    if read.is_right(key) and most < needed:
        rule = f"the smallest node with the largest of these accelerators needs {needed}"
        read.problem(key, most, rule, "raise it above that; the other pools count too")
    return most


def _disk_type(read: Reader, names: Sequence[str]) -> str:
    """The boot disk type that every machine type of these accelerators takes."""
    machines = _machines(names)
    known = machines[0].boot_disks if machines else ("pd-balanced",)
    shared = [disk for disk in known if all(disk in machine.boot_disks for machine in machines)]
    if not shared:
        rule = "no boot disk type fits all of these, and auto-provisioning has one for all nodes"
        fix = "keep accelerators on Hyperdisk (H200, B200, RTX PRO 6000) in a cluster of their own"
        read.problem("accelerators", sorted(names), rule, fix)
        return ""
    return shared[0]


def cluster_autoscaling(
    plan: AutoProvisioningPlan | None, service_account: pulumi.Input[str]
) -> container.ClusterClusterAutoscalingArgs:
    """The cluster's auto-provisioning; said to be off when there is no plan, for leaving it out keeps it on."""
    if plan is None:
        return container.ClusterClusterAutoscalingArgs(
            enabled=False, autoscaling_profile="BALANCED"
        )
    limits = [("cpu", plan.max_vcpus), ("memory", plan.max_memory_gb), *plan.accelerators]
    return container.ClusterClusterAutoscalingArgs(
        enabled=True,
        autoscaling_profile="BALANCED",
        auto_provisioning_locations=list(plan.zones),
        resource_limits=[
            container.ClusterClusterAutoscalingResourceLimitArgs(
                resource_type=resource, minimum=0, maximum=most
            )
            for resource, most in limits
        ],
        auto_provisioning_defaults=container.ClusterClusterAutoscalingAutoProvisioningDefaultsArgs(
            service_account=service_account,
            oauth_scopes=[CLOUD_PLATFORM],
            image_type="COS_CONTAINERD",
            disk_type=plan.disk_type,
            disk_size=plan.disk_size_gb,
            management=container.ClusterClusterAutoscalingAutoProvisioningDefaultsManagementArgs(
                auto_upgrade=True,
                # Flex-start nodes are not to be repaired: a repair would end the run.
                auto_repair=False,
            ),
            shielded_instance_config=container.ClusterClusterAutoscalingAutoProvisioningDefaultsShieldedInstanceConfigArgs(
                enable_secure_boot=True, enable_integrity_monitoring=True
            ),
        ),
    )
