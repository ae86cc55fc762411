"""The arguments that the workloads share: what runs, what it saves, where its nodes come from."""

from typing import TypedDict

import pulumi
from typing_extensions import NotRequired

from spotproof_gke.workloads.scheduling import NodesFrom


class SecretKeyArgs(TypedDict):
    secret: str
    """Name of a Secret in the workload's namespace."""

    key: str
    """Key in the Secret."""


class ProgramArgs(TypedDict):
    """What every workload takes."""

    namespace: str
    """Namespace, which must exist."""

    image: pulumi.Input[str]
    """Container image, `REGISTRY/PATH:TAG`."""

    command: NotRequired[list[str]]
    """The program and its first arguments, one item each, without a shell in between; the image's own entry point when omitted."""

    arguments: NotRequired[list[str]]
    """Arguments after the command, or after the image's own entry point."""

    env: NotRequired[dict[str, pulumi.Input[str]]]
    """Environment variables by name; secrets go to `secret_env`."""

    secret_env: NotRequired[dict[str, SecretKeyArgs]]
    """Environment variables that come out of Secrets, by name."""

    service_account: NotRequired[str]
    """Kubernetes service account, `NAME` or `NAMESPACE/NAME`, the one whose access `WorkloadIdentity` grants; `default` when omitted."""

    cpu: NotRequired[str]
    """CPUs that each pod asks for, for example `4` or `500m`."""

    memory: NotRequired[str]
    """Memory of each pod, request and limit, for example `16Gi`."""

    ephemeral_storage: NotRequired[str]
    """Disk of each pod, request and limit, for example `50Gi`."""

    shared_memory: NotRequired[str]
    """Size of `/dev/shm`, for data loaders; counts as memory; 64 MiB when omitted."""

    accelerator: NotRequired[str]
    """GPU as GKE names it, for example `nvidia-l4`; none when omitted."""

    gpus: NotRequired[int]
    """GPUs of each pod; 1 with an accelerator when omitted."""

    nodes: NotRequired[NodesFrom]
    """Where nodes come from: a pool, node auto-provisioning or Autopilot; `pool` when omitted."""

    compute_class: NotRequired[str]
    """Compute class that decides what nodes the pods get, instead of `nodes`."""

    labels: NotRequired[dict[str, str]]
    """Labels of the workload and its pods besides our own."""

    annotations: NotRequired[dict[str, str]]
    """Annotations of the workload and its pods besides our own."""

    tables_out_of_date: NotRequired[bool]
    """Whether an accelerator that our tables do not list is taken on trust, with a warning; false when omitted."""


class CheckpointArgs(TypedDict):
    """What a training takes."""

    checkpoint_location: pulumi.Input[str]
    """Where the run keeps its checkpoints: `gs://BUCKET/PREFIX`, the prefix its own, or an absolute path in a volume. The program gets it as `SPOTPROOF_CHECKPOINT_LOCATION`."""

    checkpoint_claim: NotRequired[str]
    """PersistentVolumeClaim that is mounted at the checkpoint location."""

    checkpoint_bucket: NotRequired[pulumi.Input[str]]
    """Bucket that is mounted at the checkpoint location by Cloud Storage FUSE."""

    save_estimate_seconds: NotRequired[int]
    """How long a save takes; an error when a pod has less when its node goes. The program gets it as `SPOTPROOF_SAVE_ESTIMATE_SECONDS`."""


class JobArgs(TypedDict):
    """When a Job ends."""

    job_name: NotRequired[str]
    """Fixed name of the Job, at most 63 characters, of a JobSet at most 48; the component's name when omitted."""

    deadline_seconds: int
    """Longest that the Job may take, waits for capacity and after interruptions included; interruptions do not count as failures, so nothing else ends a Job that never gets done. In a JobSet it is the longest since the last loss of a node."""

    backoff_limit: NotRequired[int]
    """Errors (not interruptions) that are retried, 1 to 100, in a JobSet since the last loss of a node; 3 when omitted."""

    ttl_seconds_after_finished: NotRequired[int]
    """When the finished Job is removed; an update with refresh then starts it again; never when omitted."""


class PodGraceArgs(TypedDict):
    """How long a Spot node has for its pods."""

    shutdown_grace_seconds: NotRequired[int]
    """Extended shutdown of the Spot nodes, as their pool states it: 0 (GKE's 30 s), 30 or 120 s; 0 when omitted."""

    critical_shutdown_grace_seconds: NotRequired[int]
    """The share of it that system-critical pods get, as the pool states it; 15 when omitted."""
