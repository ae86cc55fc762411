"""What a person or another stack needs to know of the environment."""

from collections.abc import Mapping

import pulumi

import spotproof
from settings import Settings
from spotproof_gke.capacity import Capacity, scheduling


def export_outputs(
    settings: Settings,
    network: spotproof.Network,
    cluster: spotproof.GkeCluster,
    spot_pools: Mapping[str, spotproof.SpotGpuPool],
    checkpoints: spotproof.CheckpointBucket,
) -> None:
    """Export how to get in, where checkpoints go, and how to reach each kind of node."""
    pulumi.export("credentialsCommand", cluster.credentials_command)
    pulumi.export("clusterName", cluster.cluster_name)
    pulumi.export("clusterLocation", cluster.location)
    pulumi.export("nodeServiceAccount", cluster.node_service_account)
    pulumi.export("checkpointBucket", checkpoints.url)
    pulumi.export("regions", _regions(cluster, checkpoints, network))
    pulumi.export(
        "spotPools",
        {
            key: {
                "nodePool": pool.node_pool_name,
                "gpusPerNode": pool.gpus_per_node,
                "nodeSelector": pool.node_selector,
                "tolerations": pool.tolerations,
            }
            for key, pool in spot_pools.items()
        },
    )
    pulumi.export("flexStart", _flex_start(settings))


def _regions(
    cluster: spotproof.GkeCluster,
    checkpoints: spotproof.CheckpointBucket,
    network: spotproof.Network,
) -> pulumi.Output[str]:
    def line(places: list[str]) -> str:
        verdict = "one region" if len(set(places)) == 1 else "NOT one region"
        return f"{verdict}: cluster {places[0]}, bucket {places[1]}, network {places[2]}"

    return pulumi.Output.all(cluster.location, checkpoints.location, network.region).apply(line)


def _flex_start(settings: Settings) -> dict[str, object]:
    provisioning = settings.cluster.get("auto_provisioning") or {}
    return {
        accelerator: {
            "nodeSelector": dict(scheduling(Capacity.FLEX_START, accelerator).node_selector),
            "tolerations": list(scheduling(Capacity.FLEX_START, accelerator).tolerations),
        }
        for accelerator in sorted(provisioning.get("accelerators") or {})
    }
