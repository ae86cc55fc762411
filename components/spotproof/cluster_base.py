"""What clusters of both modes have in common."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypedDict

import pulumi
from pulumi_gcp import container, projects, serviceaccount
from typing_extensions import NotRequired

from spotproof.maintenance import (
    MaintenanceWindowArgs,
    MaintenanceWindowPlan,
    plan_maintenance_window,
)
from spotproof.options import child_of
from spotproof.places import read_project, read_region
from spotproof.reader import Reader
from spotproof_gke import names

CLUSTER_TIMEOUT = "1h"
"""How long a cluster may take."""

NODE_ROLES = {
    "default-node": "roles/container.defaultNodeServiceAccount",
    "image-reader": "roles/artifactregistry.reader",
}
"""All that a node itself may do: report logs and metrics, and pull images."""


class ReleaseChannel(str, Enum):
    """How early a cluster gets new versions of GKE."""

    RAPID = "RAPID"
    """First of all."""

    REGULAR = "REGULAR"
    """After they have run in the rapid channel."""

    STABLE = "STABLE"
    """After they have run in the regular channel."""

    EXTENDED = "EXTENDED"
    """As regular, and a minor version can be kept for longer."""


class ClusterArgs(TypedDict):
    """What a cluster of either mode takes."""

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

    labels: NotRequired[dict[str, str]]
    """Google Cloud labels of the cluster."""

    tables_out_of_date: NotRequired[bool]
    """Whether regions and zones that our tables do not list are taken on trust, with a warning; false when omitted."""


@dataclass(frozen=True)
class ClusterPlan:
    """Checked arguments that clusters of both modes share."""

    project: str
    region: str
    cluster_name: str
    release_channel: ReleaseChannel
    deletion_protection: bool
    maintenance_window: MaintenanceWindowPlan
    labels: dict[str, str]
    network_id: Any
    subnetwork_id: Any
    pods_range_name: Any
    services_range_name: Any


def plan_cluster(read: Reader, name: str) -> ClusterPlan:
    """Judge the arguments that clusters of both modes share; problems are noted on `read`."""
    project = read_project(read)
    cluster_name = read.name("cluster_name", names.cluster_name_problems, default=name)
    region = read_region(read)
    labels = read.items("labels", default={})
    read.extend(names.label_problems("labels", labels))
    window = read.nested("maintenance_window", MaintenanceWindowArgs.__annotations__)
    return ClusterPlan(
        project=project,
        region=region,
        cluster_name=cluster_name,
        release_channel=read.choice("release_channel", ReleaseChannel, ReleaseChannel.REGULAR),
        deletion_protection=read.boolean("deletion_protection", default=True),
        maintenance_window=plan_maintenance_window(window),
        labels=labels,
        network_id=read.given("network_id"),
        subnetwork_id=read.given("subnetwork_id"),
        pods_range_name=read.given("pods_range_name", default="pods"),
        services_range_name=read.given("services_range_name", default="services"),
    )


class ClusterComponent(pulumi.ComponentResource):
    """A cluster with the account of its nodes."""

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

    def _node_account(self, name: str, plan: ClusterPlan) -> Sequence[projects.IAMMember]:
        """Declare the account of the nodes; returns its roles, which nodes need from the start."""
        account = serviceaccount.Account(
            f"{name}-nodes",
            project=plan.project,
            account_id=names.shortened(f"{plan.cluster_name}-nodes", names.ACCOUNT_ID_MAX),
            display_name=f"Nodes of GKE cluster {plan.cluster_name}",
            opts=child_of(self),
        )
        self.node_service_account = account.email
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

    def _finish(self, cluster: container.Cluster, project: str) -> None:
        """Set and register the outputs."""
        self.cluster_id = cluster.id
        self.cluster_name = cluster.name
        self.location = cluster.location
        self.dns_endpoint = cluster.control_plane_endpoints_config.apply(_dns_name)
        self.workload_pool = cluster.id.apply(lambda _: f"{project}.svc.id.goog")
        self.credentials_command = pulumi.Output.format(
            "gcloud container clusters get-credentials {0} --location={1} --project={2}"
            " --dns-endpoint",
            cluster.name,
            cluster.location,
            project,
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


def _dns_name(config: Any) -> str:
    endpoint = config.dns_endpoint_config.endpoint if config.dns_endpoint_config else None
    return endpoint or ""


def ip_allocation(plan: ClusterPlan) -> container.ClusterIpAllocationPolicyArgs:
    """Pods and services in their ranges of the subnetwork."""
    return container.ClusterIpAllocationPolicyArgs(
        cluster_secondary_range_name=plan.pods_range_name,
        services_secondary_range_name=plan.services_range_name,
    )


def private_nodes() -> container.ClusterPrivateClusterConfigArgs:
    """Nodes without addresses of the internet."""
    return container.ClusterPrivateClusterConfigArgs(enable_private_nodes=True)


def reached_by_dns() -> container.ClusterControlPlaneEndpointsConfigArgs:
    """The control plane by its DNS name alone: IAM decides who gets in, from anywhere."""
    return container.ClusterControlPlaneEndpointsConfigArgs(
        dns_endpoint_config=container.ClusterControlPlaneEndpointsConfigDnsEndpointConfigArgs(
            allow_external_traffic=True
        ),
        ip_endpoints_config=container.ClusterControlPlaneEndpointsConfigIpEndpointsConfigArgs(
            enabled=False
        ),
    )
