"""Work on flex-start nodes, which are not taken away once they are there but end at a known time."""

from dataclasses import dataclass
from typing import Any, TypedDict

import pulumi
from typing_extensions import NotRequired

from spotproof.reader import Reader
from spotproof.workloads.checkpoints import read_checkpoints, read_limits
from spotproof.workloads.made import declare
from spotproof.workloads.program import judge_by_rules, read_program
from spotproof.workloads.program_args import CheckpointArgs, JobArgs, ProgramArgs
from spotproof.workloads.where import read_budget, read_gpus, read_nodes
from spotproof_gke import kubernetes_names
from spotproof_gke.capacity import Capacity, Scheduling
from spotproof_gke.rules.pool_capacity import NODE_LIFETIME_SECONDS
from spotproof_gke.workloads.jobs import Checkpoints, JobLimits, job, kueue_job, requested_job
from spotproof_gke.workloads.pod import Program
from spotproof_gke.workloads.scheduling import NodesFrom, class_scheduling, flex_start_scheduling

MOST_PODS = 1000
"""Upper bound of a Job's pods, to catch a slip."""


class FlexStartArgs(TypedDict):
    """What work on flex-start nodes takes besides."""

    expected_duration_seconds: int
    """How long the work takes once its nodes are there; an error when nodes do not live as long."""

    node_lifetime_seconds: NotRequired[int]
    """How long a node lives, 600 to 604800 s, as its pool or compute class states it; said to auto-provisioning, Autopilot and a queue. The program gets it as `SPOTPROOF_NODE_LIFETIME_SECONDS`; 604800 when omitted."""

    pods: NotRequired[int]
    """Pods that work at once, each on nodes of its own and with an index; 1 when omitted."""

    queue: NotRequired[str]
    """Kueue's LocalQueue in the namespace, by which all nodes come at once; none when omitted."""

    provisioning_request: NotRequired[bool]
    """Whether all nodes come at once by a ProvisioningRequest without Kueue; false when omitted."""


class FlexStartJobArgs(ProgramArgs, CheckpointArgs, JobArgs, FlexStartArgs):
    """Arguments of `FlexStartJob`."""


@dataclass(frozen=True)
class FlexStartJobPlan:
    """Checked arguments of a `FlexStartJob`.

    Attributes:
        manifests: The Job, after what it needs.
    """

    name: str
    namespace: str
    budget_seconds: int
    manifests: tuple[dict[str, Any], ...]


def plan_flex_start_job(read: Reader, name: str) -> FlexStartJobPlan:
    """Judge the arguments of a `FlexStartJob`; problems are noted on `read`."""
    queue = read.name("queue", kubernetes_names.label_name_problems) if read.has("queue") else None
    requested = read.boolean("provisioning_request", default=False)
    queued = queue is not None or requested
    nodes, compute_class = read_nodes(read)
    capacity = Capacity.FLEX_START_QUEUED if queued else Capacity.FLEX_START
    accelerator, gpus = read_gpus(read, capacity)
    budget, estimate = read_budget(read, capacity, nodes)
    location, mounts = read_checkpoints(read)
    lifetime = _lifetime(read)
    limits = read_limits(read, read.integer("pods", default=1, least=1, most=MOST_PODS))
    _judge_duration(read, lifetime, limits)
    _judge_queue(read, queue, requested, compute_class)
    program = read_program(read, name, "job_name", gpus, budget, mounts)
    if read.is_right("job_name") and read.is_right("pods"):
        read.extend(kubernetes_names.indexed_name_problems("job_name", program.name, limits.pods))
    saves = Checkpoints(location, budget, estimate, lifetime)
    said = lifetime if read.has("node_lifetime_seconds") else None
    where = _where(nodes, compute_class, accelerator, queued, said)
    # Kueue alone, without a ProvisioningRequest, only keeps the quota of a compute class.
    run_seconds = None if compute_class is not None else lifetime
    manifests = _manifests(program, where, saves, limits, queue, requested, run_seconds)
    judge_by_rules(read, manifests[-1])
    return FlexStartJobPlan(program.name, program.namespace, budget, manifests)


def _lifetime(read: Reader) -> int:
    least, most = NODE_LIFETIME_SECONDS
    return read.integer("node_lifetime_seconds", default=most, least=least, most=most)


