"""Whole clusters and states: innocent ones, and ones with planted faults."""

from typing import Any

from tests.audit.objects import (
    BLANKET,
    FLEX_LABELS,
    READY_JOB,
    SPOT,
    SPOT_LABELS,
    SPOT_TOLERATION,
    deployment_pod,
    fuse_volume,
    job,
    listed,
    node,
    other,
    pod,
    pod_spec,
    workload,
)

SELECTS_SPOT = {"cloud.google.com/gke-spot": "true"}
MANAGED_TOLERATIONS = [
    {"key": "CriticalAddonsOnly", "operator": "Exists"},
    {"key": "components.gke.io/gke-managed-components", "operator": "Exists"},
]
SYSTEM_NODE = "gke-prod-system-0c1d-a1b2"
SPOT_NODE = "gke-prod-l4-5e6f-c3d4"
BATCH_NODE = "gke-prod-batch-7a8b-e5f6"
NEVER = {"restartPolicy": "Never"}


def _of_the_system(*spot_nodes: str) -> list[dict[str, Any]]:
    """What every cluster of GKE has in kube-system; its DaemonSets run on Spot nodes too."""
    dns = pod_spec(MANAGED_TOLERATIONS, priorityClassName="system-cluster-critical")
    agent = pod_spec(
        [BLANKET], command=["/bin/sh", "-c", "/fluent-bit/bin/fluent-bit -c /etc/f.conf"]
    )
    proxy = pod_spec(
        [{"operator": "Exists", "effect": "NoExecute"}, {"operator": "Exists"}],
        command=["/bin/sh", "-c", "kube-proxy --v=2"],
        priorityClassName="system-node-critical",
    )
    found = [
        node(SYSTEM_NODE, "system"),
        workload("Deployment", "kube-dns", "kube-system", dns),
        deployment_pod("kube-dns", "kube-system", SYSTEM_NODE, dns),
        workload("DaemonSet", "fluentbit-gke", "kube-system", agent),
    ]
    for number, name in enumerate((SYSTEM_NODE, *spot_nodes)):
        owner = ("DaemonSet", "fluentbit-gke")
        found.append(pod(f"fluentbit-gke-{number}", "kube-system", name, owner, agent))
        found.append(
            pod(
                f"kube-proxy-{name}",
                "kube-system",
                name,
                ("Node", name),
                proxy,
                annotations={"kubernetes.io/config.mirror": "93f1c1"},
            )
        )
    return found


def innocent_cluster() -> dict[str, Any]:
    """A cluster with Spot nodes in which everything is as it should be."""
    trains = pod_spec([SPOT_TOLERATION], SELECTS_SPOT, 15, ["python", "-m", "train"], **NEVER)
    return listed(
        *_of_the_system(SPOT_NODE),
        node(SPOT_NODE, "l4", SPOT_LABELS, [SPOT], machine="g2-standard-8", gpu="nvidia-l4"),
        node("gke-prod-flex-1", "flex", FLEX_LABELS, machine="a3-highgpu-8g", gpu="nvidia-h100"),
        job("train", "research", trains, **READY_JOB),
        pod("train-8xk2p", "research", SPOT_NODE, ("Job", "train"), trains),
        workload("Deployment", "web", "shop", pod_spec(grace_seconds=120)),
        deployment_pod("web", "shop", SYSTEM_NODE, pod_spec(grace_seconds=120)),
        pod("once", "kube-system", SPOT_NODE, phase="Succeeded"),
        fuse_volume("checkpoints", "acme-checkpoints"),
        other("Service", "web", "shop", spec={"clusterIP": "10.8.0.12"}),
    )


