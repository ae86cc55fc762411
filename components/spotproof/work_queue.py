"""A queue of work that waits for capacity, and loses nothing when workers are taken away."""

from dataclasses import dataclass
from typing import Any, TypedDict

import pulumi
from pulumi_gcp import projects, pubsub
from typing_extensions import NotRequired

from spotproof.identities import (
    looked_up_number,
    read_cluster_project,
    read_project_number,
    read_workloads,
    workload_principal,
)
from spotproof.options import child_of
from spotproof.places import read_project, read_region
from spotproof.reader import Reader
from spotproof_gke import names
from spotproof_gke.queues import (
    ACK_DEADLINE_SECONDS,
    DEAD_LETTERS_SUFFIX,
    MAX_DELIVERY_ATTEMPTS,
    NEVER,
    RETENTION_SECONDS,
)


class WorkQueueArgs(TypedDict):
    project: str
    """Project id of the queue."""

    region: str
    """Region of the cluster that works on the queue; messages are kept in it."""

    queue_name: NotRequired[str]
    """Fixed name, 3 to 200 characters, the prefix of all parts; the component's name when omitted."""

    retention_seconds: NotRequired[int]
    """How long work waits for capacity, 604800 to 2678400 s (7 to 31 days); 2678400 when omitted."""

    ack_deadline_seconds: NotRequired[int]
    """How soon a message is given out again when its worker is gone, 10 to 600 s; workers renew it while they work; 60 when omitted."""

    refuse_other_regions: NotRequired[bool]
    """Whether calls from other regions fail; false when omitted."""

    publishers: NotRequired[list[str]]
    """Kubernetes service accounts that send work, each `NAMESPACE/NAME`."""

    workers: NotRequired[list[str]]
    """Kubernetes service accounts that do the work, each `NAMESPACE/NAME`; they may set poison aside too."""

    cluster_project: NotRequired[str]
    """Project id of the cluster; the queue's when omitted."""

    cluster_project_number: NotRequired[pulumi.Input[str]]
    """Number of the cluster's project; looked up when omitted and needed."""

    labels: NotRequired[dict[str, str]]
    """Google Cloud labels of all parts."""

    tables_out_of_date: NotRequired[bool]
    """Whether a region that our tables do not list is taken on trust, with a warning; false when omitted."""


@dataclass(frozen=True)
class WorkQueuePlan:
    """Checked arguments of a `WorkQueue`."""

    project: str
    region: str
    queue_name: str
    retention_seconds: int
    ack_deadline_seconds: int
    refuse_other_regions: bool
    publishers: tuple[str, ...]
    workers: tuple[str, ...]
    cluster_project: str
    cluster_project_number: Any
    labels: dict[str, str]


def plan_work_queue(read: Reader, name: str) -> WorkQueuePlan:
    """Judge the arguments of a `WorkQueue`; problems are noted on `read`."""
    project = read_project(read)
    queue_name = read.name("queue_name", names.queue_name_problems, default=name)
    labels = read.items("labels", default={})
    read.extend(names.label_problems("labels", labels))
    least, most = RETENTION_SECONDS
    soonest, latest = ACK_DEADLINE_SECONDS
    return WorkQueuePlan(
        project=project,
        region=read_region(read),
        queue_name=queue_name,
        retention_seconds=read.integer("retention_seconds", default=most, least=least, most=most),
        ack_deadline_seconds=read.integer(
            "ack_deadline_seconds", default=60, least=soonest, most=latest
        ),
        refuse_other_regions=read.boolean("refuse_other_regions", default=False),
        publishers=read_workloads(read, "publishers"),
        workers=read_workloads(read, "workers"),
        cluster_project=read_cluster_project(read, project),
        cluster_project_number=read_project_number(read, "cluster_project_number"),
        labels=labels,
    )


