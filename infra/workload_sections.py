"""The sections of a stack file for what is inside the cluster, and what else is said there."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, TypedDict

from typing_extensions import NotRequired

from section import Section
from spotproof.reader import TABLES_OUT_OF_DATE
from spotproof.workloads.capacity_class import CapacityClassArgs, plan_capacity_class
from spotproof.workloads.flex_start_job import FlexStartJobArgs, plan_flex_start_job
from spotproof.workloads.kueue_queues import KueueQueuesArgs, plan_kueue_queues
from spotproof.workloads.queue_workers import QueueWorkersArgs, plan_queue_workers
from spotproof.workloads.spot_job import SpotJobArgs, plan_spot_job
from spotproof.workloads.system_placement_guard import (
    SystemPlacementGuardArgs,
    plan_system_placement_guard,
)


class Layer(str, Enum):
    """What becomes of the objects inside the cluster."""

    NONE = "none"
    RENDER = "render"
    APPLY = "apply"


class LayerSettings(TypedDict):
    """What a stack file says of all objects inside the cluster."""

    workloads: NotRequired[Layer]
    """What becomes of the objects in the cluster: nothing, files in YAML, or they are applied; `none` when omitted."""

    workloads_folder: NotRequired[str]
    """Where `render` writes, from the project's folder; `.spotproof/rendered/STACK` when omitted."""

    create_namespaces: NotRequired[bool]
    """Whether the namespaces (but `default`) and the service accounts that workloads name are made too, or taken over where they are; neither is ever deleted in the cluster; true when omitted."""


class RunSettings(TypedDict):
    """What a stack file says of a training besides the component's arguments."""

    checkpoint_prefix: NotRequired[str]
    """Prefix of its checkpoints in the stack's bucket, in place of `checkpoint_location`; the job's key here when omitted."""


class WorkSettings(TypedDict):
    """What a stack file says of workers besides the component's arguments."""

    work_queue: NotRequired[str]
    """Key of the stack's work queue that they work on, in place of `subscription`; none when omitted."""


class GuardSettings(TypedDict):
    """What a stack file says of the guard besides the component's arguments."""

    enabled: NotRequired[bool]
    """Whether the guard is among the objects in the cluster, if there are any; true when omitted."""


_TRUST = frozenset({TABLES_OUT_OF_DATE})

GUARD = Section(
    "system_placement_guard",
    SystemPlacementGuardArgs,
    frozenset(),
    plan_system_placement_guard,
    "system-placement-guard",
    more=GuardSettings,
)
SPOT_JOBS = Section(
    "spot_jobs", SpotJobArgs, _TRUST, plan_spot_job, "spot-job", many=True, more=RunSettings
)
FLEX_START_JOBS = Section(
    "flex_start_jobs",
    FlexStartJobArgs,
    _TRUST,
    plan_flex_start_job,
    "flex-start-job",
    many=True,
    more=RunSettings,
)
QUEUE_WORKERS = Section(
    "queue_workers",
    QueueWorkersArgs,
    _TRUST,
    plan_queue_workers,
    "workers",
    many=True,
    more=WorkSettings,
)
CAPACITY_CLASSES = Section(
    "capacity_classes",
    CapacityClassArgs,
    _TRUST | {"cluster_location", "node_service_account"},
    plan_capacity_class,
    "class",
    many=True,
)
KUEUE_QUEUES = Section(
    "kueue_queues", KueueQueuesArgs, _TRUST, plan_kueue_queues, "kueue", many=True
)

WORKLOAD_SECTIONS = (CAPACITY_CLASSES, KUEUE_QUEUES, SPOT_JOBS, FLEX_START_JOBS, QUEUE_WORKERS)
"""In the order in which they are declared: jobs name classes and queues."""

NAME_ARGUMENT: Mapping[str, str] = {
    "spot_jobs": "job_name",
    "flex_start_jobs": "job_name",
    "queue_workers": "workers_name",
    "capacity_classes": "class_name",
    "kueue_queues": "queue_name",
}
"""The argument for the fixed name, which is the key in the stack file when omitted."""


def objects(plan: object) -> Iterator[dict[str, Any]]:
    """The manifests in a component's plan, in the order in which it holds them."""
    if isinstance(plan, dict) and "apiVersion" in plan and "kind" in plan:
        yield plan
    elif isinstance(plan, Mapping):
        for value in plan.values():
            yield from objects(value)
    elif isinstance(plan, (list, tuple)):
        for value in plan:
            yield from objects(value)
    elif is_dataclass(plan):
        for field in fields(plan):
            yield from objects(getattr(plan, field.name))
