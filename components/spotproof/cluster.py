"""A regional Standard cluster."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypedDict

import pulumi
from pulumi_gcp import container, projects, serviceaccount
from typing_extensions import NotRequired

from spotproof.auto_provisioning import (
    AutoProvisioningArgs,
    AutoProvisioningPlan,
    cluster_autoscaling,
    plan_auto_provisioning,
)
from spotproof.maintenance import (
    MaintenanceWindowArgs,
    MaintenanceWindowPlan,
    maintenance_policy,
    plan_maintenance_window,
)
from spotproof.options import child_of
from spotproof.places import read_project, read_region
from spotproof.reader import Reader
from spotproof_gke import names

NODE_ROLES = {
    "default-node": "roles/container.defaultNodeServiceAccount",
    "image-reader": "roles/artifactregistry.reader",
}
"""All that a node itself may do: report logs and metrics, and pull images."""

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


class ReleaseChannel(str, Enum):
    """How early a cluster gets new versions of GKE."""

    RAPID = "RAPID"
    REGULAR = "REGULAR"
    STABLE = "STABLE"
    EXTENDED = "EXTENDED"


class GkeClusterArgs(TypedDict):
    project: str
    """Project id."""

    region: str
    """Region of the control plane and the nodes, for example `us-central1`."""

    network_id: pulumi.Input[str]
    """Id of the VPC, for example the output of `Network`."""

    subnetwork_id: pulumi.Input[str]
    """Id of the subnetwork in the same region."""

    pods_range_name: NotRequired[pulumi.Input[str]]
    """Name of the subnetwork's secondary range for pods; `pods` when omitted."""

    services_range_name: NotRequired[pulumi.Input[str]]
    """Name of the subnetwork's secondary range for services; `services` when omitted."""

    cluster_name: NotRequired[str]
    """Fixed name of the cluster, at most 40 characters; the component's name when omitted."""

    release_channel: NotRequired[ReleaseChannel]
    """How early new versions come; `REGULAR` when omitted."""

    deletion_protection: NotRequired[bool]
    """Whether the cluster refuses to be destroyed; true when omitted."""

    maintenance_window: NotRequired[MaintenanceWindowArgs]
    """When GKE may upgrade; Saturday and Sunday from 02:00 to 08:00 UTC when omitted."""

    auto_provisioning: NotRequired[AutoProvisioningArgs]
    """Flex-start GPUs by node auto-provisioning; off when omitted."""

    labels: NotRequired[dict[str, str]]
    """Google Cloud labels of the cluster."""


@dataclass(frozen=True)
class GkeClusterPlan:
    """Checked arguments of a `GkeCluster`."""

    project: str
    region: str
    cluster_name: str
    release_channel: ReleaseChannel
    deletion_protection: bool
    maintenance_window: MaintenanceWindowPlan
    auto_provisioning: AutoProvisioningPlan | None
    labels: dict[str, str]
    network_id: Any
    subnetwork_id: Any
    pods_range_name: Any
    services_range_name: Any


def plan_gke_cluster(read: Reader, name: str) -> GkeClusterPlan:
    """Judge the arguments of a `GkeCluster`; problems are noted on `read`."""
    project = read_project(read)
    cluster_name = read.name("cluster_name", names.cluster_name_problems, default=name)
    region = read_region(read)
    labels = read.items("labels", default={})
    read.extend(names.label_problems("labels", labels))
    auto_provisioning = None
    if read.has("auto_provisioning"):
        nested = read.nested("auto_provisioning", AutoProvisioningArgs.__annotations__)
        auto_provisioning = plan_auto_provisioning(nested, region)
    window = read.nested("maintenance_window", MaintenanceWindowArgs.__annotations__)
    return GkeClusterPlan(
        project=project,
        region=region,
        cluster_name=cluster_name,
        release_channel=read.choice("release_channel", ReleaseChannel, ReleaseChannel.REGULAR),
        deletion_protection=read.boolean("deletion_protection", default=True),
        maintenance_window=plan_maintenance_window(window),
        auto_provisioning=auto_provisioning,
        labels=labels,
        network_id=read.given("network_id"),
        subnetwork_id=read.given("subnetwork_id"),
        pods_range_name=read.given("pods_range_name", default="pods"),
        services_range_name=read.given("services_range_name", default="services"),
    )