class WorkQueue(pulumi.ComponentResource):
    """A Pub/Sub queue for interruptible workers: work waits for weeks, never expires, and poison is set aside."""

    topic_id: pulumi.Output[str]
    """Id of the topic that work is sent to, `projects/PROJECT/topics/NAME`."""

    subscription_id: pulumi.Output[str]
    """Id of the subscription that workers pull from, `projects/PROJECT/subscriptions/NAME`."""

    dead_letter_topic_id: pulumi.Output[str]
    """Id of the topic that poison is sent to."""

    dead_letter_subscription_id: pulumi.Output[str]
    """Id of the subscription that keeps poison for a person."""

    def __init__(
        self, name: str, args: WorkQueueArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = Reader(args, WorkQueueArgs.__annotations__)
        plan = plan_work_queue(read, name)
        read.finish(f"WorkQueue {name}")
        super().__init__("spotproof:index:WorkQueue", name, None, opts)
        read.warn(self)
        poison = self._topic(
            f"{name}-dead-letters", f"{plan.queue_name}{DEAD_LETTERS_SUFFIX}", plan
        )
        poison_kept = self._subscription(f"{name}-dead-letters", poison, plan, None)
        topic = self._topic(f"{name}-work", plan.queue_name, plan)
        work = self._subscription(f"{name}-work", topic, plan, poison)
        self._let_pubsub_set_poison_aside(name, plan, work, poison)
        self._grant(name, plan, topic, work, poison)
        self.topic_id = topic.id
        self.subscription_id = work.id
        self.dead_letter_topic_id = poison.id
        self.dead_letter_subscription_id = poison_kept.id
        self.register_outputs(
            {
                "topicId": self.topic_id,
                "subscriptionId": self.subscription_id,
                "deadLetterTopicId": self.dead_letter_topic_id,
                "deadLetterSubscriptionId": self.dead_letter_subscription_id,
            }
        )

    def _topic(self, logical_name: str, name: str, plan: WorkQueuePlan) -> pubsub.Topic:
        return pubsub.Topic(
            logical_name,
            name=name,
            project=plan.project,
            labels=plan.labels or None,
            message_storage_policy=pubsub.TopicMessageStoragePolicyArgs(
                allowed_persistence_regions=[plan.region],
                enforce_in_transit=plan.refuse_other_regions,
            ),
            opts=child_of(self),
        )

    def _subscription(
        self, logical_name: str, topic: pubsub.Topic, plan: WorkQueuePlan, poison: Any
    ) -> pubsub.Subscription:
        """Without a retry policy: what a worker gives back is at once another's to take."""
        dead_letters = None
        if poison is not None:
            dead_letters = pubsub.SubscriptionDeadLetterPolicyArgs(
                dead_letter_topic=poison.id, max_delivery_attempts=MAX_DELIVERY_ATTEMPTS
            )
        return pubsub.Subscription(
            logical_name,
            name=topic.name,
            project=plan.project,
            topic=topic.id,
            labels=plan.labels or None,
            ack_deadline_seconds=plan.ack_deadline_seconds,
            message_retention_duration=f"{plan.retention_seconds}s",
            expiration_policy=pubsub.SubscriptionExpirationPolicyArgs(ttl=NEVER),
            dead_letter_policy=dead_letters,
            opts=child_of(self),
        )

    def _let_pubsub_set_poison_aside(
        self, name: str, plan: WorkQueuePlan, work: pubsub.Subscription, poison: pubsub.Topic
    ) -> None:
        """Pub/Sub itself publishes to the dead-letter topic and acks the subscription."""
        agent = projects.ServiceIdentity(
            f"{name}-pubsub",
            project=plan.project,
            service="pubsub.googleapis.com",
            opts=child_of(self),
        )
        pubsub.TopicIAMMember(
            f"{name}-pubsub-publishes-dead-letters",
            project=plan.project,
            topic=poison.name,
            role="roles/pubsub.publisher",
            member=agent.member,
            opts=child_of(self),
        )
        pubsub.SubscriptionIAMMember(
            f"{name}-pubsub-acks",
            project=plan.project,
            subscription=work.name,
            role="roles/pubsub.subscriber",
            member=agent.member,
            opts=child_of(self),
        )

    def _grant(
        self,
        name: str,
        plan: WorkQueuePlan,
        topic: pubsub.Topic,
        work: pubsub.Subscription,
        poison: pubsub.Topic,
    ) -> None:
        if not plan.publishers and not plan.workers:
            return
        number = plan.cluster_project_number
        if number is None:
            number = looked_up_number(self, plan.cluster_project)

        def member(workload: str) -> pulumi.Output[str]:
            return workload_principal(number, plan.cluster_project, workload)

        for workload in plan.publishers:
            publish_to(
                self, f"{name}-{_logical(workload)}-publishes", topic, plan, member(workload)
            )
        for workload in plan.workers:
            pubsub.SubscriptionIAMMember(
                f"{name}-{_logical(workload)}-works",
                project=plan.project,
                subscription=work.name,
                role="roles/pubsub.subscriber",
                member=member(workload),
                opts=child_of(self),
            )
            publish_to(
                self, f"{name}-{_logical(workload)}-sets-aside", poison, plan, member(workload)
            )


def publish_to(
    parent: pulumi.Resource,
    logical_name: str,
    topic: pubsub.Topic,
    plan: WorkQueuePlan,
    member: pulumi.Input[str],
) -> pubsub.TopicIAMMember:
    """Let a member publish to a topic."""
    return pubsub.TopicIAMMember(
        logical_name,
        project=plan.project,
        topic=topic.name,
        role="roles/pubsub.publisher",
        member=member,
        opts=child_of(parent),
    )


def _logical(workload: str) -> str:
    return workload.replace("/", ".")
