"""IAM members of topics and subscriptions: TopicIAMMember, SubscriptionIAMMember."""

from typing import ClassVar

from sandbox.cloud.types.base import Cloud
from sandbox.cloud.types.iam import Member, same_member
from sandbox.cloud.types.subscription import SUBSCRIPTION, SUBSCRIPTION_MEMBER
from sandbox.cloud.types.topic import TOPIC, TOPIC_MEMBER, no_resource
from sandbox.cloud.types.values import Properties, path_of, same_name


class PubSubMember(Member):
    """A role on a topic or a subscription, which the property `on` refers to."""

    parent = ""

    def target(self, inputs: Properties) -> str:
        path = path_of(inputs[self.on])
        return (
            path
            if path.startswith("projects/")
            else f"projects/{inputs['project']}/{self.on}s/{path}"
        )

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        target = self.target(inputs)
        if cloud.find(self.parent, target) is None:
            raise no_resource(target)
        return super().refuse(cloud, inputs, old)

    def serve(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        served = super().serve(cloud, inputs, old)
        served[self.on] = self.target(inputs)
        return served


class TopicMember(PubSubMember):
    """A role on a topic."""

    token, table, called = TOPIC_MEMBER, "topic_iam_member", "pubsub topic IAM member"
    on, parent = "topic", TOPIC
    same_if: ClassVar = {"member": same_member, "topic": same_name}


class SubscriptionMember(PubSubMember):
    """A role on a subscription."""

    token, table = SUBSCRIPTION_MEMBER, "subscription_iam_member"
    called = "pubsub subscription IAM member"
    on, parent = "subscription", SUBSCRIPTION
    same_if: ClassVar = {"member": same_member, "subscription": same_name}


KINDS = (TopicMember(), SubscriptionMember())
