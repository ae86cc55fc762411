"""A regional Autopilot cluster."""

import pulumi
from pulumi_gcp import container

from spotproof.cluster_base import (
    CLUSTER_TIMEOUT,
    ClusterArgs,
    ClusterComponent,
    ip_allocation,
    plan_cluster,
    private_nodes,
    reached_by_dns,
)
from spotproof.maintenance import maintenance_policy
from spotproof.nodes import CLOUD_PLATFORM
from spotproof.options import child_of
from spotproof.reader import Reader

STANDARD_ONLY = {
    "auto_provisioning": "leave it out: Autopilot makes nodes for what pods ask for",
    "enable_autopilot": "leave it out: this cluster is Autopilot",
}
"""Arguments that people bring along from a Standard cluster, and what to do instead."""


class AutopilotClusterArgs(ClusterArgs):
    """Arguments of `AutopilotCluster`."""


class AutopilotCluster(ClusterComponent):
    """A regional Autopilot cluster with private nodes: no pools, a pod just asks for Spot or flex-start."""

    def __init__(
        self, name: str, args: AutopilotClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = Reader(args, AutopilotClusterArgs.__annotations__, hints=STANDARD_ONLY)
        plan = plan_cluster(read, name)
        read.finish(f"AutopilotCluster {name}")
        super().__init__("spotproof:index:AutopilotCluster", name, None, opts)
        read.warn(self)
        grants = self._node_account(name, plan)
        # Left out on purpose: what Autopilot decides itself (pools, shielded nodes, data plane,
        # workload identity, FUSE driver, metrics) and the provider refuses beside it.
        cluster = container.Cluster(
            f"{name}-cluster",
            name=plan.cluster_name,
            project=plan.project,
            location=plan.region,
            enable_autopilot=True,
            deletion_protection=plan.deletion_protection,
            resource_labels=plan.labels or None,
            network=plan.network_id,
            subnetwork=plan.subnetwork_id,
            networking_mode="VPC_NATIVE",
            ip_allocation_policy=ip_allocation(plan),
            private_cluster_config=private_nodes(),
            control_plane_endpoints_config=reached_by_dns(),
            release_channel=container.ClusterReleaseChannelArgs(channel=plan.release_channel.value),
            maintenance_policy=maintenance_policy(plan.maintenance_window),
            cluster_autoscaling=_node_defaults(self.node_service_account),
            # Nodes need the roles of their account from the start.
            opts=child_of(self, depends_on=grants, timeout=CLUSTER_TIMEOUT),
        )
        self._finish(cluster, plan.project)


def _node_defaults(
    service_account: pulumi.Input[str],
) -> container.ClusterClusterAutoscalingArgs:
    """The account of the nodes: the one part of auto-provisioning that Autopilot takes."""
    return container.ClusterClusterAutoscalingArgs(
        auto_provisioning_defaults=container.ClusterClusterAutoscalingAutoProvisioningDefaultsArgs(
            service_account=service_account, oauth_scopes=[CLOUD_PLATFORM]
        )
    )
