"""Arguments of workloads that are right, for tests to change."""

from typing import Any

from spotproof.reader import Reader
from spotproof.workloads.capacity_class import CapacityClassArgs, plan_capacity_class
from spotproof.workloads.flex_start_job import FlexStartJobArgs, plan_flex_start_job
from spotproof.workloads.kueue_queues import KueueQueuesArgs, plan_kueue_queues
from spotproof.workloads.queue_workers import QueueWorkersArgs, plan_queue_workers
from spotproof.workloads.spot_job import SpotJobArgs, plan_spot_job

PROGRAM: dict[str, Any] = {
    "namespace": "training",
    "image": "europe-docker.pkg.dev/acme-ml/images/trainer:1",
    "command": ["python", "-m", "trainer"],
    "accelerator": "nvidia-l4",
}
SPOT_JOB = {
    **PROGRAM,
    "checkpoint_location": "gs://acme-ml-checkpoints/run-1",
    "deadline_seconds": 864_000,
}
SIZES = {
    "cpu": "0.5",
    "memory": "1024Mi",
    "ephemeral_storage": "1000M",
    "shared_memory": "0.5Gi",
}
"""Not as the API server writes them."""
FLEX_START_JOB = {**SPOT_JOB, "expected_duration_seconds": 86_400}
QUEUE_WORKERS = {
    **PROGRAM,
    "subscription": "projects/acme-ml/subscriptions/jobs",
    "max_workers": 50,
    "database": {"secret": "results", "key": "url"},
}
L4 = {"machine_type": "g2-standard-8"}
CAPACITY_CLASS: dict[str, Any] = {
    "cluster_location": "us-central1",
    "priorities": [
        {"capacity": "reservation", **L4, "reservation": "ours"},
        {"capacity": "on-demand", **L4},
        {"capacity": "flex-start", **L4, "max_node_lifetime_seconds": 604_800},
        {"capacity": "spot", **L4},
    ],
}
KUEUE_QUEUES: dict[str, Any] = {
    "local_queues": ["training/gpus"],
    "flavors": [
        {
            "name": "l4-queued",
            "capacity": "flex-start-queued",
            "accelerator": "nvidia-l4",
            "gpus": 16,
            "cpu": "128",
            "memory": "512Gi",
        }
    ],
}


def manifests(component: str, args: dict[str, Any], name: str = "work") -> list[dict[str, Any]]:
    """The manifests of a component, in the order in which they are declared.

    Raises:
        ArgumentsError: The component refuses the arguments.
    """
    given = {key: value for key, value in args.items() if value is not None}
    known: Any = {
        "SpotJob": SpotJobArgs,
        "FlexStartJob": FlexStartJobArgs,
        "QueueWorkers": QueueWorkersArgs,
        "CapacityClass": CapacityClassArgs,
        "KueueQueues": KueueQueuesArgs,
    }[component]
    read = Reader(given, known.__annotations__)
    if component == "SpotJob":
        found = [plan_spot_job(read, name).manifest]
    elif component == "FlexStartJob":
        found = list(plan_flex_start_job(read, name).manifests)
    elif component == "QueueWorkers":
        workers = plan_queue_workers(read, name)
        found = [workers.workers, *workers.others.values()]
    elif component == "CapacityClass":
        found = [plan_capacity_class(read, name).manifest]
    else:
        queues = plan_kueue_queues(read, name)
        found = [*queues.first.values(), queues.queue, *queues.doors.values()]
    read.finish(f"{component} {name}")
    return found


def job_spec_of(manifest: dict[str, Any]) -> dict[str, Any]:
    """The specification of a Job, which in a JobSet of ours is the only one."""
    if manifest["kind"] != "JobSet":
        return manifest["spec"]
    (made,) = manifest["spec"]["replicatedJobs"]
    return made["template"]["spec"]


def pod_of(manifest: dict[str, Any]) -> dict[str, Any]:
    """The specification of a workload's pods."""
    return job_spec_of(manifest)["template"]["spec"]


EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "SpotJob": [
        SPOT_JOB,
        {**SPOT_JOB, **SIZES, "env": {"EMPTY": "", "REFERENCE": "$(EMPTY)/ü"}},
        {**SPOT_JOB, "cpu": "15e-1", "memory": "1e9", "env": {"log.level-of_all": "debug"}},
        {**SPOT_JOB, "kind": "job"},
        {**SPOT_JOB, "accelerator": None},
        {**SPOT_JOB, "accelerator": None, "gpus": 1, "compute_class": "gpus"},
        {**SPOT_JOB, "nodes": "autopilot", "save_estimate_seconds": 12},
        {**SPOT_JOB, "shutdown_grace_seconds": 120, "save_estimate_seconds": 90},
        {**SPOT_JOB, "checkpoint_location": "/checkpoints", "checkpoint_claim": "runs"},
        {**SPOT_JOB, "checkpoint_location": "/checkpoints", "checkpoint_bucket": "acme-runs"},
    ],
    "FlexStartJob": [
        FLEX_START_JOB,
        {**FLEX_START_JOB, "accelerator": None},
        {**FLEX_START_JOB, "nodes": "auto-provisioning", "node_lifetime_seconds": 90_000},
        {**FLEX_START_JOB, "accelerator": None, "gpus": 1, "compute_class": "gpus"},
        {**FLEX_START_JOB, "queue": "gpus", "pods": 4},
        {**FLEX_START_JOB, "provisioning_request": True},
    ],
    "QueueWorkers": [
        QUEUE_WORKERS,
        {**QUEUE_WORKERS, "scaler": "hpa", "shutdown_grace_seconds": 30},
    ],
    "CapacityClass": [CAPACITY_CLASS],
    "KueueQueues": [KUEUE_QUEUES],
}
"""Right arguments of each component, one set for each of its forms."""
