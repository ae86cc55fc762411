"""The work queues of an environment, and the identities of its workloads."""

from collections.abc import Mapping

import pulumi

import spotproof
from sections import IDENTITIES, WORK_QUEUES
from settings import Settings


def declare_queues(
    settings: Settings, checkpoints: spotproof.CheckpointBucket, opts: pulumi.ResourceOptions
) -> dict[str, spotproof.WorkQueue]:
    """The queues by their keys in the stack file."""
    return {
        key: spotproof.WorkQueue(
            WORK_QUEUES.component_name(key),
            spotproof.WorkQueueArgs(
                **args,
                **settings.trust,
                project=settings.project,
                region=settings.region,
                cluster_project_number=checkpoints.project_number,
            ),
            opts,
        )
        for key, args in settings.sections["work_queues"].items()
    }


def declare_identities(
    settings: Settings,
    checkpoints: spotproof.CheckpointBucket,
    queues: Mapping[str, spotproof.WorkQueue],
    opts: pulumi.ResourceOptions,
) -> dict[str, spotproof.WorkloadIdentity]:
    """The identities by their keys in the stack file."""
    identities: dict[str, spotproof.WorkloadIdentity] = {}
    for key, said in settings.sections["identities"].items():
        args = spotproof.WorkloadIdentityArgs(
            project=settings.project,
            service_account=said["service_account"],
            project_number=checkpoints.project_number,
            buckets={"checkpoints": checkpoints.bucket_name} if said.get("checkpoints") else {},
            publishes_to={name: queues[name].topic_id for name in said.get("publishes_to") or ()},
            works_on={name: queues[name].subscription_id for name in said.get("works_on") or ()},
        )
        if said.get("google_service_account"):
            args["google_service_account"] = said["google_service_account"]
        identities[key] = spotproof.WorkloadIdentity(IDENTITIES.component_name(key), args, opts)
    return identities
