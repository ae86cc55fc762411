"""A regional Standard cluster."""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_gcp import container, projects
from typing_extensions import NotRequired

from spotproof.auto_provisioning import (
    AutoProvisioningArgs,
    AutoProvisioningPlan,
    cluster_autoscaling,
    plan_auto_provisioning,
)
from spotproof.cluster_base import (
    CLUSTER_TIMEOUT,
    ClusterArgs,
    ClusterComponent,
    ClusterPlan,
    ip_allocation,
    plan_cluster,
    private_nodes,
    reached_by_dns,
)
from spotproof.maintenance import maintenance_policy
from spotproof.options import child_of
from spotproof.reader import Reader

METRICS = (
    "SYSTEM_COMPONENTS",
    "STORAGE",
    "POD",
    "DEPLOYMENT",
    "STATEFULSET",
    "DAEMONSET",
    "HPA",
    "JOBSET",
    "CADVISOR",
    "KUBELET",
    "DCGM",
)
"""Metrics that Managed Prometheus collects; DCGM is the GPUs'."""


class GkeClusterArgs(ClusterArgs):
    """Arguments of `GkeCluster`."""

    auto_provisioning: NotRequired[AutoProvisioningArgs]
    """Flex-start GPUs by node auto-provisioning; off when omitted."""


@dataclass(frozen=True)
class GkeClusterPlan:
    """Checked arguments of a `GkeCluster`."""

    cluster: ClusterPlan
    auto_provisioning: AutoProvisioningPlan | None


def plan_gke_cluster(read: Reader, name: str) -> GkeClusterPlan:
    """Judge the arguments of a `GkeCluster`; problems are noted on `read`."""
    cluster = plan_cluster(read, name)
    auto_provisioning = None
    if read.has("auto_provisioning"):
        nested = read.nested("auto_provisioning", AutoProvisioningArgs.__annotations__)
        auto_provisioning = plan_auto_provisioning(nested, cluster.region)
    return GkeClusterPlan(cluster, auto_provisioning)


class GkeCluster(ClusterComponent):
    """A regional Standard cluster with private nodes, on which Spot and flex-start GPUs are safe to use."""

    def __init__(
        self, name: str, args: GkeClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = Reader(args, GkeClusterArgs.__annotations__)
        plan = plan_gke_cluster(read, name)
        read.finish(f"GkeCluster {name}")
        super().__init__("spotproof:index:GkeCluster", name, None, opts)
        read.warn(self)
        grants = self._node_account(name, plan.cluster)
        self._finish(self._cluster(name, plan, grants), plan.cluster.project)

    def _cluster(
        self, name: str, planned: GkeClusterPlan, grants: Sequence[projects.IAMMember]
    ) -> container.Cluster:
        plan = planned.cluster
        return container.Cluster(
            f"{name}-cluster",
            name=plan.cluster_name,
            project=plan.project,
            location=plan.region,
            deletion_protection=plan.deletion_protection,
            resource_labels=plan.labels or None,
            # Pools are resources of their own: an inline pool can't change without the cluster.
            remove_default_node_pool=True,
            initial_node_count=1,
            network=plan.network_id,
            subnetwork=plan.subnetwork_id,
            networking_mode="VPC_NATIVE",
            datapath_provider="ADVANCED_DATAPATH",
            ip_allocation_policy=ip_allocation(plan),
            private_cluster_config=private_nodes(),
            control_plane_endpoints_config=reached_by_dns(),
            release_channel=container.ClusterReleaseChannelArgs(channel=plan.release_channel.value),
            maintenance_policy=maintenance_policy(plan.maintenance_window),
            workload_identity_config=container.ClusterWorkloadIdentityConfigArgs(
                workload_pool=f"{plan.project}.svc.id.goog"
            ),
            enable_shielded_nodes=True,
            addons_config=container.ClusterAddonsConfigArgs(
                gcs_fuse_csi_driver_config=container.ClusterAddonsConfigGcsFuseCsiDriverConfigArgs(
                    enabled=True
                )
            ),
            logging_config=container.ClusterLoggingConfigArgs(
                enable_components=["SYSTEM_COMPONENTS", "WORKLOADS"]
            ),
            monitoring_config=container.ClusterMonitoringConfigArgs(
                enable_components=list(METRICS),
                managed_prometheus=container.ClusterMonitoringConfigManagedPrometheusArgs(
                    enabled=True
                ),
            ),
            cluster_autoscaling=cluster_autoscaling(
                planned.auto_provisioning, self.node_service_account
            ),
            # Auto-provisioned nodes need the roles of their account from the start.
            opts=child_of(self, depends_on=grants, timeout=CLUSTER_TIMEOUT),
        )
