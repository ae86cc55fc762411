"""A tainted pool of Spot GPU nodes."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypedDict

import pulumi
from pulumi_gcp import container
from typing_extensions import NotRequired

from spotproof.nodes import GPU_POOL_TIMEOUT, SIZE_IS_THE_AUTOSCALERS, Gpu, node_config
from spotproof.options import child_of
from spotproof.places import read_location, read_project, read_zones
from spotproof.reader import Reader
from spotproof_gke import locations, names
from spotproof_gke.accelerators import MACHINE_TYPES, MachineType
from spotproof_gke.capacity import Capacity, pool_taints, scheduling
from spotproof_gke.problems import did_you_mean


class GpuDriverVersion(str, Enum):
    """Which NVIDIA driver GKE installs."""

    DEFAULT = "DEFAULT"
    LATEST = "LATEST"


class SpotGpuPoolArgs(TypedDict):
    project: str
    """Project id."""

    cluster: pulumi.Input[str]
    """Name or id of the cluster, which may be one that this program does not own."""

    cluster_location: str
    """Region or zone of the cluster."""

    node_service_account: pulumi.Input[str]
    """Email of the service account that nodes run as."""

    machine_type: str
    """GPU machine type, for example `g2-standard-8`; it decides accelerator and count."""

    max_nodes: int
    """Most nodes in all zones together, at least 1; the pool starts at 0 and returns to 0."""

    zones: NotRequired[list[str]]
    """Zones of the nodes; all of the cluster's that have the machine type when omitted."""

    gpu_driver_version: NotRequired[GpuDriverVersion]
    """Driver that GKE installs; `DEFAULT` when omitted."""

    disk_size_gb: NotRequired[int]
    """Boot disk of a node in GB; 200 when omitted."""

    disk_type: NotRequired[str]
    """Boot disk type; the first that the machine type takes when omitted."""

    node_labels: NotRequired[dict[str, str]]
    """Kubernetes labels of the nodes besides GKE's own."""


@dataclass(frozen=True)
class SpotGpuPoolPlan:
    """Checked arguments of a `SpotGpuPool`."""

    project: str
    cluster_location: str
    machine: MachineType
    max_nodes: int
    zones: tuple[str, ...]
    gpu_driver_version: GpuDriverVersion
    disk_size_gb: int
    disk_type: str
    node_labels: dict[str, str]
    cluster: Any
    node_service_account: Any


def plan_spot_gpu_pool(read: Reader, name: str) -> SpotGpuPoolPlan:
    """Judge the arguments of a `SpotGpuPool`; problems are noted on `read`."""
    project = read_project(read)
    read.extend(names.node_pool_prefix_problems("name", f"{name}-pool"))
    location = read_location(read, "cluster_location")
    machine = _machine(read)
    return SpotGpuPoolPlan(
        project=project,
        cluster_location=location,
        machine=machine,
        max_nodes=read.integer("max_nodes", least=1, most=1000),
        zones=_zones(read, machine, location),
        gpu_driver_version=read.choice(
            "gpu_driver_version", GpuDriverVersion, GpuDriverVersion.DEFAULT
        ),
        disk_size_gb=read.integer("disk_size_gb", default=200, least=10, most=65_536),
        disk_type=_disk_type(read, machine),
        node_labels=_node_labels(read),
        cluster=read.given("cluster"),
        node_service_account=read.given("node_service_account"),
    )


def _machine(read: Reader) -> MachineType:
    on_spot = {n: m for n, m in MACHINE_TYPES.items() if Capacity.SPOT in m.obtainable}
    name = read.text("machine_type")
    if name in on_spot:
        return on_spot[name]
    if name in MACHINE_TYPES:
        read.problem("machine_type", name, "Google sells no Spot capacity of it", "choose another")
    elif name:
        rule = "this is not a GPU machine type that can be Spot"
        read.problem("machine_type", name, rule, did_you_mean(name, on_spot))
    return MACHINE_TYPES.get(name, _UNKNOWN_MACHINE)


_UNKNOWN_MACHINE = MachineType("", "", 0, 0, 0, 0, (), frozenset())


