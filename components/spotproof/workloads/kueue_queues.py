"""Kueue's queues for jobs whose nodes come all at once, or that share a quota."""

import re
from dataclasses import dataclass
from typing import Any, TypedDict

import pulumi
from typing_extensions import NotRequired

from spotproof.reader import Reader
from spotproof.workloads.made import declare
from spotproof.workloads.program import needed_quantity, read_quantity
from spotproof.workloads.where import read_gpus
from spotproof_gke import kubernetes_names
from spotproof_gke.capacity import GPU_KEY, Capacity
from spotproof_gke.rules.spot_isolation import is_system_namespace
from spotproof_gke.workloads.kueue import (
    Flavor,
    admission_check,
    cluster_queue,
    flavor_manifest,
    flavor_scheduling,
    local_queue,
    quota,
)
from spotproof_gke.workloads.scheduling import NodesFrom

MOST_FLAVORS = 16
"""The most that Kueue takes in one group of resources."""

_QUEUE = re.compile(r"(?P<namespace>[^/]+)/(?P<name>[^/]+)")


class QueueFlavorArgs(TypedDict):
    name: str
    """Name of the ResourceFlavor, one of its own in the cluster."""

    capacity: Capacity
    """How its nodes are obtained; `flex-start-queued` asks for all nodes of a job at once."""

    accelerator: NotRequired[str]
    """GPU as GKE names it; none when omitted."""

    gpus: NotRequired[int]
    """GPUs that jobs may use together; required with an accelerator."""

    cpu: str
    """CPUs that jobs may use together, for example `96`."""

    memory: str
    """Memory that jobs may use together, for example `384Gi`."""

    ephemeral_storage: NotRequired[str]
    """Disk that jobs may use together; Kueue never starts a job that asks for a resource without a quota; none when omitted."""

    nodes: NotRequired[NodesFrom]
    """Where nodes come from: a pool, node auto-provisioning or Autopilot; `pool` when omitted."""


class KueueQueuesArgs(TypedDict):
    """Arguments of `KueueQueues`."""

    flavors: list[QueueFlavorArgs]
    """Kinds of nodes with their quotas, tried in this order; 1 to 16."""

    local_queues: list[str]
    """Queues that jobs name, each `NAMESPACE/NAME`; the namespaces must exist."""

    queue_name: NotRequired[str]
    """Fixed name of the ClusterQueue, and of the admission check; the component's name when omitted."""

    tables_out_of_date: NotRequired[bool]
    """Whether an accelerator that our tables do not list is taken on trust, with a warning; false when omitted."""


@dataclass(frozen=True)
class KueueQueuesPlan:
    """Checked arguments of a `KueueQueues`.

    Attributes:
        name: Name of the ClusterQueue.
        first: What the ClusterQueue names, by role.
        queue: The ClusterQueue.
        doors: The LocalQueues, by role.
    """

    name: str
    first: dict[str, dict[str, Any]]
    queue: dict[str, Any]
    doors: dict[str, dict[str, Any]]


def plan_kueue_queues(read: Reader, name: str) -> KueueQueuesPlan:
    """Judge the arguments of a `KueueQueues`; problems are noted on `read`."""
    queue_name = read.name("queue_name", kubernetes_names.object_name_problems, default=name)
    given = read.mappings("flavors")
    if read.is_right("flavors") and not 1 <= len(given) <= MOST_FLAVORS:
        rule = f"a queue has 1 to {MOST_FLAVORS} flavors"
        read.problem("flavors", len(given), rule, "add one, or make two queues of it")
    flavors = [_flavor(read, f"flavors[{number}]", one) for number, one in enumerate(given)]
    _judge_flavors(read, flavors)
    doors = _doors(read, queue_name)
    namespaces = sorted({door["metadata"]["namespace"] for door in doors.values()})
    first = {f"flavor-{flavor.name}": flavor_manifest(flavor) for flavor in flavors}
    check = None
    if any(flavor.queued for flavor in flavors):
        check = queue_name
        managed = [GPU_KEY] if any(flavor.gpus for flavor in flavors if flavor.queued) else []
        first["config"], first["check"] = admission_check(check, managed)
    queue = cluster_queue(queue_name, flavors, namespaces, check)
    return KueueQueuesPlan(queue_name, first, queue, doors)


