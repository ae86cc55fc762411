"""Jobs that survive the loss of their nodes.

Sources: kubernetes.io/docs/concepts/workloads/controllers/job (pod failure policy, back-off, pod
replacement policy); docs.cloud.google.com/kubernetes-engine pages how-to/dws-flex-start-training
and how-to/provisioningrequest, read on 2026-11-29; runs against a control plane of Kubernetes 1.36.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spotproof_gke.capacity import Scheduling
from spotproof_gke.contract import (
    CHECKPOINT_LOCATION_VARIABLE,
    EXIT_HOPELESS,
    EXIT_INTERRUPTED,
    NODE_LIFETIME_VARIABLE,
    SAVE_ESTIMATE_VARIABLE,
    TERMINATION_BUDGET_VARIABLE,
)
from spotproof_gke.workloads.pod import Program, metadata, pod_template

SKIP_AWAIT = {"pulumi.com/skipAwait": "true"}
"""Annotation: an update does not wait until the work is done, or until there is capacity."""

POD_LABELS = (
    "job-name",
    "controller-uid",
    "batch.kubernetes.io/job-name",
    "batch.kubernetes.io/controller-uid",
)
"""Labels by which a Job knows its pods; the API server refuses a Job that sets them itself."""

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
RUN_DURATION_ANNOTATION = "provreq.kueue.x-k8s.io/maxRunDurationSeconds"

PROVISIONING_CLASS = "queued-provisioning.gke.io"
CONSUME_ANNOTATION = "autoscaling.x-k8s.io/consume-provisioning-request"
CLASS_ANNOTATION = "autoscaling.x-k8s.io/provisioning-class-name"
WARDEN_LABEL = "cloud.google.com/apply-warden-policies"


@dataclass(frozen=True)
class Checkpoints:
    """What a program is told about saving itself.

    Attributes:
        location: `gs://BUCKET/PREFIX`, or a path in a volume.
        budget_seconds: What a pod has between SIGTERM and the end of its node.
        save_estimate_seconds: How long a save takes; None when it is not known.
        node_lifetime_seconds: How long a node lives; None when it is not known.
    """

    location: Any
    budget_seconds: int
    save_estimate_seconds: int | None = None
    node_lifetime_seconds: int | None = None

    def env(self) -> dict[str, Any]:
        """The environment variables by which the program is told."""
        told = {
            CHECKPOINT_LOCATION_VARIABLE: self.location,
            TERMINATION_BUDGET_VARIABLE: str(self.budget_seconds),
        }
        if self.save_estimate_seconds is not None:
            told[SAVE_ESTIMATE_VARIABLE] = str(self.save_estimate_seconds)
        if self.node_lifetime_seconds is not None:
            told[NODE_LIFETIME_VARIABLE] = str(self.node_lifetime_seconds)
        return told


@dataclass(frozen=True)
class JobLimits:
    """When a Job ends without being done.

    Attributes:
        deadline_seconds: The longest from its start, the wait for capacity included.
        backoff_limit: Errors that are retried; interruptions do not count.
        ttl_seconds: When it is removed after its end; None keeps it.
        pods: How many pods work at once, each with an index when more than one.
    """

    deadline_seconds: int
    backoff_limit: int = 3
    ttl_seconds: int | None = None
    pods: int = 1


def pod_failure_policy() -> dict[str, Any]:
    """What the exit of a pod means to its Job; the first rule that matches decides.

    The hopeless code stands first: it ends the Job even when the node went at the same time.
    """
    return {
        "rules": [
            {"action": "FailJob", "onExitCodes": exit_codes(EXIT_HOPELESS)},
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
            {"action": "Ignore", "onExitCodes": exit_codes(EXIT_INTERRUPTED)},
        ]
    }


def exit_codes(code: int) -> dict[str, Any]:
    """The part of a rule that matches one exit code."""
    return {"operator": "In", "values": [code]}


def job(
    program: Program,
    where: Scheduling,
    saves: Checkpoints,
    limits: JobLimits,
    *,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    pod_annotations: Mapping[str, str] | None = None,
    suspended: bool = False,
) -> dict[str, Any]:
    """A plain Job whose pods are replaced, not counted, when they are interrupted.

    Args:
        program: What runs.
        where: Where it may run.
        saves: What it is told about saving itself.
        limits: When it ends without being done.
        labels, annotations: Of the Job alone.
        pod_annotations: Of its pods alone.
        suspended: Whether it waits until something else starts it.
    """
    spec: dict[str, Any] = {
        "activeDeadlineSeconds": limits.deadline_seconds,
        "backoffLimit": limits.backoff_limit,
        "podFailurePolicy": pod_failure_policy(),
        # Not before the old pod has ended: two writers of one checkpoint would mix.
        "podReplacementPolicy": "Failed",
        "template": job_pods(program, where, saves, pod_annotations),
    }
    if limits.pods > 1:
        spec |= {
            "completionMode": "Indexed",
            "completions": limits.pods,
            "parallelism": limits.pods,
        }
    if limits.ttl_seconds is not None:
        spec["ttlSecondsAfterFinished"] = limits.ttl_seconds
    if suspended:
        spec["suspend"] = True
    above = metadata(program, {**SKIP_AWAIT, **(annotations or {})})
    above["labels"] = {**above["labels"], **(labels or {})}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": above, "spec": spec}


def job_pods(
    program: Program,
    where: Scheduling,
    saves: Checkpoints,
    annotations: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The pod template of a Job; a pod's own deadline, unlike the Job's, leaves out all waiting."""
    found = pod_template(
        program, where, saves.env(), restart_policy="Never", annotations=annotations
    )
    if saves.node_lifetime_seconds is not None:
        found["spec"]["activeDeadlineSeconds"] = saves.node_lifetime_seconds
    return found


