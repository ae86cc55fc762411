"""A bucket for checkpoints in the region of the cluster that writes them."""

from dataclasses import dataclass
from typing import Any, TypedDict

import pulumi
from pulumi_gcp import storage
from typing_extensions import NotRequired

from spotproof.identities import (
    BUCKET_ROLES,
    read_cluster_project,
    read_project_number,
    read_workloads,
    workload_principal,
)
from spotproof.options import child_of
from spotproof.places import read_location, read_project
from spotproof.reader import Reader
from spotproof_gke import contract, locations, names
from spotproof_gke.checkpoints import SOFT_DELETE_SECONDS, UNFINISHED_UPLOAD_DAYS
from spotproof_gke.problems import Problem
from spotproof_gke.rules.region_match import bucket_location_mismatch


class CheckpointBucketArgs(TypedDict):
    project: str
    """Project id of the bucket."""

    cluster_name: str
    """Name of the cluster that the bucket serves."""

    cluster_location: str
    """Region or zone of that cluster; the bucket goes to this region."""

    bucket_name: NotRequired[str]
    """Fixed name, unique in the world; `PROJECT-CLUSTER-checkpoints` when omitted."""

    region: NotRequired[str]
    """Region of the bucket, only to state it: another than the cluster's is an error."""

    soft_delete_seconds: NotRequired[int]
    """How long deleted checkpoints are kept and paid for: 0, or 604800 to 7776000 seconds; 0 when omitted."""

    force_destroy: NotRequired[bool]
    """Whether destroying the bucket deletes its checkpoints too; false when omitted."""

    workloads: NotRequired[list[str]]
    """Kubernetes service accounts that read and write checkpoints, each `NAMESPACE/NAME`."""

    cluster_project: NotRequired[str]
    """Project id of the cluster; the bucket's when omitted."""

    cluster_project_number: NotRequired[pulumi.Input[str]]
    """Number of the cluster's project; needed only when that is not the bucket's project."""

    labels: NotRequired[dict[str, str]]
    """Google Cloud labels of the bucket besides our own."""

    tables_out_of_date: NotRequired[bool]
    """Whether regions that our tables do not list are taken on trust, with a warning; false when omitted."""


@dataclass(frozen=True)
class CheckpointBucketPlan:
    """Checked arguments of a `CheckpointBucket`."""

    project: str
    bucket_name: str
    region: str
    soft_delete_seconds: int
    force_destroy: bool
    workloads: tuple[str, ...]
    cluster_project: str
    cluster_project_number: Any
    labels: dict[str, str]


def plan_checkpoint_bucket(read: Reader) -> CheckpointBucketPlan:
    """Judge the arguments of a `CheckpointBucket`; problems are noted on `read`."""
    project = read_project(read)
    cluster_name = read.name("cluster_name", names.cluster_name_problems)
    location = read_location(read, "cluster_location")
    labels = {
        **_own_labels(read),
        contract.ROLE_LABEL: contract.CHECKPOINTS_ROLE,
        contract.CLUSTER_LABEL: cluster_name,
        contract.CLUSTER_LOCATION_LABEL: location,
    }
    cluster_project = read_cluster_project(read, project)
    number = read_project_number(read, "cluster_project_number")
    if cluster_project != project and number is None and read.is_right("cluster_project"):
        rule = "a workload identity of another project is named by that project's number"
        fix = f"give {read.spell('cluster_project_number')} as well"
        read.problem("cluster_project", cluster_project, rule, fix)
    return CheckpointBucketPlan(
        project=project,
        bucket_name=_bucket_name(read, project, cluster_name),
        region=_region(read, location),
        soft_delete_seconds=_soft_delete(read),
        force_destroy=read.boolean("force_destroy", default=False),
        workloads=read_workloads(read, "workloads"),
        cluster_project=cluster_project,
        cluster_project_number=number,
        labels=labels,
    )


def _bucket_name(read: Reader, project: str, cluster_name: str) -> str:
    if read.has("bucket_name"):
        return read.name("bucket_name", names.bucket_name_problems)
    return names.shortened(f"{project}-{cluster_name}-checkpoints", names.BUCKET_NAME_MAX)


