"""Kubernetes objects with the fields that a live cluster fills in, for dumps written by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

NOT_READY = [
    {
        "key": f"node.kubernetes.io/{condition}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }
    for condition in ("not-ready", "unreachable")
]
SPOT = {"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NoSchedule"}
SPOT_TOLERATION = {**SPOT, "operator": "Equal"}
BLANKET = {"operator": "Exists"}
SPOT_LABELS = {"cloud.google.com/gke-spot": "true", "cloud.google.com/gke-provisioning": "spot"}
FLEX_LABELS = {
    "cloud.google.com/gke-flex-start": "true",
    "cloud.google.com/gke-provisioning": "flex-start",
}


def _metadata(name: str, namespace: str = "", **more: Any) -> dict[str, Any]:
    place = {"namespace": namespace} if namespace else {}
    return {
        "name": name,
        **place,
        "uid": f"uid-of-{namespace}-{name}",
        "resourceVersion": "48213377",
        "creationTimestamp": "2026-11-02T09:14:55Z",
        "managedFields": [{"manager": "kubelet", "operation": "Update", "apiVersion": "v1"}],
        **more,
    }


def node(
    name: str,
    pool: str,
    labels: Mapping[str, str] | None = None,
    taints: Sequence[Mapping[str, str]] = (),
    region: str = "us-central1",
    machine: str = "e2-standard-4",
    gpu: str = "",
) -> dict[str, Any]:
    """A node of GKE; the on-demand ones say `standard`."""
    provisioning = labels or {"cloud.google.com/gke-provisioning": "standard"}
    gpus = {"cloud.google.com/gke-accelerator": gpu} if gpu else {}
    capacity = {"cpu": "4", "memory": "16393228Ki", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": _metadata(
            name,
            labels={
                "cloud.google.com/gke-nodepool": pool,
                "cloud.google.com/gke-boot-disk": "pd-balanced",
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "node.kubernetes.io/instance-type": machine,
                "topology.kubernetes.io/region": region,
                "topology.kubernetes.io/zone": f"{region}-a",
                **provisioning,
                **gpus,
            },
        ),
        "spec": {
            "podCIDR": "10.4.2.0/24",
            "providerID": f"gce://acme/{region}-a/{name}",
            **({"taints": [dict(taint) for taint in taints]} if taints else {}),
        },
        "status": {
            "capacity": {**capacity, **({"nvidia.com/gpu": "1"} if gpu else {})},
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
            "nodeInfo": {"kubeletVersion": "v1.34.1-gke.2037000"},
        },
    }


def pod_spec(
    tolerations: Sequence[Mapping[str, Any]] = (),
    selector: Mapping[str, str] | None = None,
    grace_seconds: int = 30,
    command: Sequence[str] = (),
    **more: Any,
) -> dict[str, Any]:
    """A pod specification as the API server completes it."""
    return {
        "containers": [
            {
                "name": "main",
                "image": "us-docker.pkg.dev/acme/apps/main:1.4.2",
                **({"command": list(command)} if command else {}),
                "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}},
                "terminationMessagePath": "/dev/termination-log",
            }
        ],
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "serviceAccountName": "default",
        "terminationGracePeriodSeconds": grace_seconds,
        **({"tolerations": [dict(each) for each in tolerations]} if tolerations else {}),
        **({"nodeSelector": dict(selector)} if selector else {}),
        **more,
    }


def pod(
    name: str,
    namespace: str,
    on: str,
    owner: tuple[str, str] | None = None,
    spec: Mapping[str, Any] | None = None,
    phase: str = "Running",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """A scheduled pod, with the tolerations that admission adds."""
    given = dict(spec or pod_spec())
    given["tolerations"] = [*given.get("tolerations", []), *NOT_READY]
    given["nodeName"] = on
    more: dict[str, Any] = {"labels": {"app": name, **(labels or {})}}
    if annotations:
        more["annotations"] = dict(annotations)
    if owner:
        version = {"Job": "batch/v1", "Node": "v1"}.get(owner[0], "apps/v1")
        more["ownerReferences"] = [
            {
                "apiVersion": version,
                "kind": owner[0],
                "name": owner[1],
                "controller": True,
                "blockOwnerDeletion": True,
                "uid": f"uid-of-{namespace}-{owner[1]}",
            }
        ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": _metadata(name, namespace, **more),
        "spec": given,
        "status": {"phase": phase, "podIP": "10.4.2.7", "qosClass": "Burstable"},
    }


def deployment_pod(name: str, namespace: str, on: str, spec: Any = None) -> dict[str, Any]:
    """A pod of the Deployment `name`, which names its ReplicaSet."""
    owner = ("ReplicaSet", f"{name}-7f9c8d6b5")
    labels = {"pod-template-hash": "7f9c8d6b5"}
    return pod(f"{name}-7f9c8d6b5-x2x4z", namespace, on, owner, spec, labels=labels)


def workload(kind: str, name: str, namespace: str, spec: Any = None, **more: Any) -> dict[str, Any]:
    """A Deployment, DaemonSet, StatefulSet or ReplicaSet."""
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": _metadata(name, namespace, generation=3, **more),
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": spec or pod_spec()},
        },
        "status": {"observedGeneration": 3, "readyReplicas": 1},
    }


READY_JOB: dict[str, Any] = {
    "backoffLimit": 6,
    "activeDeadlineSeconds": 86400,
    "podFailurePolicy": {
        "rules": [
            {
                "action": "Ignore",
                "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
            }
        ]
    },
}
"""What a Job states that survives the loss of a node, beside `restartPolicy: Never`."""


def job(name: str, namespace: str, spec: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A Job that runs; `more` is the rest of its specification."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": _metadata(name, namespace),
        "spec": {
            "completions": 1,
            "parallelism": 1,
            "suspend": False,
            "template": {"metadata": {"labels": {"job-name": name}}, "spec": dict(spec)},
            **more,
        },
        "status": {"active": 1, "startTime": "2026-11-29T22:00:04Z"},
    }


def fuse_volume(name: str, bucket: str) -> dict[str, Any]:
    """A volume that mounts a bucket through Cloud Storage FUSE."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": _metadata(name),
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "capacity": {"storage": "1Ti"},
            "csi": {"driver": "gcsfuse.csi.storage.gke.io", "volumeHandle": bucket},
            "storageClassName": "dummy",
        },
        "status": {"phase": "Bound"},
    }


def other(kind: str, name: str, namespace: str = "", **body: Any) -> dict[str, Any]:
    """An object of a kind that no rule asks for."""
    return {
        "apiVersion": "v1",
        "kind": kind,
        "metadata": _metadata(name, namespace),
        **body,
    }


def listed(*objects: Any) -> dict[str, Any]:
    """What `kubectl get -o json` prints."""
    return {
        "apiVersion": "v1",
        "kind": "List",
        "metadata": {"resourceVersion": ""},
        "items": list(objects),
    }