def kueue_job(
    program: Program,
    where: Scheduling,
    saves: Checkpoints,
    limits: JobLimits,
    queue: str,
    max_run_seconds: int | None,
) -> dict[str, Any]:
    """A Job that Kueue starts when its nodes are there.

    Args:
        program, where, saves, limits: As for `job`.
        queue: Name of the LocalQueue in the Job's namespace.
        max_run_seconds: How long its nodes live, None when no ProvisioningRequest is made.
    """
    annotations = {}
    if max_run_seconds is not None:
        annotations[RUN_DURATION_ANNOTATION] = str(max_run_seconds)
    return job(
        program,
        where,
        saves,
        limits,
        labels={QUEUE_LABEL: queue},
        annotations=annotations,
        suspended=True,
    )


def requested_job(
    program: Program,
    where: Scheduling,
    saves: Checkpoints,
    limits: JobLimits,
    max_run_seconds: int,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """A PodTemplate, a ProvisioningRequest and a Job that takes what the request provides.

    The Job is made at the same time, so that its pods start within the ten minutes for which the
    nodes are kept.
    """
    name = program.name
    consume = {CONSUME_ANNOTATION: name, CLASS_ANNOTATION: PROVISIONING_CLASS}
    made = job(program, where, saves, limits, pod_annotations=consume)
    template = {
        "apiVersion": "v1",
        "kind": "PodTemplate",
        "metadata": metadata(program),
        "template": job_pods(program, where, saves),
    }
    template["metadata"]["labels"] = {**template["metadata"]["labels"], WARDEN_LABEL: "true"}
    request = {
        "apiVersion": "autoscaling.x-k8s.io/v1",
        "kind": "ProvisioningRequest",
        "metadata": metadata(program),
        "spec": {
            "provisioningClassName": PROVISIONING_CLASS,
            "parameters": {"maxRunDurationSeconds": str(max_run_seconds)},
            "podSets": [{"count": limits.pods, "podTemplateRef": {"name": name}}],
        },
    }
    return template, request, made