def _flavor(read: Reader, key: str, given: object) -> Flavor:
    inner = Reader(
        given, QueueFlavorArgs.__annotations__, f"{read.path}{key}.", read.spell, read.problems
    )
    inner.trust_like(read)
    before = len(inner.problems)
    capacity = inner.choice("capacity", Capacity)
    known = len(inner.problems) == before
    nodes = inner.choice("nodes", NodesFrom, NodesFrom.POOL)
    if inner.has("accelerator") and not inner.has("gpus"):
        rule = "a quota says how many GPUs jobs may use together"
        inner.problem("gpus", None, rule, "add it")
    accelerator, gpus = read_gpus(inner, capacity if known else Capacity.SPOT, quota=True)
    return Flavor(
        name=inner.name("name", kubernetes_names.object_name_problems),
        where=flavor_scheduling(capacity, accelerator, nodes),
        queued=capacity is Capacity.FLEX_START_QUEUED,
        gpus=gpus,
        cpu=needed_quantity(inner, "cpu", kubernetes_names.cpu_problems),
        memory=needed_quantity(inner, "memory", kubernetes_names.bytes_problems),
        ephemeral_storage=read_quantity(
            inner, "ephemeral_storage", kubernetes_names.bytes_problems
        ),
    )


def _judge_flavors(read: Reader, flavors: list[Flavor]) -> None:
    for number, flavor in enumerate(flavors):
        if any(flavor.name and flavor.name == other.name for other in flavors[:number]):
            rule = "each flavor has a name of its own"
            read.problem(f"flavors[{number}].name", flavor.name, rule, "rename one")
        if list(quota(flavor)) != list(quota(flavors[0])):
            rule = "all flavors of a queue have a quota of the same resources"
            fix = "give all of them GPUs or none, and disk or none, or make two queues of it"
            read.problem(f"flavors[{number}].gpus", flavor.gpus or None, rule, fix)


def _doors(read: Reader, queue_name: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for text in read.texts("local_queues"):
        parts = _QUEUE.fullmatch(text)
        wrong = parts is None or [
            *kubernetes_names.namespace_problems("", parts["namespace"]),
            *kubernetes_names.object_name_problems("", parts["name"]),
        ]
        if parts is None or wrong:
            rule = "a queue is NAMESPACE/NAME"
            read.problem("local_queues", text, rule, "write it like training/gpus")
        elif is_system_namespace(parts["namespace"]):
            rule = "jobs do not run in namespaces of the system"
            read.problem("local_queues", text, rule, "choose a namespace of your own")
        else:
            role = f"{parts['namespace']}.{parts['name']}"
            found[role] = local_queue(parts["namespace"], parts["name"], queue_name)
    if not found and read.is_right("local_queues"):
        read.problem("local_queues", [], "jobs reach a queue through a local one", "name one")
    return found


class KueueQueues(pulumi.ComponentResource):
    """Queues of Kueue: quotas by kind of node, and for queued flex-start all nodes of a job at once."""

    queue_name: pulumi.Output[str]
    """Name of the ClusterQueue."""

    def __init__(
        self, name: str, args: KueueQueuesArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = Reader(args, KueueQueuesArgs.__annotations__)
        plan = plan_kueue_queues(read, name)
        read.finish(f"KueueQueues {name}")
        super().__init__("spotproof:index:KueueQueues", name, None, opts)
        read.warn(self)
        first = [declare(self, f"{name}-{role}", one) for role, one in plan.first.items()]
        queue = declare(self, f"{name}-queue", plan.queue, depends_on=first)
        for role, one in plan.doors.items():
            # Kueue never moves a LocalQueue to another ClusterQueue.
            declare(self, f"{name}-{role}", one, depends_on=[queue], remade_on=("spec",))
        self.queue_name = queue.metadata["name"]  # pyright: ignore[reportAttributeAccessIssue]
        self.register_outputs({"queueName": self.queue_name})
