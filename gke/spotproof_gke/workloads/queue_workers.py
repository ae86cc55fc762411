"""Workers of a queue on Spot nodes: as many as there is work for, none when there is none.

Sources, read on 2026-11-30: keda.sh/docs, scaler gcp-pub-sub and concept scaling-deployments;
kubernetes.io/docs/tasks/run-application (horizontal-pod-autoscale, configure-pdb);
docs.cloud.google.com/kubernetes-engine/docs/tutorials/autoscaling-metrics.
"""

from dataclasses import dataclass
from typing import Any

from spotproof_gke.capacity import Scheduling
from spotproof_gke.contract import (
    DATABASE_URL_VARIABLE,
    SUBSCRIPTION_VARIABLE,
    TERMINATION_BUDGET_VARIABLE,
)
from spotproof_gke.workloads.jobs import SKIP_AWAIT
from spotproof_gke.workloads.pod import NAME_LABEL, Program, SecretKey, metadata, pod_template

BACKLOG_METRIC = "pubsub.googleapis.com|subscription|num_undelivered_messages"
"""The backlog of a subscription as the metrics adapter of Cloud Monitoring names it."""


@dataclass(frozen=True)
class Scale:
    """How many workers there are.

    Attributes:
        subscription: Full id of the subscription, `projects/PROJECT/subscriptions/NAME`.
        subscription_name: Its short name.
        least, most: Limits; KEDA can go to 0, a HorizontalPodAutoscaler to 1.
        messages_per_worker: Waiting messages for which there is one worker.
        cooldown_seconds: How long the queue is empty before the last worker goes.
    """

    subscription: Any
    subscription_name: Any
    least: int
    most: int
    messages_per_worker: int
    cooldown_seconds: int


def worker_env(scale: Scale, budget_seconds: int) -> dict[str, Any]:
    """The environment variables by which a worker is told of its queue and its time."""
    return {
        SUBSCRIPTION_VARIABLE: scale.subscription,
        TERMINATION_BUDGET_VARIABLE: str(budget_seconds),
    }


def database_env(address: SecretKey) -> dict[str, SecretKey]:
    """The environment variable by which a worker is told of its database."""
    return {DATABASE_URL_VARIABLE: address}


def deployment(program: Program, where: Scheduling, scale: Scale) -> dict[str, Any]:
    """The workers. How many is the autoscaler's to say, so the manifest does not.

    A worker exits 0 on SIGTERM: what it has not finished goes back to the queue. An update takes
    workers away before it adds new ones, since there may be no room for both.
    """
    template = pod_template(program, where, worker_env(scale, program.grace_seconds))
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(program, SKIP_AWAIT),
        "spec": {
            "selector": _selector(program),
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": 0, "maxUnavailable": "25%"},
            },
            "template": template,
        },
    }


def disruption_budget(program: Program, most_at_once: str = "50%") -> dict[str, Any]:
    """How many workers a drain or an upgrade may take at once.

    It does not hold the loss of a Spot node, which asks nobody.
    """
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(program),
        "spec": {
            "maxUnavailable": most_at_once,
            "selector": _selector(program),
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }


def keda_objects(program: Program, scale: Scale) -> tuple[dict[str, Any], dict[str, Any]]:
    """KEDA's identity for the queue, and the object that scales the workers."""
    authentication = {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "TriggerAuthentication",
        "metadata": metadata(program),
        "spec": {"podIdentity": {"provider": "gcp"}},
    }
    trigger = {
        "type": "gcp-pubsub",
        "authenticationRef": {"name": program.name},
        "metadata": {
            "subscriptionName": scale.subscription,
            "mode": "SubscriptionSize",
            "value": str(scale.messages_per_worker),
            "activationValue": "0",
        },
    }
    scaled = {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": metadata(program),
        "spec": {
            "scaleTargetRef": {"name": program.name},
            "minReplicaCount": scale.least,
            "maxReplicaCount": scale.most,
            "cooldownPeriod": scale.cooldown_seconds,
            "triggers": [trigger],
        },
    }
    return authentication, scaled


def horizontal_autoscaler(program: Program, scale: Scale) -> dict[str, Any]:
    """A HorizontalPodAutoscaler on the backlog, through the metrics adapter."""
    labels = {"resource.labels.subscription_id": scale.subscription_name}
    metric = {
        "type": "External",
        "external": {
            "metric": {"name": BACKLOG_METRIC, "selector": {"matchLabels": labels}},
            "target": {"type": "AverageValue", "averageValue": str(scale.messages_per_worker)},
        },
    }
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": program.name}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": metadata(program),
        "spec": {
            "scaleTargetRef": target,
            "minReplicas": scale.least,
            "maxReplicas": scale.most,
            "behavior": {"scaleDown": {"stabilizationWindowSeconds": scale.cooldown_seconds}},
            "metrics": [metric],
        },
    }


def _selector(program: Program) -> dict[str, Any]:
    return {"matchLabels": {NAME_LABEL: program.name}}
