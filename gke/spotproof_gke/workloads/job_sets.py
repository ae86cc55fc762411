"""A training as a JobSet: after each loss of a node its Job is made anew, so no delay grows.

The Job controller waits 10 s before it replaces an interrupted pod, then 20 s, 40 s, up to 10
minutes, until the Job ends; a Job made anew starts from nothing. What is decided stands in
docs/decisions/20261130-spot-job-is-a-jobset.md.
Sources: the JobSet API v1alpha2 and its controller, kubernetes-sigs/jobset v0.11.1, read on
2026-11-30; runs against it on a control plane of Kubernetes 1.36.
"""

from enum import Enum
from typing import Any

from spotproof_gke.capacity import Scheduling
from spotproof_gke.contract import EXIT_HOPELESS, EXIT_INTERRUPTED
from spotproof_gke.workloads.jobs import SKIP_AWAIT, Checkpoints, JobLimits, exit_codes, job_pods
from spotproof_gke.workloads.pod import CONTAINER, Program, labels_of, metadata

API_VERSION = "jobset.x-k8s.io/v1alpha2"

FIXED = (
    "spec.failurePolicy",
    "spec.network",
    "spec.replicatedJobs",
    "spec.startupPolicy",
    "spec.successPolicy",
)
"""What can't be changed in a JobSet, only made anew."""


class JobKind(str, Enum):
    """What brings the pods of a training back."""

    JOB_SET = "jobset"
    """A JobSet, which makes all pods anew as soon as one has lost its node."""

    JOB = "job"
    """A plain Job, which needs no other controller."""


def pod_failure_policy() -> dict[str, Any]:
    """What the exit of a pod means to a Job of a JobSet; the first rule that matches decides.

    The reason of the Job's failure tells the JobSet what happened, so each reason has one meaning:
    `PodFailurePolicy` that the node was lost, any other that the training failed. The hopeless code
    therefore fails the pod's index, which fails the Job with another reason.

    The interrupted code alone, without a lost node, stays inside the Job: a program that always
    ends with it is slowed down by the Job's delay and ended by its deadline.
    """
    # Some releases of the JobSet CRD, unlike the Job itself, need the status.
    lost = {"type": "DisruptionTarget", "status": "True"}
    return {
        "rules": [
            {"action": "FailIndex", "onExitCodes": exit_codes(EXIT_HOPELESS)},
            {"action": "FailJob", "onPodConditions": [lost]},
            {"action": "Ignore", "onExitCodes": exit_codes(EXIT_INTERRUPTED)},
        ]
    }


def failure_policy() -> dict[str, Any]:
    """What the failure of its Job means to the JobSet; the first rule that matches decides."""
    return {
        # Not before the old pods have gone: two writers of one checkpoint would mix.
        "restartStrategy": "BlockingRecreate",
        "rules": [
            {
                "name": "interrupted",
                "action": "RestartJobSetAndIgnoreMaxRestarts",
                "onJobFailureReasons": ["PodFailurePolicy"],
            },
            {"name": "failed", "action": "FailJobSet"},
        ],
    }


def job_set(
    program: Program, where: Scheduling, saves: Checkpoints, limits: JobLimits
) -> dict[str, Any]:
    """A JobSet of one Job, which is made anew after each interruption without counting.

    The Job's deadline and its count of errors begin anew with it.

    Args:
        program: What runs.
        where: Where it may run.
        saves: What it is told about saving itself.
        limits: When it ends without being done.
    """
    made = {
        "activeDeadlineSeconds": limits.deadline_seconds,
        "backoffLimitPerIndex": limits.backoff_limit,
        "completionMode": "Indexed",
        "completions": limits.pods,
        # Any index that has failed for good fails the Job at once.
        "maxFailedIndexes": 0,
        "parallelism": limits.pods,
        "podFailurePolicy": pod_failure_policy(),
        "podReplacementPolicy": "Failed",
        "template": job_pods(program, where, saves),
    }
    spec: dict[str, Any] = {
        "failurePolicy": failure_policy(),
        "network": {"enableDNSHostnames": limits.pods > 1},
        "replicatedJobs": [
            {
                "name": CONTAINER,
                "replicas": 1,
                "template": {"metadata": {"labels": labels_of(program)}, "spec": made},
            }
        ],
    }
    if limits.ttl_seconds is not None:
        spec["ttlSecondsAfterFinished"] = limits.ttl_seconds
    return {
        "apiVersion": API_VERSION,
        "kind": "JobSet",
        "metadata": metadata(program, SKIP_AWAIT),
        "spec": spec,
    }
