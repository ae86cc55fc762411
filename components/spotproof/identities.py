"""Workloads as IAM members: Kubernetes service accounts themselves, without keys."""

import re
from typing import Any

import pulumi
from pulumi_gcp import organizations

from spotproof.reader import Reader
from spotproof_gke import names

_LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_WORKLOAD = re.compile(rf"{_LABEL}/{_LABEL}(\.{_LABEL})*")

BUCKET_ROLES = {
    "object-user": "roles/storage.objectUser",
    "bucket-reader": "roles/storage.legacyBucketReader",
}
"""What a training workload needs: its objects, and `buckets.get`, which Orbax and others ask for."""


def read_workload(read: Reader, key: str) -> str:
    """One Kubernetes service account, `NAMESPACE/NAME`."""
    workload = read.text(key)
    if workload:
        _judge(read, key, workload)
    return workload


def read_workloads(read: Reader, key: str) -> tuple[str, ...]:
    """Kubernetes service accounts, each `NAMESPACE/NAME`."""
    workloads = read.texts(key, default=())
    for workload in workloads:
        _judge(read, key, workload)
    return workloads


def _judge(read: Reader, key: str, workload: str) -> None:
    if not _WORKLOAD.fullmatch(workload):
        rule = "a workload is a Kubernetes service account, NAMESPACE/NAME"
        read.problem(key, workload, rule, "write it like training/trainer")


def read_project_number(read: Reader, key: str) -> Any:
    """A project's number, plain or an output; None when it is not given."""
    number = read.given(key, default=None)
    if isinstance(number, str) and number and not number.isdecimal():
        rule = "a project number has digits alone"
        fix = "take it from: gcloud projects describe PROJECT --format='value(projectNumber)'"
        read.problem(key, number, rule, fix)
    return number


def read_cluster_project(read: Reader, project: str) -> str:
    """The project id of the cluster; the resource's own when it is not given."""
    if read.has("cluster_project"):
        return read.name("cluster_project", names.project_id_problems)
    return project


def looked_up_number(parent: pulumi.Resource, project: str) -> pulumi.Output[str]:
    """The number of a project, asked of Google Cloud."""
    found = organizations.get_project_output(
        project_id=project, opts=pulumi.InvokeOutputOptions(parent=parent)
    )
    return found.number


def workload_principal(
    project_number: pulumi.Input[str], project: str, workload: str
) -> pulumi.Output[str]:
    """The IAM member that is a Kubernetes service account itself: no key, no Google account.

    Args:
        project_number: Number of the cluster's project.
        project: Id of the cluster's project.
        workload: `NAMESPACE/NAME`.
    """
    namespace, _, account = workload.partition("/")
    return pulumi.Output.format(
        "principal://iam.googleapis.com/projects/{0}/locations/global/workloadIdentityPools/"
        "{1}.svc.id.goog/subject/ns/{2}/sa/{3}",
        project_number,
        project,
        namespace,
        account,
    )
