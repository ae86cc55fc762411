"""A training on Spot nodes that goes on from its last checkpoint after each interruption."""

from dataclasses import dataclass
from typing import Any, TypedDict

import pulumi
from typing_extensions import NotRequired

from spotproof.reader import Reader
from spotproof.workloads.checkpoints import read_checkpoints, read_limits
from spotproof.workloads.made import declare
from spotproof.workloads.program import judge_by_rules, read_program
from spotproof.workloads.program_args import CheckpointArgs, JobArgs, PodGraceArgs, ProgramArgs
from spotproof.workloads.where import read_budget, read_gpus, read_nodes
from spotproof_gke import kubernetes_names
from spotproof_gke.capacity import Capacity, Scheduling
from spotproof_gke.workloads.job_sets import FIXED, JobKind, job_set
from spotproof_gke.workloads.jobs import Checkpoints, job
from spotproof_gke.workloads.scheduling import (
    NodesFrom,
    class_scheduling,
    spot_scheduling,
    with_driver,
)


class JobKindArgs(TypedDict):
    """What brings the pods back."""

    kind: NotRequired[JobKind]
    """`jobset`: its controller must be in the cluster, and a pod is back seconds after its node is there; `deadline_seconds` and `backoff_limit` count anew after each interruption. `job`: needs no controller and counts over the whole run, but waits 10 s after the first interruption, then twice as long each time, up to 10 min. `jobset` when omitted."""


class SpotJobArgs(ProgramArgs, CheckpointArgs, JobArgs, JobKindArgs, PodGraceArgs):
    """Arguments of `SpotJob`."""


@dataclass(frozen=True)
class SpotJobPlan:
    """Checked arguments of a `SpotJob`."""

    name: str
    namespace: str
    budget_seconds: int
    manifest: dict[str, Any]


def plan_spot_job(read: Reader, name: str) -> SpotJobPlan:
    """Judge the arguments of a `SpotJob`; problems are noted on `read`."""
    nodes, compute_class = read_nodes(read)
    accelerator, gpus = read_gpus(read, Capacity.SPOT)
    budget, estimate = read_budget(read, Capacity.SPOT, nodes)
    location, mounts = read_checkpoints(read)
    program = read_program(read, name, "job_name", gpus, budget, mounts)
    saves = Checkpoints(location, budget, estimate)
    where = spot_nodes(nodes, compute_class, accelerator)
    limits = read_limits(read)
    kind = read.choice("kind", JobKind, JobKind.JOB_SET)
    if kind is JobKind.JOB_SET and read.is_right("job_name"):
        read.extend(kubernetes_names.job_set_name_problems("job_name", program.name))
    made = job_set if kind is JobKind.JOB_SET else job
    manifest = made(program, where, saves, limits)
    judge_by_rules(read, manifest)
    return SpotJobPlan(program.name, program.namespace, budget, manifest)


def spot_nodes(nodes: NodesFrom, compute_class: str | None, accelerator: str | None) -> Scheduling:
    """Selector and tolerations of a pod on Spot nodes, wherever they come from."""
    if compute_class is not None:
        return class_scheduling(compute_class, spot=True)
    where = spot_scheduling(accelerator)
    return Scheduling(with_driver(where.node_selector, nodes), where.tolerations)


class SpotJob(pulumi.ComponentResource):
    """A training on Spot nodes, as a JobSet or a Job: interruptions do not use up its retries, and it goes on from its checkpoint; an update does not wait for its end."""

    job_name: pulumi.Output[str]
    """Name of the JobSet or Job."""

    namespace: pulumi.Output[str]
    """Namespace of the JobSet or Job."""

    termination_budget_seconds: pulumi.Output[int]
    """What a pod has between SIGTERM and the end of its node."""

    def __init__(
        self, name: str, args: SpotJobArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = Reader(args, SpotJobArgs.__annotations__)
        plan = plan_spot_job(read, name)
        read.finish(f"SpotJob {name}")
        super().__init__("spotproof:index:SpotJob", name, None, opts)
        read.warn(self)
        remade = FIXED if plan.manifest["kind"] == "JobSet" else ()
        made = declare(self, f"{name}-job", plan.manifest, remade_on=remade)
        self.job_name = made.metadata["name"]  # pyright: ignore[reportAttributeAccessIssue]
        self.namespace = pulumi.Output.from_input(plan.namespace)
        self.termination_budget_seconds = pulumi.Output.from_input(plan.budget_seconds)
        self.register_outputs(
            {
                "jobName": self.job_name,
                "namespace": self.namespace,
                "terminationBudgetSeconds": self.termination_budget_seconds,
            }
        )
