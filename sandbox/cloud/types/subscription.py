"""Pub/Sub's subscriptions: Subscription."""

from typing import Any

from sandbox.cloud.problems import ApiError
from sandbox.cloud.types.base import Cloud
from sandbox.cloud.types.bucket import BUCKET
from sandbox.cloud.types.durations import normal, outside, seconds_of
from sandbox.cloud.types.service_account import missing_account
from sandbox.cloud.types.topic import (
    DELETED,
    RETENTION_SECONDS,
    SUBSCRIPTION,
    TOPIC,
    PubSubKind,
    bad_name,
    missing_topic,
    no_resource,
    topic_path,
)
from sandbox.cloud.types.values import Properties, block

SUBSCRIPTION_MEMBER = "gcp:pubsub/subscriptionIAMMember:SubscriptionIAMMember"
ACK_SECONDS = (10, 600)
DELIVERY_ATTEMPTS = (5, 100)
BACKOFF_SECONDS = (0, 600)
SHORTEST_TTL_SECONDS = 86_400
DEFAULT_TTL = "2678400s"
FILTER_BYTES = 256
NOT_PULLED = ("pushConfig", "bigqueryConfig", "cloudStorageConfig")


class Subscription(PubSubKind):
    """A subscription to a topic."""

    token, table = SUBSCRIPTION, "subscription"
    called, collection = "Subscription", "subscriptions"
    local = ("deletionPolicy",)

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        if old is None:
            topic = topic_path(inputs["topic"], inputs["project"])
            if missing_topic(cloud, topic):
                raise no_resource(topic)
        _dead_letter_topic(cloud, inputs)
        bucket = block(inputs, "cloudStorageConfig").get("bucket")
        if bucket and cloud.find(BUCKET, bucket) is None:
            raise ApiError(404, f"The specified bucket does not exist: {bucket}")
        return [
            *bad_name(inputs["name"], inputs["project"], self.collection),
            *_numbers(inputs),
            *_durations(inputs),
            *_delivery(inputs),
            *_accounts(cloud, inputs),
        ]

    def serve(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        served: Properties = {
            **inputs,
            "topic": topic_path(inputs["topic"], inputs["project"]),
            "ackDeadlineSeconds": inputs.get("ackDeadlineSeconds") or ACK_SECONDS[0],
            "expirationPolicy": {"ttl": DEFAULT_TTL},
            "messageRetentionDuration": normal(inputs["messageRetentionDuration"]),
        }
        if inputs["topic"] == DELETED:
            served["topic"] = DELETED
        if "expirationPolicy" in inputs:
            served["expirationPolicy"] = {"ttl": normal(inputs["expirationPolicy"].get("ttl", ""))}
        if "retryPolicy" in inputs:
            given = inputs["retryPolicy"]
            served["retryPolicy"] = {
                "minimumBackoff": normal(given.get("minimumBackoff") or "10s"),
                "maximumBackoff": normal(given.get("maximumBackoff") or "600s"),
            }
        if "deadLetterPolicy" in inputs:
            policy = dict(inputs["deadLetterPolicy"])
            policy["maxDeliveryAttempts"] = policy.get("maxDeliveryAttempts") or 5
            served["deadLetterPolicy"] = policy
        if "cloudStorageConfig" in inputs:
            served["cloudStorageConfig"] = {**inputs["cloudStorageConfig"], "state": "ACTIVE"}
        return served

    def delete(self, cloud: Cloud, identifier: str, state: Properties) -> None:
        super().delete(cloud, identifier, state)
        for member, properties in cloud.all(SUBSCRIPTION_MEMBER):
            if properties["subscription"] == identifier:
                cloud.store.remove(SUBSCRIPTION_MEMBER, member)


def _dead_letter_topic(cloud: Cloud, inputs: Properties) -> None:
    """The topic has to be there; the server does not look for it by a bare name."""
    topic = block(inputs, "deadLetterPolicy").get("deadLetterTopic")
    if topic and missing_topic(cloud, topic):
        hint = ""
        if "/" not in topic and cloud.find(TOPIC, topic_path(topic, inputs["project"])):
            hint = f"; deadLetterTopic takes {topic_path(topic, inputs['project'])}"
        raise ApiError(404, f"Resource not found (resource={topic}){hint}")


def _numbers(inputs: Properties) -> list[str]:
    problems = []
    attempts = block(inputs, "deadLetterPolicy").get("maxDeliveryAttempts")
    for field, value, (low, high) in (
        ("ackDeadlineSeconds", inputs.get("ackDeadlineSeconds"), ACK_SECONDS),
        ("deadLetterPolicy.maxDeliveryAttempts", attempts, DELIVERY_ATTEMPTS),
    ):
        if value and not low <= value <= high:
            problems.append(f"Invalid value for {field}: {value}. Must be {low} to {high}")
    if len(inputs.get("filter", "").encode()) > FILTER_BYTES:
        problems.append(f"Invalid value for filter: it is longer than {FILTER_BYTES} bytes")
    if "deadLetterPolicy" in inputs and not inputs["deadLetterPolicy"].get("deadLetterTopic"):
        problems.append("deadLetterPolicy.deadLetterTopic is empty: the policy needs a topic")
    return problems


def _durations(inputs: Properties) -> list[str]:
    retry = block(inputs, "retryPolicy")
    low, high = (retry.get(name) for name in ("minimumBackoff", "maximumBackoff"))
    problems = [
        *outside(
            "message_retention_duration", inputs["messageRetentionDuration"], *RETENTION_SECONDS
        ),
        *outside(
            "expiration_policy.ttl",
            block(inputs, "expirationPolicy").get("ttl"),
            SHORTEST_TTL_SECONDS,
        ),
        *outside("retry_policy.minimum_backoff", low, *BACKOFF_SECONDS),
        *outside("retry_policy.maximum_backoff", high, *BACKOFF_SECONDS),
    ]
    if not problems and _seconds(low, "10s") > _seconds(high, "600s"):
        problems.append(f"retry_policy.minimum_backoff '{low}' is longer than maximum_backoff")
    return problems


def _seconds(given: str | None, default: str) -> float:
    return seconds_of(given or default) or 0.0


def _delivery(inputs: Properties) -> list[str]:
    problems = []
    endpoint: Any = block(inputs, "pushConfig").get("pushEndpoint")
    if endpoint and not endpoint.startswith("https://"):
        problems.append(f"Invalid push endpoint given (endpoint={endpoint}): it begins with https")
    if inputs.get("enableExactlyOnceDelivery"):
        problems += [
            f"{name}: exactly-once delivery is for pull subscriptions only"
            for name in NOT_PULLED
            if inputs.get(name)
        ]
    return problems


def _accounts(cloud: Cloud, inputs: Properties) -> list[str]:
    """The accounts that deliver have to be there."""
    problems = []
    for path in (("pushConfig", "oidcToken"), ("bigqueryConfig",), ("cloudStorageConfig",)):
        email = block(inputs, *path).get("serviceAccountEmail")
        if email and missing_account(cloud, email):
            where = ".".join(path)
            problems.append(f"{where}: service account {email} does not exist")
    return problems


KINDS = (Subscription(),)
