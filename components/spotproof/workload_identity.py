"""What one workload may reach: its checkpoints and its queues."""

from dataclasses import dataclass
from typing import Any, TypedDict

import pulumi
from pulumi_gcp import pubsub, serviceaccount, storage
from typing_extensions import NotRequired

from spotproof.identities import (
    BUCKET_ROLES,
    looked_up_number,
    read_project_number,
    read_workload,
    workload_principal,
)
from spotproof.options import child_of
from spotproof.places import read_project
from spotproof.reader import Reader
from spotproof_gke import names

ANNOTATION = "iam.gke.io/gcp-service-account"
"""Annotation of a Kubernetes service account that acts as a Google one."""


class WorkloadIdentityArgs(TypedDict):
    project: str
    """Project id of the cluster."""

    service_account: str
    """The workload's Kubernetes service account, `NAMESPACE/NAME`; it need not exist yet."""

    buckets: NotRequired[dict[str, pulumi.Input[str]]]
    """Names of buckets whose objects it reads and writes, each under a key of yours."""

    publishes_to: NotRequired[dict[str, pulumi.Input[str]]]
    """Ids of topics that it sends work to, `projects/PROJECT/topics/NAME`, each under a key of yours."""

    works_on: NotRequired[dict[str, pulumi.Input[str]]]
    """Ids of subscriptions that it takes work from, `projects/PROJECT/subscriptions/NAME`, each under a key of yours."""

    project_number: NotRequired[pulumi.Input[str]]
    """Number of the cluster's project; looked up once when omitted and needed."""

    google_service_account: NotRequired[str]
    """Id of a Google service account to make and act as, 6 to 30 characters, for libraries that need one; none when omitted."""


@dataclass(frozen=True)
class WorkloadIdentityPlan:
    """Checked arguments of a `WorkloadIdentity`."""

    project: str
    service_account: str
    buckets: dict[str, Any]
    publishes_to: dict[str, Any]
    works_on: dict[str, Any]
    project_number: Any
    google_service_account: str | None


def plan_workload_identity(read: Reader) -> WorkloadIdentityPlan:
    """Judge the arguments of a `WorkloadIdentity`; problems are noted on `read`."""
    account = None
    if read.has("google_service_account"):
        account = read.name("google_service_account", names.account_id_problems)
    plan = WorkloadIdentityPlan(
        project=read_project(read),
        service_account=read_workload(read, "service_account"),
        buckets=_targets(read, "buckets", "my-bucket", None),
        publishes_to=_targets(read, "publishes_to", "projects/PROJECT/topics/NAME", "topics"),
        works_on=_targets(read, "works_on", "projects/PROJECT/subscriptions/NAME", "subscriptions"),
        project_number=read_project_number(read, "project_number"),
        google_service_account=account,
    )
    reached = plan.buckets or plan.publishes_to or plan.works_on
    if not reached and all(map(read.is_right, ("buckets", "publishes_to", "works_on"))):
        rule = "an identity is for something that it may reach"
        read.problem("buckets", None, rule, "name a bucket, a topic or a subscription")
    return plan


def _targets(read: Reader, key: str, example: str, kind: str | None) -> dict[str, Any]:
    targets = read.items(key, default={})
    inner = Reader(targets, targets, f"{read.path}{read.spell(key)}.", str, read.problems)
    for name in targets:
        value = inner.given(name)
        parts = value.split("/") if isinstance(value, str) else []
        if kind and isinstance(value, str) and (len(parts) != 4 or parts[2] != kind):
            inner.problem(name, value, "this is a full id", f"write {example}, not a short name")
        elif not kind and isinstance(value, str) and "/" in value:
            inner.problem(name, value, "this is the name of a bucket", f"write {example}")
    return targets


class WorkloadIdentity(pulumi.ComponentResource):
    """Access of one Kubernetes service account to buckets and queues: no key, and no Google account unless asked for."""

    member: pulumi.Output[str]
    """The IAM member that the workload is."""

    annotations: pulumi.Output[dict[str, str]]
    """Annotations that the Kubernetes service account must carry; none unless it acts as a Google one."""

    def __init__(
        self, name: str, args: WorkloadIdentityArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = Reader(args, WorkloadIdentityArgs.__annotations__)
        plan = plan_workload_identity(read)
        read.finish(f"WorkloadIdentity {name}")
        super().__init__("spotproof:index:WorkloadIdentity", name, None, opts)
        if plan.google_service_account is None:
            number = plan.project_number
            if number is None:
                number = looked_up_number(self, plan.project)
            self.member = workload_principal(number, plan.project, plan.service_account)
            self.annotations = pulumi.Output.from_input({})
        else:
            account = self._account(name, plan)
            self.member = account.member
            self.annotations = account.email.apply(lambda email: {ANNOTATION: email})
        self._grant(name, plan)
        self.register_outputs({"member": self.member, "annotations": self.annotations})

    def _account(self, name: str, plan: WorkloadIdentityPlan) -> serviceaccount.Account:
        account = serviceaccount.Account(
            f"{name}-account",
            project=plan.project,
            account_id=plan.google_service_account,
            display_name=f"Workload {plan.service_account}",
            opts=child_of(self),
        )
        namespace, _, kubernetes_account = plan.service_account.partition("/")
        serviceaccount.IAMMember(
            f"{name}-acts-as",
            service_account_id=account.name,
            role="roles/iam.workloadIdentityUser",
            member=f"serviceAccount:{plan.project}.svc.id.goog[{namespace}/{kubernetes_account}]",
            opts=child_of(self),
        )
        return account

    def _grant(self, name: str, plan: WorkloadIdentityPlan) -> None:
        for key, bucket in sorted(plan.buckets.items()):
            for role in sorted(BUCKET_ROLES):
                storage.BucketIAMMember(
                    f"{name}-{key}-{role}",
                    bucket=bucket,
                    role=BUCKET_ROLES[role],
                    member=self.member,
                    opts=child_of(self),
                )
        for key, topic in sorted(plan.publishes_to.items()):
            pubsub.TopicIAMMember(
                f"{name}-{key}-publishes",
                project=_project(topic, plan.project),
                topic=_name(topic),
                role="roles/pubsub.publisher",
                member=self.member,
                opts=child_of(self),
            )
        for key, subscription in sorted(plan.works_on.items()):
            pubsub.SubscriptionIAMMember(
                f"{name}-{key}-works",
                project=_project(subscription, plan.project),
                subscription=_name(subscription),
                role="roles/pubsub.subscriber",
                member=self.member,
                opts=child_of(self),
            )


def _name(given: pulumi.Input[str]) -> pulumi.Output[str]:
    """The name in `projects/PROJECT/KIND/NAME`; an output may hold a short name too."""
    return pulumi.Output.from_input(given).apply(lambda known: known.rpartition("/")[2])


def _project(given: pulumi.Input[str], default: str) -> pulumi.Output[str]:
    """The project in `projects/PROJECT/KIND/NAME`; the cluster's beside a short name."""
    return pulumi.Output.from_input(given).apply(
        lambda known: known.split("/")[1] if known.startswith("projects/") else default
    )
