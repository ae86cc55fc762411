"""A training on Spot nodes that goes on from its last checkpoint after each interruption."""

from dataclasses import dataclass
from typing import Any

import pulumi

from spotproof.reader import Reader
from spotproof.workloads.checkpoints import read_checkpoints, read_limits
from spotproof.workloads.made import declare
from spotproof.workloads.program import judge_by_rules, read_program
from spotproof.workloads.program_args import CheckpointArgs, JobArgs, PodGraceArgs, ProgramArgs
from spotproof.workloads.where import read_budget, read_gpus, read_nodes
from spotproof_gke.capacity import Capacity, Scheduling
from spotproof_gke.workloads.jobs import Checkpoints, job
from spotproof_gke.workloads.scheduling import (
    NodesFrom,
    class_scheduling,
    spot_scheduling,
    with_driver,
)


class SpotJobArgs(ProgramArgs, CheckpointArgs, JobArgs, PodGraceArgs):
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
    manifest = job(program, where, saves, read_limits(read))
    judge_by_rules(read, manifest)
    return SpotJobPlan(program.name, program.namespace, budget, manifest)


def spot_nodes(nodes: NodesFrom, compute_class: str | None, accelerator: str | None) -> Scheduling:
    """Selector and tolerations of a pod on Spot nodes, wherever they come from."""
    if compute_class is not None:
        return class_scheduling(compute_class, spot=True)
    where = spot_scheduling(accelerator)
    return Scheduling(with_driver(where.node_selector, nodes), where.tolerations)


class SpotJob(pulumi.ComponentResource):
    """A Job on Spot nodes: interruptions do not use up its retries, and it goes on from its checkpoint; an update does not wait for its end."""

    job_name: pulumi.Output[str]
    """Name of the Job."""

    namespace: pulumi.Output[str]
    """Namespace of the Job."""

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
        made = declare(self, f"{name}-job", plan.manifest)
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
