"""The network and the cluster of an environment, Standard or Autopilot."""

from collections.abc import Callable
from typing import Any

import pulumi

import spotproof
from settings import Settings
from spotproof.cluster_base import ClusterComponent
from spotproof.project_services import SERVICES
from spotproof_gke.grace import Mode

QUEUE_SERVICE = "pubsub.googleapis.com"


def declare_cluster(
    settings: Settings, after: Callable[..., pulumi.ResourceOptions]
) -> tuple[spotproof.Network, ClusterComponent, spotproof.ProjectServices]:
    """The APIs, the network and the cluster, each after what it needs."""
    needed = [*SERVICES, *([QUEUE_SERVICE] if settings.sections["work_queues"] else [])]
    services = spotproof.ProjectServices(
        "services", {"project": settings.project, "services": needed}
    )
    network = spotproof.Network(
        "network",
        spotproof.NetworkArgs(
            **settings.sections["network"],
            **settings.trust,
            project=settings.project,
            region=settings.region,
            network_name=settings.cluster_name,
        ),
        after(services),
    )
    args: dict[str, Any] = {
        **settings.cluster,
        "project": settings.project,
        "network_id": network.network_id,
        "subnetwork_id": network.subnetwork_id,
        "pods_range_name": network.pods_range_name,
        "services_range_name": network.services_range_name,
    }
    # Nodes need the NAT from the start.
    ready = after(services, network)
    if settings.mode is Mode.AUTOPILOT:
        autopilot = spotproof.AutopilotClusterArgs(**args)
        return network, spotproof.AutopilotCluster("cluster", autopilot, ready), services
    standard = spotproof.GkeClusterArgs(**args)
    return network, spotproof.GkeCluster("cluster", standard, ready), services
