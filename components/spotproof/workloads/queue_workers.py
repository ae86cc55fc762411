"""Workers of a queue on Spot nodes, as many as there is work for."""

import re
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypedDict

import pulumi
from typing_extensions import NotRequired

from spotproof.reader import Reader
from spotproof.workloads.made import declare
from spotproof.workloads.program import judge_by_rules, read_program, read_secret_key
from spotproof.workloads.program_args import PodGraceArgs, ProgramArgs, SecretKeyArgs
from spotproof.workloads.spot_job import spot_nodes
from spotproof.workloads.where import read_budget, read_gpus, read_nodes
from spotproof_gke.capacity import Capacity
from spotproof_gke.workloads.pod import Program
from spotproof_gke.workloads.queue_workers import (
    Scale,
    database_env,
    deployment,
    disruption_budget,
    horizontal_autoscaler,
    keda_objects,
)

MOST_WORKERS = 10_000
"""Upper bound of the workers, to catch a slip."""

STABILIZATION_SECONDS = 3600
"""The longest that a HorizontalPodAutoscaler waits before it takes workers away."""

_SUBSCRIPTION = re.compile(r"projects/[^/\s]+/subscriptions/[^/\s]+")


class Scaler(str, Enum):
    """What scales the workers; each is a controller that the cluster must have."""

    KEDA = "keda"
    """KEDA; no worker runs when the queue is empty."""

    HPA = "hpa"
    """HorizontalPodAutoscaler, with an adapter for metrics; one worker always runs."""


class ScaleArgs(TypedDict):
    """How many workers there are."""

    workers_name: NotRequired[str]
    """Fixed name of the Deployment, at most 63 characters; the component's name when omitted."""

    subscription: pulumi.Input[str]
    """Id of the queue's subscription, `projects/PROJECT/subscriptions/NAME`. The program gets it as `SPOTPROOF_SUBSCRIPTION`."""

    max_workers: int
    """Most workers, 1 to 10000."""

    min_workers: NotRequired[int]
    """Least workers; with `keda` 0, with `hpa` 1 when omitted."""

    messages_per_worker: NotRequired[int]
    """Waiting messages for which there is one worker; 10 when omitted."""

    cooldown_seconds: NotRequired[int]
    """How long there is less work before workers go, at most 3600 s with `hpa`; 300 when omitted."""

    scaler: NotRequired[Scaler]
    """What scales the workers: KEDA, or a HorizontalPodAutoscaler with the metrics adapter of Cloud Monitoring; `keda` when omitted."""

    database: NotRequired[SecretKeyArgs]
    """Secret with the address of the database that takes the results. The program gets it as `SPOTPROOF_DATABASE_URL`."""


class QueueWorkersArgs(ProgramArgs, PodGraceArgs, ScaleArgs):
    """Arguments of `QueueWorkers`."""


@dataclass(frozen=True)
class QueueWorkersPlan:
    """Checked arguments of a `QueueWorkers`.

    Attributes:
        workers: The Deployment.
        others: What scales and guards it, by role.
    """

    name: str
    namespace: str
    budget_seconds: int
    workers: dict[str, Any]
    others: dict[str, dict[str, Any]]


def plan_queue_workers(read: Reader, name: str) -> QueueWorkersPlan:
    """Judge the arguments of a `QueueWorkers`; problems are noted on `read`."""
    nodes, compute_class = read_nodes(read)
    accelerator, gpus = read_gpus(read, Capacity.SPOT)
    budget, _ = read_budget(read, Capacity.SPOT, nodes)
    scaler = read.choice("scaler", Scaler, Scaler.KEDA)
    scale = _scale(read, scaler)
    program = read_program(read, name, "workers_name", gpus, budget)
    program = _with_database(read, program)
    where = spot_nodes(nodes, compute_class, accelerator)
    workers = deployment(program, where, scale)
    judge_by_rules(read, workers)
    others = {"budget": disruption_budget(program)}
    if scaler is Scaler.KEDA:
        others["identity"], others["scaler"] = keda_objects(program, scale)
    else:
        others["scaler"] = horizontal_autoscaler(program, scale)
    return QueueWorkersPlan(program.name, program.namespace, budget, workers, others)


def _scale(read: Reader, scaler: Scaler) -> Scale:
    subscription = read.given("subscription")
    if isinstance(subscription, str) and subscription and not _SUBSCRIPTION.fullmatch(subscription):
        rule = "this is a full id"
        fix = "write projects/PROJECT/subscriptions/NAME, not a short name"
        read.problem("subscription", subscription, rule, fix)
    most = read.integer("max_workers", least=1, most=MOST_WORKERS)
    floor = 0 if scaler is Scaler.KEDA else 1
    least = read.integer("min_workers", default=floor, least=0, most=MOST_WORKERS)
    if least < floor and read.is_right("min_workers"):
        rule = "a HorizontalPodAutoscaler keeps at least one worker"
        read.problem("min_workers", least, rule, "set it to 1, or use the scaler keda")
    elif least > most and read.is_right("min_workers") and read.is_right("max_workers"):
        rule = f"the least is not more than the most, {most}"
        read.problem("min_workers", least, rule, "lower it, or raise max_workers")
    longest = STABILIZATION_SECONDS if scaler is Scaler.HPA else 86_400
    return Scale(
        subscription=subscription,
        subscription_name=_short(subscription),
        least=least,
        most=most,
        messages_per_worker=read.integer("messages_per_worker", default=10, least=1),
        cooldown_seconds=read.integer("cooldown_seconds", default=300, most=longest),
    )


def _short(subscription: Any) -> Any:
    if isinstance(subscription, pulumi.Output):
        return subscription.apply(lambda known: str(known).rpartition("/")[2])
    return str(subscription).rpartition("/")[2]


def _with_database(read: Reader, program: Program) -> Program:
    if not read.has("database"):
        return program
    address = read_secret_key(read, "database", read.hidden("database"))
    from_secrets = {**program.secret_env, **database_env(address)}
    return Program(**{**vars(program), "secret_env": from_secrets})


class QueueWorkers(pulumi.ComponentResource):
    """Workers of a queue on Spot nodes: as many as there is work for; an update does not wait for their nodes."""

    workers_name: pulumi.Output[str]
    """Name of the Deployment."""

    namespace: pulumi.Output[str]
    """Namespace of the Deployment."""

    termination_budget_seconds: pulumi.Output[int]
    """What a worker has between SIGTERM and the end of its node."""

    def __init__(
        self, name: str, args: QueueWorkersArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = Reader(args, QueueWorkersArgs.__annotations__)
        plan = plan_queue_workers(read, name)
        read.finish(f"QueueWorkers {name}")
        super().__init__("spotproof:index:QueueWorkers", name, None, opts)
        read.warn(self)
        workers = declare(self, f"{name}-workers", plan.workers)
        made = [workers]
        for role, manifest in plan.others.items():
            made.append(declare(self, f"{name}-{role}", manifest, depends_on=made))
        self.workers_name = workers.metadata.name  # pyright: ignore[reportAttributeAccessIssue]
        self.namespace = pulumi.Output.from_input(plan.namespace)
        self.termination_budget_seconds = pulumi.Output.from_input(plan.budget_seconds)
        self.register_outputs(
            {
                "workersName": self.workers_name,
                "namespace": self.namespace,
                "terminationBudgetSeconds": self.termination_budget_seconds,
            }
        )
