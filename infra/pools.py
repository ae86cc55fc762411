"""The node pools of an environment: a home for system pods first, then pools for work."""

from collections.abc import Callable, Mapping
from typing import Any

import pulumi

import spotproof
from sections import POOL_SECTIONS
from settings import Settings
from spotproof.cluster_base import ClusterComponent
from spotproof.pools import WorkPool
from spotproof_gke.grace import Mode

COMPONENTS: Mapping[str, Callable[..., WorkPool]] = {
    "spot_pools": spotproof.SpotGpuPool,
    "flex_start_pools": spotproof.FlexStartPool,
    "gpu_pools": spotproof.GpuPool,
    "cpu_pools": spotproof.CpuPool,
}
"""What is made of the pools in each section of the stack file."""


def declare_pools(
    settings: Settings, cluster: ClusterComponent, after: Callable[..., pulumi.ResourceOptions]
) -> tuple[spotproof.SystemNodePool | None, dict[str, dict[str, WorkPool]]]:
    """The system pool, and the pools for work by section and key; an Autopilot cluster has none."""
    if settings.mode is Mode.AUTOPILOT:
        return None, {section.key: {} for section in POOL_SECTIONS}
    nodes: dict[str, Any] = {
        **settings.trust,
        "project": settings.project,
        "cluster": cluster.cluster_id,
        "cluster_location": settings.region,
        "node_service_account": cluster.node_service_account,
    }
    system = spotproof.SystemNodePool(
        "system",
        spotproof.SystemNodePoolArgs(**settings.sections["system_pool"], **nodes),
        after(cluster),
    )
    # System pods must have a home before nodes come that are not for them.
    return system, {
        section.key: {
            key: COMPONENTS[section.key](
                section.component_name(key), {**args, **nodes}, after(system)
            )
            for key, args in settings.sections[section.key].items()
        }
        for section in POOL_SECTIONS
    }
