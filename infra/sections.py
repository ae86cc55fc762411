"""The sections of a stack file: which component's arguments stands where, and what is supplied."""

from collections.abc import Mapping
from typing import TypedDict

from typing_extensions import NotRequired

from section import Section
from spotproof.checkpoint_bucket import CheckpointBucketArgs, plan_checkpoint_bucket
from spotproof.cpu_pool import plan_cpu_pool
from spotproof.gpu_pool import plan_flex_start_pool, plan_gpu_pool, plan_spot_gpu_pool
from spotproof.network import NetworkArgs, plan_network
from spotproof.pool_args import CpuPoolArgs, FlexStartPoolArgs, GpuPoolArgs, SpotGpuPoolArgs
from spotproof.reader import TABLES_OUT_OF_DATE
from spotproof.system_pool import SystemNodePoolArgs, plan_system_node_pool
from spotproof.work_queue import WorkQueueArgs, plan_work_queue
from workload_sections import GUARD, WORKLOAD_SECTIONS

OUTPUT = "known after the update"
"""Stands for an output of another component while settings are judged."""

_PROJECT_OF_CLUSTER = {"cluster_project", "cluster_project_number"}


class IdentitySettings(TypedDict):
    """What a stack file says of one workload; the program makes a `WorkloadIdentity` of it."""

    service_account: str
    """The workload's Kubernetes service account, `NAMESPACE/NAME`; it need not exist yet."""

    checkpoints: NotRequired[bool]
    """Whether it reads and writes the checkpoint bucket; false when omitted."""

    publishes_to: NotRequired[list[str]]
    """Keys of the work queues that it sends work to."""

    works_on: NotRequired[list[str]]
    """Keys of the work queues that it takes work from."""

    google_service_account: NotRequired[str]
    """Id of a Google service account to make and act as; none when omitted."""


_POOL = frozenset(
    {"project", "cluster", "cluster_location", "node_service_account", TABLES_OUT_OF_DATE}
)

POOL_SECTIONS = (
    Section("spot_pools", SpotGpuPoolArgs, _POOL, plan_spot_gpu_pool, "spot", True, True),
    Section("flex_start_pools", FlexStartPoolArgs, _POOL, plan_flex_start_pool, "flex", True, True),
    Section("gpu_pools", GpuPoolArgs, _POOL, plan_gpu_pool, "gpu", True, True),
    Section("cpu_pools", CpuPoolArgs, _POOL, plan_cpu_pool, "cpu", True, True),
)
"""Pools for work, each a mapping from a pool's name to its settings."""

NETWORK = Section(
    "network",
    NetworkArgs,
    frozenset({"project", "region", "network_name", TABLES_OUT_OF_DATE}),
    plan_network,
    "network",
)
SYSTEM_POOL = Section(
    "system_pool", SystemNodePoolArgs, _POOL, plan_system_node_pool, "system", standard_only=True
)
CHECKPOINTS = Section(
    "checkpoints",
    CheckpointBucketArgs,
    frozenset({"project", "cluster_name", "cluster_location", TABLES_OUT_OF_DATE})
    | _PROJECT_OF_CLUSTER,
    lambda read, _: plan_checkpoint_bucket(read),
    "checkpoints",
)
WORK_QUEUES = Section(
    "work_queues",
    WorkQueueArgs,
    frozenset({"project", "region", TABLES_OUT_OF_DATE}) | _PROJECT_OF_CLUSTER,
    plan_work_queue,
    "queue",
    many=True,
)
IDENTITIES = Section(
    "identities", IdentitySettings, frozenset(), lambda read, _: None, "workload", many=True
)

SECTIONS: Mapping[str, Section] = {
    section.key: section
    for section in (
        NETWORK,
        SYSTEM_POOL,
        *POOL_SECTIONS,
        CHECKPOINTS,
        WORK_QUEUES,
        IDENTITIES,
        GUARD,
        *WORKLOAD_SECTIONS,
    )
}
"""All sections by key; what stands at the top of a stack file beside them is the cluster's."""

CLUSTER_SUPPLIED = frozenset(
    {"project", "network_id", "subnetwork_id", "pods_range_name", "services_range_name"}
)
"""Arguments of the cluster that the program supplies."""