def faulty_cluster() -> dict[str, Any]:
    """A cluster as people have it before they look: the faults are in `CLUSTER_FAULTS`."""
    trains = pod_spec([SPOT_TOLERATION], SELECTS_SPOT, 600, ["python", "-m", "train"], **NEVER)
    embeds = pod_spec(command=["sh", "-c", "python embed.py --all"], restartPolicy="OnFailure")
    proxy = pod_spec([BLANKET])
    return listed(
        *_of_the_system(SPOT_NODE, BATCH_NODE),
        node(SPOT_NODE, "l4", SPOT_LABELS, [SPOT], machine="g2-standard-8", gpu="nvidia-l4"),
        node(BATCH_NODE, "batch", SPOT_LABELS),
        node("gke-prod-batch-7a8b-g7h8", "batch", SPOT_LABELS),
        node("gke-prod-flex-9c0d-i9j0", "flex", FLEX_LABELS),
        workload("Deployment", "metrics-server", "kube-system", pod_spec(MANAGED_TOLERATIONS)),
        deployment_pod("metrics-server", "kube-system", BATCH_NODE, pod_spec(MANAGED_TOLERATIONS)),
        workload("Deployment", "mesh-proxy", "kube-system", proxy),
        deployment_pod("mesh-proxy", "kube-system", SYSTEM_NODE, proxy),
        job("train", "research", trains, **READY_JOB),
        pod("train-8xk2p", "research", SPOT_NODE, ("Job", "train"), trains),
        job("embed", "search", embeds, **READY_JOB),
        pod("embed-4wq7n", "search", BATCH_NODE, ("Job", "embed"), embeds),
        fuse_volume("checkpoints", "acme-checkpoints"),
        other("Service", "web", "shop", spec={"clusterIP": "10.8.0.12"}),
    )


CLUSTER_FAULTS = {
    ("spot-pool-taint", "node pool batch"),
    ("system-pod-on-spot", "Deployment kube-system/metrics-server"),
    ("system-workload-off-spot", "Deployment kube-system/mesh-proxy"),
    ("flex-start-pool-taint", "node pool flex"),
    ("pod-grace-within-budget", "Job research/train"),
    # This one does not ask for Spot: it landed there, since the pool has no taint.
    ("spot-job-restart-policy", "Job search/embed"),
    ("spot-program-gets-stop-signal", "Job search/embed"),
}

SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = {SIGNATURE: "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:zGq2:b3BlbiBzZXNhbWU="}
STACK = "urn:pulumi:prod::acme::"
GOOGLE = f"{STACK}pulumi:providers:gcp::default_10_2_0"


def row(
    type_: str, name: str, inputs: Any = None, outputs: Any = None, **more: Any
) -> dict[str, Any]:
    """A resource of a state."""
    given = {} if inputs is None else {"inputs": inputs}
    return {
        "urn": f"{STACK}{type_}::{name}",
        "custom": True,
        "id": f"projects/acme/{name}",
        "type": type_,
        **given,
        "outputs": {**(inputs or {}), **(outputs or {})},
        "parent": f"{STACK}pulumi:pulumi:Stack::acme-prod",
        "provider": f"{GOOGLE}::5d2f9b4c-33a1-4a51-9f35-0a4cf4a5b1b4",
        "created": "2026-10-12T07:30:02Z",
        **more,
    }


def state(*rows: Any) -> dict[str, Any]:
    """What `pulumi stack export` prints."""
    stack = {
        "urn": f"{STACK}pulumi:pulumi:Stack::acme-prod",
        "custom": False,
        "type": "pulumi:pulumi:Stack",
    }
    provider = {
        "urn": GOOGLE,
        "custom": True,
        "id": "5d2f9b4c-33a1-4a51-9f35-0a4cf4a5b1b4",
        "type": "pulumi:providers:gcp",
        "inputs": {"project": "acme", "region": "us-central1", "version": "10.2.0"},
    }
    return {
        "version": 3,
        "deployment": {
            "manifest": {"time": "2026-11-28T18:00:00Z", "magic": "", "version": "v3.274.1"},
            "secrets_providers": {"type": "passphrase", "state": {"salt": "v1:c2FsdA==:v1:x"}},
            "resources": [stack, provider, *rows],
        },
    }


def checkpoint(export: dict[str, Any]) -> dict[str, Any]:
    """The same state as the file backend keeps it."""
    return {
        "version": 3,
        "checkpoint": {"stack": "organization/acme/prod", "latest": export["deployment"]},
    }


CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"
BUCKET = "gcp:storage/bucket:Bucket"
_GKE = row(
    CLUSTER,
    "gke",
    {"name": "prod", "location": "us-central1", "removeDefaultNodePool": True},
    {"nodeLocations": ["us-central1-a", "us-central1-b"]},
)
KEPT_CHEAPLY: dict[str, Any] = {
    "softDeletePolicy": {"retentionDurationSeconds": 0},
    "lifecycleRules": [{"action": {"type": "Delete"}, "condition": {"age": 30}}],
}
"""What a checkpoint bucket states so that old checkpoints cost nothing."""

_SPOT_TAINT = {"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NO_SCHEDULE"}


def _pool(name: str, config: Any, **more: Any) -> dict[str, Any]:
    given = {
        "name": name,
        "cluster": "prod",
        "location": "us-central1",
        "nodeConfig": config,
        **more,
    }
    dependencies = {"cluster": [f"{STACK}{CLUSTER}::gke"]}
    return row(POOL, name, given, propertyDependencies=dependencies)


def innocent_state() -> dict[str, Any]:
    """A stack in which everything is as it should be, secrets and left-overs included."""
    return state(
        _GKE,
        _pool("system", {"machineType": "e2-standard-4"}, nodeCount=1),
        _pool("l4", {"machineType": "g2-standard-8", "spot": True, "taints": [_SPOT_TAINT]}),
        _pool("old", {"spot": True}) | {"delete": True},
        row(
            BUCKET,
            "checkpoints",
            {
                "name": "acme-checkpoints",
                "location": "US-CENTRAL1",
                "labels": {"spotproof-cluster": "prod", "spotproof-role": "checkpoints"},
                **KEPT_CHEAPLY,
                "encryption": SECRET,
            },
        ),
        row("random:index/randomPassword:RandomPassword", "password", {"result": SECRET}),
    )


def faulty_state() -> dict[str, Any]:
    """A stack with the faults in `STATE_FAULTS`."""
    return state(
        _GKE,
        _pool("system", {"machineType": "e2-standard-4"}, nodeCount=1),
        _pool("batch", {"machineType": "e2-standard-8", "spot": True}),
        _pool("hidden", {"machineType": "e2-standard-8", "spot": True, "taints": SECRET}),
        row(
            BUCKET,
            "checkpoints",
            {
                "name": "acme-checkpoints",
                "location": "EUROPE-WEST4",
                "labels": {"spotproof-role": "checkpoints"},
                **KEPT_CHEAPLY,
            },
        ),
    )


STATE_FAULTS = {
    ("spot-pool-taint", "NodePool batch"),
    ("checkpoint-bucket-in-cluster-region", "Bucket checkpoints"),
}
STATE_DOUBTS = {("spot-pool-taint", "NodePool hidden")}


def shown_cluster() -> dict[str, Any]:
    """The cluster that docs/how-to/audit.md shows the audit of."""
    embeds = pod_spec(command=["sh", "-c", "python embed.py --all"], grace_seconds=600, **NEVER)
    return listed(
        *_of_the_system(BATCH_NODE),
        node(BATCH_NODE, "batch", SPOT_LABELS),
        workload("Deployment", "metrics-server", "kube-system", pod_spec(MANAGED_TOLERATIONS)),
        deployment_pod("metrics-server", "kube-system", BATCH_NODE, pod_spec(MANAGED_TOLERATIONS)),
        job("embed", "search", embeds, **READY_JOB),
        pod("embed-4wq7n", "search", BATCH_NODE, ("Job", "embed"), embeds),
        fuse_volume("checkpoints", "acme-checkpoints"),
    )


def shown_state() -> dict[str, Any]:
    """The stack that docs/how-to/audit.md shows the audit of: the bucket that the cluster mounts.

    Nothing in the stack itself says whose bucket it is.
    """
    given = {"name": "acme-checkpoints", "location": "EUROPE-WEST4", **KEPT_CHEAPLY}
    return state(row(BUCKET, "checkpoints", given))
