"""The pod of a program that may lose its node: one container, started without a shell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spotproof_gke.capacity import Scheduling
from spotproof_gke.rules.bucket_references import FUSE_DRIVER
from spotproof_gke.workloads.scheduling import gpu_limits

CONTAINER = "main"
"""Name of the container with the program."""

CHECKPOINTS = "checkpoints"
"""Name of the volume with the checkpoints."""

NAME_LABEL = "app.kubernetes.io/name"

FUSE_ANNOTATION = "gke-gcsfuse/volumes"
SHARED_MEMORY_PATH = "/dev/shm"

VOLUME_GROUP = 10_001
"""Group of the files in a volume of checkpoints, which every user of an image may then write.

Without one they are root's alone. A disk is given to the group by Kubernetes, a mounted bucket by
its driver. Sources, read on 2026-11-30: kubernetes.io/docs/tasks/configure-pod-container/
security-context; GoogleCloudPlatform/gcs-fuse-csi-driver#16.
"""


@dataclass(frozen=True)
class SecretKey:
    """One key of a Secret in the program's namespace; a name, never a value."""

    secret: str
    key: str


@dataclass(frozen=True)
class Mount:
    """A volume at a path.

    Attributes:
        name: Name of the volume.
        path: Where the program sees it.
        source: The volume's source, as in a pod specification.
        annotations: What the pod must say for it.
    """

    name: str
    path: str
    source: Mapping[str, Any]
    annotations: Mapping[str, str] = field(default_factory=dict)


def claim_mount(path: str, claim: str) -> Mount:
    """A PersistentVolumeClaim at a path."""
    return Mount(CHECKPOINTS, path, {"persistentVolumeClaim": {"claimName": claim}})


def bucket_mount(path: str, bucket: Any) -> Mount:
    """A bucket at a path, by Cloud Storage FUSE. A file is safe once it is closed."""
    attributes = {"bucketName": bucket, "mountOptions": "implicit-dirs"}
    source = {"csi": {"driver": FUSE_DRIVER, "volumeAttributes": attributes}}
    return Mount(CHECKPOINTS, path, source, {FUSE_ANNOTATION: "true"})


def shared_memory_mount(size: str) -> Mount:
    """Shared memory for data loaders; without it a container has 64 MiB. Counts as memory used."""
    source = {"emptyDir": {"medium": "Memory", "sizeLimit": size}}
    return Mount("shared-memory", SHARED_MEMORY_PATH, source)


@dataclass(frozen=True)
class Program:
    """What runs in each pod, in checked values.

    Attributes:
        name: Name of the workload and value of its label.
        namespace: Namespace of the workload.
        image: Container image.
        command: The program and its first arguments; empty for the image's own entry point.
        arguments: Further arguments.
        env: Plain environment variables by name; ours are added by the workload.
        secret_env: Environment variables that come out of Secrets, by name.
        service_account: Kubernetes service account in the namespace; None for `default`.
        cpu, memory, ephemeral_storage: Requests, as Kubernetes writes quantities; memory and
            ephemeral storage are limits too. None asks for nothing.
        gpus: GPUs of each pod.
        labels, annotations: Of the workload and of its pods.
        mounts: Volumes.
        grace_seconds: What the pod has after SIGTERM.
    """

    name: str
    namespace: str
    image: Any
    command: Sequence[str] = ()
    arguments: Sequence[str] = ()
    env: Mapping[str, Any] = field(default_factory=dict)
    secret_env: Mapping[str, SecretKey] = field(default_factory=dict)
    service_account: str | None = None
    cpu: str | None = None
    memory: str | None = None
    ephemeral_storage: str | None = None
    gpus: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    mounts: Sequence[Mount] = ()
    grace_seconds: int = 15


def metadata(
    program: Program, annotations: Mapping[str, str] | None = None, name: str | None = None
) -> dict[str, Any]:
    """Metadata of an object of the workload, its name fixed."""
    found: dict[str, Any] = {
        "name": name or program.name,
        "namespace": program.namespace,
        "labels": labels_of(program),
    }
    every = {**program.annotations, **(annotations or {})}
    if every:
        found["annotations"] = every
    return found


def labels_of(program: Program) -> dict[str, str]:
    """The labels of the workload and its pods."""
    return {NAME_LABEL: program.name, **program.labels}


def pod_template(
    program: Program,
    where: Scheduling,
    env: Mapping[str, Any],
    *,
    restart_policy: str | None = None,
    annotations: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The pod template of a workload.

    Args:
        program: What runs.
        where: Where it may run.
        env: Our own environment variables: the contract with the runtime.
        restart_policy: None for that of the workload's kind.
        annotations: Of the pods besides the program's.
    """
    said = {**program.annotations, **(annotations or {})}
    for mount in program.mounts:
        said.update(mount.annotations)
    spec: dict[str, Any] = {
        "containers": [_container(program, env)],
        "terminationGracePeriodSeconds": program.grace_seconds,
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        **where.manifest(),
    }
    if any(mount.name == CHECKPOINTS for mount in program.mounts):
        spec["securityContext"] |= {
            "fsGroup": VOLUME_GROUP,
            # A large volume would otherwise be gone through at each start.
            "fsGroupChangePolicy": "OnRootMismatch",
        }
    if restart_policy is not None:
        spec["restartPolicy"] = restart_policy
    if program.service_account is not None:
        spec["serviceAccountName"] = program.service_account
    if program.mounts:
        spec["volumes"] = [{"name": mount.name, **mount.source} for mount in program.mounts]
    above: dict[str, Any] = {"labels": labels_of(program)}
    if said:
        above["annotations"] = said
    return {"metadata": above, "spec": spec}


def _container(program: Program, env: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"name": CONTAINER, "image": program.image}
    if program.command:
        found["command"] = list(program.command)
    if program.arguments:
        found["args"] = list(program.arguments)
    every = [*_plain(env), *_plain(program.env), *_secret(program.secret_env)]
    if every:
        found["env"] = every
    resources = _resources(program)
    if resources:
        found["resources"] = resources
    if program.mounts:
        found["volumeMounts"] = [
            {"name": mount.name, "mountPath": mount.path} for mount in program.mounts
        ]
    found["securityContext"] = {"allowPrivilegeEscalation": False}
    return found


def _plain(env: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"name": name, "value": env[name]} for name in sorted(env)]


def _secret(env: Mapping[str, SecretKey]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "valueFrom": {"secretKeyRef": {"name": env[name].secret, "key": env[name].key}},
        }
        for name in sorted(env)
    ]


def _resources(program: Program) -> dict[str, Any]:
    """Requests and limits; a limit of CPU would only slow the program down."""
    held = {"memory": program.memory, "ephemeral-storage": program.ephemeral_storage}
    requests = {"cpu": program.cpu, **held}
    found = {
        "requests": {key: value for key, value in requests.items() if value is not None},
        "limits": {
            **{key: value for key, value in held.items() if value is not None},
            **gpu_limits(program.gpus),
        },
    }
    return {key: value for key, value in found.items() if value}