class GkeCluster(pulumi.ComponentResource):
    """A regional Standard cluster with private nodes, on which Spot and flex-start GPUs are safe to use."""

    cluster_id: pulumi.Output[str]
    """Id of the cluster, for node pools."""

    cluster_name: pulumi.Output[str]
    """Name of the cluster."""

    location: pulumi.Output[str]
    """Region of the cluster."""

    dns_endpoint: pulumi.Output[str]
    """DNS name of the control plane, the only way to reach it; IAM decides who may."""

    workload_pool: pulumi.Output[str]
    """Workload identity pool, `PROJECT.svc.id.goog`."""

    node_service_account: pulumi.Output[str]
    """Email of the service account that nodes run as; a pool that depends on this component finds it with its roles."""

    credentials_command: pulumi.Output[str]
    """The command that writes this cluster's entry into a kubeconfig."""

    def __init__(
        self, name: str, args: GkeClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = Reader(args, GkeClusterArgs.__annotations__)
        plan = plan_gke_cluster(read, name)
        read.finish(f"GkeCluster {name}")
        super().__init__("spotproof:index:GkeCluster", name, None, opts)
        account = self._node_account(name, plan)
        self.node_service_account = account.email
        cluster = self._cluster(name, plan, self._grants(name, plan, account))
        self.cluster_id = cluster.id
        self.cluster_name = cluster.name
        self.location = cluster.location
        self.dns_endpoint = cluster.control_plane_endpoints_config.apply(_dns_name)
        self.workload_pool = cluster.id.apply(lambda _: f"{plan.project}.svc.id.goog")
        self.credentials_command = pulumi.Output.format(
            "gcloud container clusters get-credentials {0} --location={1} --project={2}"
            " --dns-endpoint",
            cluster.name,
            cluster.location,
            plan.project,
        )
        self.register_outputs(
            {
                "clusterId": self.cluster_id,
                "clusterName": self.cluster_name,
                "location": self.location,
                "dnsEndpoint": self.dns_endpoint,
                "workloadPool": self.workload_pool,
                "nodeServiceAccount": self.node_service_account,
                "credentialsCommand": self.credentials_command,
            }
        )

    def _node_account(self, name: str, plan: GkeClusterPlan) -> serviceaccount.Account:
        return serviceaccount.Account(
            f"{name}-nodes",
            project=plan.project,
            account_id=names.shortened(f"{plan.cluster_name}-nodes", names.ACCOUNT_ID_MAX),
            display_name=f"Nodes of GKE cluster {plan.cluster_name}",
            opts=child_of(self),
        )

    def _grants(
        self, name: str, plan: GkeClusterPlan, account: serviceaccount.Account
    ) -> list[projects.IAMMember]:
        return [
            projects.IAMMember(
                f"{name}-nodes-{role}",
                project=plan.project,
                role=NODE_ROLES[role],
                member=pulumi.Output.concat("serviceAccount:", account.email),
                opts=child_of(self),
            )
            for role in sorted(NODE_ROLES)
        ]

    def _cluster(
        self, name: str, plan: GkeClusterPlan, grants: Sequence[projects.IAMMember]
    ) -> container.Cluster:
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
            ip_allocation_policy=container.ClusterIpAllocationPolicyArgs(
                cluster_secondary_range_name=plan.pods_range_name,
                services_secondary_range_name=plan.services_range_name,
            ),
            private_cluster_config=container.ClusterPrivateClusterConfigArgs(
                enable_private_nodes=True
            ),
            control_plane_endpoints_config=container.ClusterControlPlaneEndpointsConfigArgs(
                dns_endpoint_config=container.ClusterControlPlaneEndpointsConfigDnsEndpointConfigArgs(
                    allow_external_traffic=True
                ),
                ip_endpoints_config=container.ClusterControlPlaneEndpointsConfigIpEndpointsConfigArgs(
                    enabled=False
                ),
            ),
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
                plan.auto_provisioning, self.node_service_account
            ),
            # Auto-provisioned nodes need the roles of their account from the start.
            opts=child_of(self, depends_on=grants, timeout="1h"),
        )


def _dns_name(config: Any) -> str:
    endpoint = config.dns_endpoint_config.endpoint if config.dns_endpoint_config else None
    return endpoint or ""
