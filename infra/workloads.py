"""What is inside the cluster: a second layer, after the cluster and its pools."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

import spotproof
from in_cluster import declare_provider
from section import Section
from settings import Settings
from spotproof.cluster_base import ClusterComponent
from spotproof_gke.grace import Mode
from workload_sections import (
    CAPACITY_CLASSES,
    FLEX_START_JOBS,
    GUARD,
    KUEUE_QUEUES,
    QUEUE_WORKERS,
    SPOT_JOBS,
    Layer,
)

COMPONENTS: Mapping[str, Callable[..., pulumi.ComponentResource]] = {
    "capacity_classes": spotproof.CapacityClass,
    "kueue_queues": spotproof.KueueQueues,
    "spot_jobs": spotproof.SpotJob,
    "flex_start_jobs": spotproof.FlexStartJob,
    "queue_workers": spotproof.QueueWorkers,
}
"""What is made of the settings in each section of the stack file."""

_RUNNING = (SPOT_JOBS, FLEX_START_JOBS, QUEUE_WORKERS)


def declare_workloads(
    settings: Settings,
    cluster: ClusterComponent,
    checkpoints: spotproof.CheckpointBucket,
    queues: Mapping[str, spotproof.WorkQueue],
    identities: Mapping[str, spotproof.WorkloadIdentity],
    after: Sequence[pulumi.Resource],
) -> None:
    """The objects of a stack, rendered or applied; nothing when the stack says `none`.

    None of them is protected: what runs may be stopped, and a changed Job is made anew.
    """
    if settings.workloads is Layer.NONE:
        return
    needed = [cluster, *after, checkpoints, *queues.values(), *identities.values()]
    provider = declare_provider(settings, cluster, pulumi.ResourceOptions(depends_on=needed))
    made: list[pulumi.Resource] = []
    if guard := settings.sections[GUARD.key]:
        opts = pulumi.ResourceOptions(providers=[provider], depends_on=needed)
        made.append(spotproof.SystemPlacementGuard(GUARD.component_name(), {**guard}, opts))  # pyright: ignore[reportArgumentType]
    if settings.create_namespaces:
        made += _declare_homes(settings, identities, provider, made)
    # What jobs name comes before them.
    for sections in ((CAPACITY_CLASSES, KUEUE_QUEUES), _RUNNING):
        opts = pulumi.ResourceOptions(providers=[provider], depends_on=[*needed, *made])
        made += [
            COMPONENTS[section.key](section.component_name(key), args, opts)
            for section in sections
            for key, said in settings.sections[section.key].items()
            for args in [_arguments(settings, section, said, cluster, checkpoints, queues)]
        ]


def _arguments(
    settings: Settings,
    section: Section,
    said: Mapping[str, Any],
    cluster: ClusterComponent,
    checkpoints: spotproof.CheckpointBucket,
    queues: Mapping[str, spotproof.WorkQueue],
) -> dict[str, Any]:
    """The component's arguments: what the stack file says, and the outputs of other components."""
    more = section.more_fields
    args = {**{key: value for key, value in said.items() if key not in more}, **settings.trust}
    if prefix := said.get("checkpoint_prefix"):
        args["checkpoint_location"] = pulumi.Output.concat(checkpoints.url, "/", prefix)
    if queue := said.get("work_queue"):
        args["subscription"] = queues[queue].subscription_id
    if section is CAPACITY_CLASSES:
        args["cluster_location"] = settings.region
        if settings.mode is Mode.STANDARD:
            # An Autopilot cluster gives all nodes this account by itself.
            args["node_service_account"] = cluster.node_service_account
    return args


def _declare_homes(
    settings: Settings,
    identities: Mapping[str, spotproof.WorkloadIdentity],
    provider: kubernetes.Provider,
    after: Sequence[pulumi.Resource],
) -> list[pulumi.Resource]:
    """The namespaces of workloads, and the service accounts that workloads run as.

    One that is there already is taken over. None is deleted in the cluster: others may keep Secrets
    in a namespace, and other work may run as an account.
    """
    needed = list(after)
    kept = settings.workloads is Layer.APPLY
    opts = pulumi.ResourceOptions(provider=provider, depends_on=needed, retain_on_delete=kept)
    found = sorted({str(one["metadata"].get("namespace", "")) for one in settings.manifests})
    made: dict[str, pulumi.Resource] = {
        name: kubernetes.core.v1.Namespace(f"namespace-{name}", metadata={"name": name}, opts=opts)
        for name in found
        if name not in ("", "default")
    }
    annotations = {
        settings.sections["identities"][key]["service_account"]: one.annotations
        for key, one in identities.items()
    }
    accounts = sorted(
        {
            (said["namespace"], said["service_account"].rpartition("/")[2])
            for section in _RUNNING
            for said in settings.sections[section.key].values()
            if said.get("service_account")
        }
    )
    homes = list(made.values())
    opts = pulumi.ResourceOptions(
        provider=provider, depends_on=[*needed, *homes], retain_on_delete=kept
    )
    return homes + [
        kubernetes.core.v1.ServiceAccount(
            f"account-{namespace}-{name}",
            metadata={
                "name": name,
                "namespace": namespace,
                "annotations": annotations.get(f"{namespace}/{name}"),
            },
            opts=opts,
        )
        for namespace, name in accounts
        if name != "default"
    ]