def _zones(read: Reader, machine: MachineType, location: str) -> tuple[str, ...]:
    if not location or not machine.name:
        return read.texts("zones", default=())
    region = locations.region_of(location)
    possible = machine.zones_in(region)
    if locations.is_zone(location):
        possible = tuple(zone for zone in possible if zone == location)
    if not possible:
        rule = f"{location} does not have this machine type"
        fix = "zones that have it: " + ", ".join(sorted(machine.zones))
        read.problem("machine_type", machine.name, rule, fix)
        return ()
    what = f"the zones of {location} with {machine.name}"
    return read_zones(read, "zones", possible, what)


def _disk_type(read: Reader, machine: MachineType) -> str:
    disks = machine.boot_disks or ("",)
    disk = read.text("disk_type", default=disks[0])
    if machine.name and disk and disk not in disks:
        rule = f"{machine.name} can't boot from it"
        read.problem("disk_type", disk, rule, "use one of " + ", ".join(disks))
    return disk


def _node_labels(read: Reader) -> dict[str, str]:
    labels = read.items("node_labels", default={})
    read.extend(names.node_label_problems("node_labels", labels))
    return labels


class SpotGpuPool(pulumi.ComponentResource):
    """A node pool of Spot GPUs that only workloads which ask for Spot can reach."""

    node_pool_name: pulumi.Output[str]
    """Name of the node pool."""

    accelerator: pulumi.Output[str]
    """The GPU as GKE names it, for example `nvidia-l4`."""

    gpus_per_node: pulumi.Output[int]
    """How many GPUs one node has."""

    node_selector: pulumi.Output[dict[str, str]]
    """What a pod must select to land here."""

    tolerations: pulumi.Output[list[dict[str, str]]]
    """What a pod must tolerate to land here; Kubernetes itself adds the GPU toleration."""

    def __init__(
        self, name: str, args: SpotGpuPoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = Reader(args, SpotGpuPoolArgs.__annotations__)
        plan = plan_spot_gpu_pool(read, name)
        read.finish(f"SpotGpuPool {name}")
        super().__init__("spotproof:index:SpotGpuPool", name, None, opts)
        pool = container.NodePool(
            f"{name}-pool",
            project=plan.project,
            cluster=plan.cluster,
            location=plan.cluster_location,
            node_locations=list(plan.zones),
            initial_node_count=0,
            autoscaling=container.NodePoolAutoscalingArgs(
                total_min_node_count=0,
                total_max_node_count=plan.max_nodes,
                # ANY goes where Spot capacity is, and prefers zones with less preemption.
                location_policy="ANY",
            ),
            management=container.NodePoolManagementArgs(auto_repair=True, auto_upgrade=True),
            upgrade_settings=container.NodePoolUpgradeSettingsArgs(
                # No surge node: a second scarce GPU may not be had.
                strategy="SURGE",
                max_surge=0,
                max_unavailable=1,
            ),
            node_config=node_config(
                machine_type=plan.machine.name,
                disk_type=plan.disk_type,
                disk_size_gb=plan.disk_size_gb,
                service_account=plan.node_service_account,
                spot=True,
                taints=pool_taints(Capacity.SPOT, gpu=True),
                labels=plan.node_labels,
                gpu=Gpu(plan.machine.accelerator, plan.machine.gpus, plan.gpu_driver_version.value),
            ),
            opts=child_of(self, ignore_changes=SIZE_IS_THE_AUTOSCALERS, timeout=GPU_POOL_TIMEOUT),
        )
        where = scheduling(Capacity.SPOT, plan.machine.accelerator)
        self.node_pool_name = pool.name
        self.accelerator = pulumi.Output.from_input(plan.machine.accelerator)
        self.gpus_per_node = pulumi.Output.from_input(plan.machine.gpus)
        self.node_selector = pulumi.Output.from_input(_plain(where.node_selector))
        self.tolerations = pulumi.Output.from_input([_plain(t) for t in where.tolerations])
        self.register_outputs(
            {
                "nodePoolName": self.node_pool_name,
                "accelerator": self.accelerator,
                "gpusPerNode": self.gpus_per_node,
                "nodeSelector": self.node_selector,
                "tolerations": self.tolerations,
            }
        )


def _plain(mapping: Mapping[str, str]) -> dict[str, str]:
    return dict(mapping)
