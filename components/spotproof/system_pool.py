"""The on-demand home of system pods."""

from dataclasses import dataclass
from typing import Any, TypedDict

import pulumi
from pulumi_gcp import container
from typing_extensions import NotRequired

from spotproof.nodes import SIZE_IS_THE_AUTOSCALERS, node_config
from spotproof.options import child_of
from spotproof.places import read_location, read_project
from spotproof.pool_machine import read_cpu_machine
from spotproof.pool_reading import nodes_in_each_zone, read_pool_name
from spotproof.reader import Reader


class SystemNodePoolArgs(TypedDict):
    project: str
    """Project id."""

    cluster: pulumi.Input[str]
    """Name or id of the cluster."""

    cluster_location: str
    """Region or zone of the cluster."""

    node_service_account: pulumi.Input[str]
    """Email of the service account that nodes run as."""

    node_pool_name: NotRequired[str]
    """Fixed name, for a pool that exists and is imported; the component's name with a suffix when omitted. A pool of a fixed name goes before its replacement comes."""

    machine_type: NotRequired[str]
    """Machine type without GPUs; `e2-standard-4` when omitted."""

    disk_type: NotRequired[str]
    """Boot disk type, for example `hyperdisk-balanced` on machines that take no persistent disk; `pd-balanced` when omitted."""

    min_nodes: NotRequired[int]
    """Least nodes in all zones together, at least 1; 1 when omitted."""

    max_nodes: NotRequired[int]
    """Most nodes in all zones together, at least one for each zone; 5, or `min_nodes` if that is more, when omitted."""

    zones: NotRequired[list[str]]
    """Zones of the nodes; all zones of the region, or the cluster's zone, when omitted."""

    disk_size_gb: NotRequired[int]
    """Boot disk of a node in GB; 100 when omitted."""

    tables_out_of_date: NotRequired[bool]
    """Whether zones and regions that our tables do not list are taken on trust, with a warning; false when omitted."""


@dataclass(frozen=True)
class SystemNodePoolPlan:
    """Checked arguments of a `SystemNodePool`."""

    project: str
    cluster_location: str
    node_pool_name: str | None
    machine_type: str
    min_nodes: int
    max_nodes: int
    zones: tuple[str, ...]
    disk_type: str
    disk_size_gb: int
    cluster: Any
    node_service_account: Any


def plan_system_node_pool(read: Reader, name: str) -> SystemNodePoolPlan:
    """Judge the arguments of a `SystemNodePool`; problems are noted on `read`."""
    project = read_project(read)
    fixed_name = read_pool_name(read, name)
    location = read_location(read, "cluster_location")
    machine = read_cpu_machine(read, location, "e2-standard-4", "system nodes")
    least = read.integer("min_nodes", default=1)
    if read.is_right("min_nodes") and least < 1:
        rule = "system pods always need a node, and the autoscaler never empties their last one"
        read.problem("min_nodes", least, rule, "use at least 1")
    most = read.integer("max_nodes", default=max(5, least))
    if read.is_right("max_nodes") and most < max(least, 1):
        rule = f"this is not below {read.spell('min_nodes')} ({max(least, 1)})"
        read.problem("max_nodes", most, rule, "raise it")
    if read.is_right("max_nodes") and most < len(machine.zones):
        rule = f"GKE starts a pool with one node in each of its {len(machine.zones)} zones"
        read.problem("max_nodes", most, rule, "raise it, or name fewer zones")
    return SystemNodePoolPlan(
        project=project,
        cluster_location=location,
        node_pool_name=fixed_name,
        machine_type=machine.name,
        min_nodes=max(least, 1),
        max_nodes=most,
        zones=machine.zones,
        disk_type=machine.disk_type,
        disk_size_gb=read.integer("disk_size_gb", default=100, least=10, most=65_536),
        cluster=read.given("cluster"),
        node_service_account=read.given("node_service_account"),
    )


class SystemNodePool(pulumi.ComponentResource):
    """An on-demand node pool without GPUs and without taints, never empty: where system pods live."""

    node_pool_name: pulumi.Output[str]
    """Name of the node pool."""

    def __init__(
        self, name: str, args: SystemNodePoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = Reader(args, SystemNodePoolArgs.__annotations__)
        plan = plan_system_node_pool(read, name)
        read.finish(f"SystemNodePool {name}")
        super().__init__("spotproof:index:SystemNodePool", name, None, opts)
        read.warn(self)
        pool = container.NodePool(
            f"{name}-pool",
            name=plan.node_pool_name,
            project=plan.project,
            cluster=plan.cluster,
            location=plan.cluster_location,
            node_locations=list(plan.zones),
            initial_node_count=nodes_in_each_zone(plan.min_nodes, plan.max_nodes, len(plan.zones)),
            autoscaling=container.NodePoolAutoscalingArgs(
                total_min_node_count=plan.min_nodes,
                total_max_node_count=plan.max_nodes,
                location_policy="BALANCED",
            ),
            management=container.NodePoolManagementArgs(auto_repair=True, auto_upgrade=True),
            upgrade_settings=container.NodePoolUpgradeSettingsArgs(
                strategy="SURGE", max_surge=1, max_unavailable=0
            ),
            node_config=node_config(
                machine_type=plan.machine_type,
                disk_type=plan.disk_type,
                disk_size_gb=plan.disk_size_gb,
                service_account=plan.node_service_account,
            ),
            opts=child_of(self, ignore_changes=SIZE_IS_THE_AUTOSCALERS, timeout="1h"),
        )
        self.node_pool_name = pool.name
        self.register_outputs({"nodePoolName": self.node_pool_name})
