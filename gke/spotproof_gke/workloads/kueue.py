"""Kueue's queues: quotas by kind of node, and nodes that come all at once for a job.

Sources, read on 2026-11-30: kueue.sigs.k8s.io/docs (concepts cluster_queue, resource_flavor,
admission_check; ProvisioningRequest); docs.cloud.google.com/kubernetes-engine/docs/how-to/
provisioningrequest; release notes of Kueue 0.20, which no longer serves v1beta1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spotproof_gke.capacity import GPU_KEY, Capacity, Scheduling, is_flexible, scheduling
from spotproof_gke.workloads.jobs import PROVISIONING_CLASS
from spotproof_gke.workloads.scheduling import NodesFrom, flex_start_scheduling

API_VERSION = "kueue.x-k8s.io/v1beta2"
CHECK_CONTROLLER = "kueue.x-k8s.io/provisioning-request"


@dataclass(frozen=True)
class Flavor:
    """A kind of node, and how much of it the queues may use together.

    Attributes:
        name: Name of the ResourceFlavor.
        where: Selector and tolerations that Kueue gives to pods on it.
        queued: Whether its nodes come through a ProvisioningRequest.
        gpus, cpu, memory, ephemeral_storage: The quota; 0 and None leave the resource out. Kueue
            never starts a job that asks for a resource without a quota.
    """

    name: str
    where: Scheduling
    queued: bool
    gpus: int
    cpu: str | None
    memory: str | None
    ephemeral_storage: str | None = None


def flavor_scheduling(capacity: Capacity, accelerator: str | None, nodes: NodesFrom) -> Scheduling:
    """Selector and tolerations of a flavor."""
    if is_flexible(capacity):
        queued = capacity is Capacity.FLEX_START_QUEUED
        return flex_start_scheduling(accelerator, queued=queued, nodes=nodes)
    return scheduling(capacity, accelerator)


def quota(flavor: Flavor) -> dict[str, str]:
    """The quota of a flavor by resource."""
    found = {
        "cpu": flavor.cpu,
        "memory": flavor.memory,
        "ephemeral-storage": flavor.ephemeral_storage,
    }
    if flavor.gpus:
        found[GPU_KEY] = str(flavor.gpus)
    return {name: amount for name, amount in found.items() if amount is not None}


def flavor_manifest(flavor: Flavor) -> dict[str, Any]:
    """The ResourceFlavor."""
    spec: dict[str, Any] = {}
    if flavor.where.node_selector:
        spec["nodeLabels"] = dict(flavor.where.node_selector)
    if flavor.where.tolerations:
        spec["tolerations"] = [dict(one) for one in flavor.where.tolerations]
    return _object("ResourceFlavor", flavor.name, spec)


def cluster_queue(
    name: str, flavors: Sequence[Flavor], namespaces: Sequence[str], check: str | None
) -> dict[str, Any]:
    """The ClusterQueue: quotas of all flavors, tried in their order.

    Args:
        name: Name of the queue.
        flavors: All with the same resources.
        namespaces: The namespaces whose jobs may use it.
        check: Name of the admission check of queued flavors, None without any.
    """
    covered = list(quota(flavors[0])) if flavors else []
    group = {
        "coveredResources": covered,
        "flavors": [
            {
                "name": flavor.name,
                "resources": [
                    {"name": resource, "nominalQuota": amount}
                    for resource, amount in quota(flavor).items()
                ],
            }
            for flavor in flavors
        ],
    }
    key = "kubernetes.io/metadata.name"
    matched = {"key": key, "operator": "In", "values": list(namespaces)}
    spec: dict[str, Any] = {
        "namespaceSelector": {"matchExpressions": [matched]},
        "queueingStrategy": "BestEffortFIFO",
        "resourceGroups": [group],
    }
    if check is not None:
        queued = [flavor.name for flavor in flavors if flavor.queued]
        checks = [{"name": check, "onFlavors": queued}]
        spec["admissionChecksStrategy"] = {"admissionChecks": checks}
    return _object("ClusterQueue", name, spec)


def admission_check(name: str, managed: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """How Kueue asks GKE for nodes: its configuration, and the check that waits for them."""
    config = _object(
        "ProvisioningRequestConfig",
        name,
        {"provisioningClassName": PROVISIONING_CLASS, "managedResources": list(managed)},
    )
    parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig", "name": name}
    check = {"controllerName": CHECK_CONTROLLER, "parameters": parameters}
    return config, _object("AdmissionCheck", name, check)


def local_queue(namespace: str, name: str, of: str) -> dict[str, Any]:
    """A LocalQueue: the door to a ClusterQueue in one namespace."""
    found = _object("LocalQueue", name, {"clusterQueue": of})
    found["metadata"]["namespace"] = namespace
    return found


def _object(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}