def _region(read: Reader, cluster_location: str) -> str:
    if not cluster_location:
        return ""
    expected = locations.region_of(cluster_location)
    region = read.text("region", default=expected)
    if read.is_right("region"):
        read.extend(region_problems("region", region, cluster_location))
    return expected


def region_problems(key: str, bucket_location: str, cluster_location: str) -> list[Problem]:
    """What is wrong with a bucket's location, judged by the rule of the `region_match` pack."""
    mismatch = bucket_location_mismatch(bucket_location, cluster_location)
    if mismatch is None:
        return []
    fix = f"use {locations.region_of(cluster_location)}, or leave it out"
    return [Problem(key, bucket_location, mismatch, fix)]


def _soft_delete(read: Reader) -> int:
    seconds = read.integer("soft_delete_seconds", default=0)
    least, most = SOFT_DELETE_SECONDS
    if seconds and not least <= seconds <= most:
        rule = f"soft delete lasts 0, or {least} to {most} seconds (7 to 90 days)"
        read.problem("soft_delete_seconds", seconds, rule, "choose a number in it")
    return seconds


def _own_labels(read: Reader) -> dict[str, str]:
    labels = read.items("labels", default={})
    read.extend(names.label_problems("labels", labels))
    ours = (contract.ROLE_LABEL, contract.CLUSTER_LABEL, contract.CLUSTER_LOCATION_LABEL)
    for key in ours:
        if key in labels:
            rule = "the component sets this label itself"
            read.problem(f"labels.{key}", labels[key], rule, "remove it")
    return labels


class CheckpointBucket(pulumi.ComponentResource):
    """A private bucket in the cluster's region, made for checkpoints: directories rename atomically."""

    bucket_name: pulumi.Output[str]
    """Name of the bucket."""

    url: pulumi.Output[str]
    """Address of the bucket, `gs://NAME`."""

    location: pulumi.Output[str]
    """Region of the bucket, in lower case."""

    project_number: pulumi.Output[str]
    """Number of the bucket's project, for components that name its workloads."""

    def __init__(
        self, name: str, args: CheckpointBucketArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = Reader(args, CheckpointBucketArgs.__annotations__)
        plan = plan_checkpoint_bucket(read)
        read.finish(f"CheckpointBucket {name}")
        super().__init__("spotproof:index:CheckpointBucket", name, None, opts)
        read.warn(self)
        bucket = storage.Bucket(
            f"{name}-bucket",
            name=plan.bucket_name,
            project=plan.project,
            location=plan.region.upper(),
            storage_class="STANDARD",
            uniform_bucket_level_access=True,
            hierarchical_namespace=storage.BucketHierarchicalNamespaceArgs(enabled=True),
            public_access_prevention="enforced",
            soft_delete_policy=storage.BucketSoftDeletePolicyArgs(
                retention_duration_seconds=plan.soft_delete_seconds
            ),
            # Which checkpoints are old is for the program to say, which knows the newest whole one.
            lifecycle_rules=[
                storage.BucketLifecycleRuleArgs(
                    action=storage.BucketLifecycleRuleActionArgs(
                        type="AbortIncompleteMultipartUpload"
                    ),
                    condition=storage.BucketLifecycleRuleConditionArgs(age=UNFINISHED_UPLOAD_DAYS),
                )
            ],
            force_destroy=plan.force_destroy,
            labels=plan.labels,
            opts=child_of(self),
        )
        self.project_number = bucket.project_number.apply(lambda known: str(int(known)))
        self._grant(name, plan, bucket)
        self.bucket_name = bucket.name
        self.url = bucket.url
        self.location = bucket.location.apply(str.lower)
        self.register_outputs(
            {
                "bucketName": self.bucket_name,
                "url": self.url,
                "location": self.location,
                "projectNumber": self.project_number,
            }
        )

    def _grant(self, name: str, plan: CheckpointBucketPlan, bucket: storage.Bucket) -> None:
        number = plan.cluster_project_number
        if number is None:
            number = self.project_number
        for workload in plan.workloads:
            for role in sorted(BUCKET_ROLES):
                storage.BucketIAMMember(
                    f"{name}-{workload.replace('/', '.')}-{role}",
                    bucket=bucket.name,
                    role=BUCKET_ROLES[role],
                    member=workload_principal(number, plan.cluster_project, workload),
                    opts=child_of(self),
                )
