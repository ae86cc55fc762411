"""The objects of a drill: reference workloads as the components make them, and system pods."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.cluster.eviction import SIGTERM_EXIT_CODE, SIGTERM_TAKES
from sandbox.cluster.offers import Cluster
from sandbox.drill.guard import StackGuard
from sandbox.drill.pools import Place, flex_start_place, has_spot_cpus, spot_place
from spotproof_gke.capacity import Scheduling
from spotproof_gke.contract import EXIT_INTERRUPTED
from spotproof_gke.workloads.job_sets import job_set
from spotproof_gke.workloads.jobs import Checkpoints, JobLimits, job
from spotproof_gke.workloads.pod import NAME_LABEL, Program
from spotproof_gke.workloads.queue_workers import Scale, deployment
from spotproof_gke.workloads.scheduling import (
    flex_start_scheduling,
    spot_scheduling,
    with_driver,
)

TRAINING, BATCH, SYSTEM = "training", "batch", "kube-system"
IMAGE = "example.invalid/reference"
SAVE_TAKES = "1s"
"""How long a simulated program takes to save itself on SIGTERM."""
DEADLINE_SECONDS = 864_000

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Workload:
    """A workload and where its pods are found.

    Attributes:
        manifest: What is applied.
        name, namespace: Of the workload; its pods carry the name as a label.
    """

    manifest: Manifest
    name: str
    namespace: str
    label: str = NAME_LABEL

    @property
    def title(self) -> str:
        """Kind and name, for people."""
        return f"{self.manifest['kind']} {self.namespace}/{self.name}"


@dataclass(frozen=True)
class Workloads:
    """All workloads of a drill.

    Attributes:
        before: Namespaces and service accounts.
        system: What the cluster itself needs.
        spot_job: A training on Spot GPUs.
        flex_start_job: Work on flex-start GPUs.
        workers: Queue workers on Spot nodes; None when the cluster has none for them.
        stranger: Pods without any toleration.
        lifetime_seconds: How long a flex-start node lives.
        guard: The guard of the stack; None when it has none.
    """

    before: Sequence[Manifest]
    system: Sequence[Workload]
    spot_job: Workload
    flex_start_job: Workload
    workers: Workload | None
    stranger: Workload
    lifetime_seconds: int
    guard: StackGuard | None = None


def reference_workloads(cluster: Cluster, guard: StackGuard | None = None) -> Workloads:
    """The workloads for what a cluster has, and the guard of its stack.

    Raises:
        UnfitClusterError: it has no Spot or no flex-start GPUs.
    """
    spot, flexible = spot_place(cluster), flex_start_place(cluster)
    where = spot_scheduling(spot.accelerator)
    selector = with_driver(where.node_selector, spot.nodes)
    lifetime = flexible.lifetime_seconds or 0
    return Workloads(
        before=[
            *(_object("v1", "Namespace", name) for name in _namespaces(guard)),
            *(
                _object("v1", "ServiceAccount", name, namespace)
                for namespace, name in ((TRAINING, "trainer"), (BATCH, "worker"))
            ),
        ],
        system=[
            _plain(name, SYSTEM, replicas, "250m", {"priorityClassName": critical})
            for name, replicas, critical in (
                ("kube-dns", 2, "system-cluster-critical"),
                ("metrics-server", 1, "system-cluster-critical"),
            )
        ],
        spot_job=_training(job_set, "trainer", spot, Scheduling(selector, where.tolerations)),
        flex_start_job=_training(
            job,
            "finetune",
            flexible,
            flex_start_scheduling(flexible.accelerator, nodes=flexible.nodes),
        ),
        workers=_workers(spot_scheduling()) if has_spot_cpus(cluster) else None,
        stranger=_plain("stranger", BATCH, 1, "250m", {"serviceAccountName": "worker"}),
        lifetime_seconds=lifetime,
        guard=guard,
    )


def _namespaces(guard: StackGuard | None) -> list[str]:
    """All that are not there from the beginning."""
    guarded = [post.namespace for post in guard.posts] if guard else []
    return [name for name in dict.fromkeys((TRAINING, BATCH, *guarded)) if name != SYSTEM]


def _training(
    make: Callable[[Program, Scheduling, Checkpoints, JobLimits], Manifest],
    name: str,
    place: Place,
    where: Scheduling,
) -> Workload:
    program = Program(
        name=name,
        namespace=TRAINING,
        image=IMAGE,
        command=("python", "-m", "trainer"),
        service_account="trainer",
        cpu="2",
        memory="8Gi",
        gpus=place.gpus,
        grace_seconds=place.budget_seconds,
    )
    saves = Checkpoints(
        f"gs://drill-checkpoints/{name}", place.budget_seconds, None, place.lifetime_seconds
    )
    manifest = make(program, where, saves, JobLimits(deadline_seconds=DEADLINE_SECONDS))
    return Workload(_stopping(manifest, EXIT_INTERRUPTED), name, TRAINING)


def _workers(where: Scheduling) -> Workload:
    program = Program(
        name="worker",
        namespace=BATCH,
        image=IMAGE,
        command=("python", "-m", "worker"),
        service_account="worker",
        cpu="500m",
        memory="1Gi",
    )
    scale = Scale("projects/drill/subscriptions/jobs", "jobs", 1, 4, 100, 300)
    return Workload(_stopping(deployment(program, where, scale), 0), "worker", BATCH)


def _stopping(manifest: Manifest, exit_code: int) -> Manifest:
    """The manifest, with what a simulated node has to know of the program: how it stops."""
    jobs = manifest["spec"].get("replicatedJobs")
    for above in [each["template"] for each in jobs] if jobs else [manifest]:
        marks = above["spec"]["template"]["metadata"].setdefault("annotations", {})
        marks |= {SIGTERM_TAKES: SAVE_TAKES, SIGTERM_EXIT_CODE: str(exit_code)}
    return manifest


def _plain(name: str, namespace: str, replicas: int, cpu: str, spec: Mapping[str, Any]) -> Workload:
    """A Deployment that knows nothing of nodes that can be taken away."""
    container = {"name": "main", "image": IMAGE, "resources": {"requests": {"cpu": cpu}}}
    manifest = _object("apps/v1", "Deployment", name, namespace)
    manifest["spec"] = {
        "replicas": replicas,
        "selector": {"matchLabels": {NAME_LABEL: name}},
        "template": {
            "metadata": {"labels": {NAME_LABEL: name}},
            "spec": {"containers": [container], **spec},
        },
    }
    return Workload(manifest, name, namespace)


def _object(version: str, kind: str, name: str, namespace: str | None = None) -> Manifest:
    about = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": version, "kind": kind, "metadata": about}