def _judge_duration(read: Reader, lifetime: int, limits: JobLimits) -> None:
    key = "expected_duration_seconds"
    seconds = read.integer(key, least=1)
    if not read.is_right(key):
        return
    if seconds > lifetime and read.is_right("node_lifetime_seconds"):
        most = NODE_LIFETIME_SECONDS[1]
        rule = f"a flex-start node ends after {lifetime} s, whatever runs on it"
        fix = "use SpotJob, which goes on from its checkpoint on the next node, or split the work"
        if lifetime < most:
            fix = f"raise node_lifetime_seconds (at most {most}), or split the work"
        read.problem(key, seconds, rule, fix)
    elif seconds > limits.deadline_seconds and read.is_right("deadline_seconds"):
        rule = f"the work can't take longer than its deadline of {limits.deadline_seconds} s"
        read.problem(key, seconds, rule, "raise deadline_seconds; the wait for nodes counts too")


def _judge_queue(
    read: Reader, queue: str | None, requested: bool, compute_class: str | None
) -> None:
    if not requested:
        return
    if queue is not None:
        rule = "Kueue makes the ProvisioningRequest of a queued Job itself"
        read.problem("provisioning_request", True, rule, "leave it out, or leave queue out")
    elif compute_class is not None:
        rule = "a ProvisioningRequest asks for nodes of a pool or of auto-provisioning"
        read.problem("provisioning_request", True, rule, "leave it or compute_class out")


def _where(
    nodes: NodesFrom,
    compute_class: str | None,
    accelerator: str | None,
    queued: bool,
    lifetime: int | None,
) -> Scheduling:
    if compute_class is not None:
        return class_scheduling(compute_class)
    return flex_start_scheduling(
        accelerator, queued=queued, nodes=nodes, node_lifetime_seconds=lifetime
    )


def _manifests(
    program: Program,
    where: Scheduling,
    saves: Checkpoints,
    limits: JobLimits,
    queue: str | None,
    requested: bool,
    run_seconds: int | None,
) -> tuple[dict[str, Any], ...]:
    if queue is not None:
        return (kueue_job(program, where, saves, limits, queue, run_seconds),)
    if requested:
        return requested_job(program, where, saves, limits, run_seconds or 0)
    return (job(program, where, saves, limits),)


class FlexStartJob(pulumi.ComponentResource):
    """A plain Job on flex-start nodes, queued or not; its program knows when its node ends, and an update does not wait for its end."""

    job_name: pulumi.Output[str]
    """Name of the Job."""

    namespace: pulumi.Output[str]
    """Namespace of the Job."""

    termination_budget_seconds: pulumi.Output[int]
    """What a pod has between SIGTERM and the end of its node."""

    def __init__(
        self, name: str, args: FlexStartJobArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = Reader(args, FlexStartJobArgs.__annotations__)
        plan = plan_flex_start_job(read, name)
        read.finish(f"FlexStartJob {name}")
        super().__init__("spotproof:index:FlexStartJob", name, None, opts)
        read.warn(self)
        made = self._declare(name, plan)
        self.job_name = made.metadata.name  # pyright: ignore[reportAttributeAccessIssue]
        self.namespace = pulumi.Output.from_input(plan.namespace)
        self.termination_budget_seconds = pulumi.Output.from_input(plan.budget_seconds)
        self.register_outputs(
            {
                "jobName": self.job_name,
                "namespace": self.namespace,
                "terminationBudgetSeconds": self.termination_budget_seconds,
            }
        )

    def _declare(self, name: str, plan: FlexStartJobPlan) -> pulumi.CustomResource:
        *before, last = plan.manifests
        made: list[pulumi.CustomResource] = []
        for manifest, role in zip(before, ("pods", "request"), strict=False):
            # What was asked for can't be changed, only asked for anew.
            remade = ("spec",) if manifest["kind"] == "ProvisioningRequest" else ()
            made.append(
                declare(self, f"{name}-{role}", manifest, depends_on=made, remade_on=remade)
            )
        # A queue starts the Job by turning `suspend` off.
        started = ("spec.suspend",) if last["spec"].get("suspend") else ()
        return declare(self, f"{name}-job", last, depends_on=made, ignore_changes=started)
