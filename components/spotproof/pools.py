"""Declares a planned node pool, and says how to land on it."""

import pulumi
from pulumi_gcp import container

from spotproof.nodes import GPU_POOL_TIMEOUT, SIZE_IS_THE_AUTOSCALERS, node_config
from spotproof.options import child_of
from spotproof.pool_plan import PoolPlan
from spotproof_gke.capacity import Capacity, scheduling

CPU_POOL_TIMEOUT = "1h"
"""How long a pool without GPUs may take."""


class WorkPool(pulumi.ComponentResource):
    """A node pool for work, and what a pod must say to land on it."""

    node_pool_name: pulumi.Output[str]
    """Name of the node pool."""

    node_selector: pulumi.Output[dict[str, str]]
    """What a pod must select to land here."""

    tolerations: pulumi.Output[list[dict[str, str]]]
    """What a pod must tolerate to land here; Kubernetes itself adds the GPU toleration."""

    node_taints: pulumi.Output[list[dict[str, str]]]
    """All taints that the pool declares, to be restated when it is imported."""

    termination_budget_seconds: pulumi.Output[int]
    """What an ordinary pod has when its node is taken away; -1 where nodes are not taken away."""

    def _declare(self, name: str, plan: PoolPlan) -> dict[str, pulumi.Output]:
        """Declare the pool; returns the outputs to register."""
        pool = node_pool(self, f"{name}-pool", plan)
        where = scheduling(plan.capacity, plan.gpu.accelerator if plan.gpu else None)
        tolerations = [*where.tolerations, *(taint.toleration() for taint in plan.node_taints)]
        seconds = plan.termination.seconds
        self.node_pool_name = pool.name
        self.node_selector = pulumi.Output.from_input(where.node_selector)
        self.tolerations = pulumi.Output.from_input(tolerations)
        self.node_taints = pulumi.Output.from_input([one.provider_taint() for one in plan.taints])
        self.termination_budget_seconds = pulumi.Output.from_input(
            -1 if seconds is None else seconds
        )
        return {
            "nodePoolName": self.node_pool_name,
            "nodeSelector": self.node_selector,
            "tolerations": self.tolerations,
            "nodeTaints": self.node_taints,
            "terminationBudgetSeconds": self.termination_budget_seconds,
        }


def node_pool(parent: pulumi.Resource, name: str, plan: PoolPlan) -> container.NodePool:
    """The node pool of a plan."""
    return container.NodePool(
        name,
        name=plan.node_pool_name,
        project=plan.project,
        cluster=plan.cluster,
        location=plan.cluster_location,
        node_locations=list(plan.zones),
        node_count=plan.nodes_per_zone,
        initial_node_count=None if plan.max_nodes is None else plan.initial_nodes_per_zone,
        autoscaling=None
        if plan.max_nodes is None
        else container.NodePoolAutoscalingArgs(
            total_min_node_count=plan.min_nodes,
            total_max_node_count=plan.max_nodes,
            # ANY goes where capacity is; of Spot it prefers zones with less preemption.
            location_policy=plan.location_policy.value,
        ),
        management=container.NodePoolManagementArgs(
            auto_repair=plan.auto_repair, auto_upgrade=True
        ),
        upgrade_settings=None
        if plan.surge is None
        else container.NodePoolUpgradeSettingsArgs(
            strategy="SURGE", max_surge=plan.surge[0], max_unavailable=plan.surge[1]
        ),
        placement_policy=container.NodePoolPlacementPolicyArgs(type="COMPACT")
        if plan.compact
        else None,
        queued_provisioning=container.NodePoolQueuedProvisioningArgs(enabled=True)
        if plan.capacity is Capacity.FLEX_START_QUEUED
        else None,
        node_config=_node_config(plan),
        opts=child_of(
            parent,
            ignore_changes=SIZE_IS_THE_AUTOSCALERS if plan.max_nodes is not None else (),
            timeout=GPU_POOL_TIMEOUT if plan.gpu else CPU_POOL_TIMEOUT,
        ),
    )


def _node_config(plan: PoolPlan) -> container.NodePoolNodeConfigArgs:
    affinity, kubelet = plan.affinity, plan.shutdown_seconds
    return node_config(
        machine_type=plan.machine_type,
        disk_type=plan.disk_type,
        disk_size_gb=plan.disk_size_gb,
        service_account=plan.node_service_account,
        capacity=plan.capacity,
        max_node_lifetime_seconds=plan.max_node_lifetime_seconds,
        reservation_affinity=None
        if affinity is None
        else container.NodePoolNodeConfigReservationAffinityArgs(
            consume_reservation_type=affinity["consumeReservationType"],
            key=affinity.get("key"),
            values=affinity.get("values"),
        ),
        kubelet_config=None
        if kubelet is None
        else container.NodePoolNodeConfigKubeletConfigArgs(
            shutdown_grace_period_seconds=kubelet[0],
            shutdown_grace_period_critical_pods_seconds=kubelet[1],
        ),
        taints=plan.taints,
        labels=plan.labels,
        gpu=plan.gpu,
    )
