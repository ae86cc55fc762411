"""What a person or another stack needs to know of the environment."""

from collections.abc import Mapping

import pulumi

import spotproof
from settings import Settings
from spotproof.cluster_base import ClusterComponent
from spotproof.gpu_pool import GpuWorkPool
from spotproof.pools import WorkPool
from spotproof.reader import camel_case
from spotproof_gke.accelerators import ACCELERATORS, zones_with
from spotproof_gke.capacity import Capacity, scheduling
from spotproof_gke.grace import Mode
from spotproof_gke.locations import region_of


def export_outputs(
    settings: Settings,
    network: spotproof.Network,
    cluster: ClusterComponent,
    pools: Mapping[str, Mapping[str, WorkPool]],
    checkpoints: spotproof.CheckpointBucket,
    queues: Mapping[str, spotproof.WorkQueue],
    identities: Mapping[str, spotproof.WorkloadIdentity],
) -> None:
    """Export how to get in, where checkpoints go, and how to reach each kind of node."""
    pulumi.export("credentialsCommand", cluster.credentials_command)
    pulumi.export("clusterName", cluster.cluster_name)
    pulumi.export("clusterLocation", cluster.location)
    pulumi.export("nodeServiceAccount", cluster.node_service_account)
    pulumi.export("checkpointBucket", checkpoints.url)
    pulumi.export("regions", _regions(cluster, checkpoints, network))
    for section, found in pools.items():
        if found or section == "spot_pools":
            shown = {key: _reached_by(pool) for key, pool in found.items()}
            pulumi.export(camel_case(section), shown)
    pulumi.export("flexStart", _flex_start(settings))
    if queues:
        shown_queues = {
            key: {"topic": queue.topic_id, "subscription": queue.subscription_id}
            for key, queue in queues.items()
        }
        pulumi.export("workQueues", shown_queues)
    if identities:
        members = {
            key: {"member": one.member, "annotations": one.annotations}
            for key, one in identities.items()
        }
        pulumi.export("identities", members)


def _reached_by(pool: WorkPool) -> dict[str, object]:
    shown: dict[str, object] = {
        "nodePool": pool.node_pool_name,
        "nodeSelector": pool.node_selector,
        "tolerations": pool.tolerations,
        "terminationBudgetSeconds": pool.termination_budget_seconds,
    }
    if isinstance(pool, GpuWorkPool):
        shown["gpusPerNode"] = pool.gpus_per_node
    return shown


def _regions(
    cluster: ClusterComponent,
    checkpoints: spotproof.CheckpointBucket,
    network: spotproof.Network,
) -> pulumi.Output[str]:
    def line(places: list[str]) -> str:
        verdict = "one region" if len(set(places)) == 1 else "NOT one region"
        return f"{verdict}: cluster {places[0]}, bucket {places[1]}, network {places[2]}"

    return pulumi.Output.all(cluster.location, checkpoints.location, network.region).apply(line)


def _flex_start(settings: Settings) -> dict[str, object]:
    provisioning = settings.cluster.get("auto_provisioning") or {}
    if settings.mode is Mode.AUTOPILOT:
        here = [name for name in ACCELERATORS if _is_here(name, settings.region)]
        provisioning = {"accelerators": here}
    return {
        accelerator: {
            "nodeSelector": dict(scheduling(Capacity.FLEX_START, accelerator).node_selector),
            "tolerations": list(scheduling(Capacity.FLEX_START, accelerator).tolerations),
        }
        for accelerator in sorted(provisioning.get("accelerators") or {})
    }


def _is_here(accelerator: str, region: str) -> bool:
    return any(region_of(zone) == region for zone in zones_with(accelerator))
