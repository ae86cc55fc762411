"""Topics and subscriptions: defaults, changes, and what is left when a topic goes."""

from typing import Any

import pytest

from tests.cloud.harness import PROJECT, Emulated, Recorded

TOPIC = "gcp:pubsub/topic:Topic"
SUBSCRIPTION = "gcp:pubsub/subscription:Subscription"
TOPIC_MEMBER = "gcp:pubsub/topicIAMMember:TopicIAMMember"
SUBSCRIPTION_MEMBER = "gcp:pubsub/subscriptionIAMMember:SubscriptionIAMMember"
JOBS = f"projects/{PROJECT}/topics/jobs"
DEAD = f"projects/{PROJECT}/topics/dead"
WORKERS = f"projects/{PROJECT}/subscriptions/workers"
PLAIN = {"name": "workers", "topic": JOBS}
ROLE = {"role": "roles/pubsub.subscriber", "member": "group:Workers@Example.com"}


@pytest.fixture(autouse=True)
def topics(cloud: Emulated) -> list[Recorded]:
    return [cloud.create(TOPIC, name, {"name": name}) for name in ("jobs", "dead")]


def test_the_server_fills_in_how_long_a_subscription_waits_keeps_and_lives(cloud: Emulated) -> None:
    outputs = cloud.create(SUBSCRIPTION, "workers", {**PLAIN, "topic": "jobs"}).outputs
    assert outputs["topic"] == JOBS
    assert outputs["ackDeadlineSeconds"] == 10
    assert outputs["messageRetentionDuration"] == "604800s"
    assert outputs["expirationPolicy"] == {"ttl": "2678400s"}
    assert not outputs.get("retryPolicy")
    assert not outputs.get("deadLetterPolicy")
    retried = cloud.create(SUBSCRIPTION, "retried", {**PLAIN, "name": "retried", "retryPolicy": {}})
    backoff = {"minimumBackoff": "10s", "maximumBackoff": "600s"}
    assert retried.outputs["retryPolicy"] == backoff


@pytest.mark.parametrize(
    ("before", "after", "op"),
    [
        ({}, {"topic": DEAD}, "replace"),
        ({}, {"filter": 'attributes.a = "b"'}, "replace"),
        ({}, {"enableMessageOrdering": True}, "replace"),
        ({}, {"name": "others"}, "replace"),
        ({}, {"topic": "jobs"}, "same"),
        ({}, {"ackDeadlineSeconds": 600}, "update"),
        ({}, {"enableExactlyOnceDelivery": True}, "update"),
        ({}, {"labels": {"a": "b"}}, "update"),
        ({"retryPolicy": {}}, {"retryPolicy": {"minimumBackoff": "10.0s"}}, "same"),
        ({"retryPolicy": {"minimumBackoff": "10s"}}, {"retryPolicy": None}, "update"),
        (
            {"deadLetterPolicy": {"deadLetterTopic": DEAD, "maxDeliveryAttempts": 5}},
            {"deadLetterPolicy": None},
            "update",
        ),
        ({"messageRetentionDuration": "600s"}, {"messageRetentionDuration": None}, "update"),
        # What the server fills in stays as it was.
        ({"ackDeadlineSeconds": 600}, {"ackDeadlineSeconds": None}, "same"),
        ({"expirationPolicy": {"ttl": ""}}, {"expirationPolicy": None}, "same"),
        ({"retryPolicy": {"minimumBackoff": "60s"}}, {"retryPolicy": {}}, "same"),
    ],
    ids=str,
)
def test_change_of_a_subscription(
    cloud: Emulated, before: dict[str, Any], after: dict[str, Any], op: str
) -> None:
    recorded = cloud.create(SUBSCRIPTION, "workers", {**PLAIN, **before})
    inputs = {**PLAIN, **before, **after}
    planned, changed = cloud.up(recorded, inputs)
    assert planned.op == op
    assert cloud.plan(changed, inputs).op == "same"


def test_a_dead_letter_policy_without_attempts_never_comes_to_rest(cloud: Emulated) -> None:
    inputs = {**PLAIN, "deadLetterPolicy": {"deadLetterTopic": DEAD}}
    recorded = cloud.create(SUBSCRIPTION, "workers", inputs)
    planned, again = cloud.up(recorded, inputs)
    assert planned.detailed == {"deadLetterPolicy.maxDeliveryAttempts": "DELETE"}
    assert cloud.plan(again, inputs).op == "update"


def test_a_subscription_without_its_topic_stays_and_is_replaced(
    cloud: Emulated, topics: list[Recorded]
) -> None:
    recorded = cloud.create(SUBSCRIPTION, "workers", PLAIN)
    cloud.delete(topics[0])
    orphan = cloud.refresh(recorded)
    assert orphan is not None
    assert orphan.outputs["topic"] == "_deleted-topic_"
    assert cloud.plan(orphan, PLAIN).replace_keys == ["topic"]
    _, changed = cloud.up(orphan, {**PLAIN, "topic": "_deleted-topic_", "ackDeadlineSeconds": 60})
    assert changed.outputs["topic"] == "_deleted-topic_"


def test_members_are_recorded_by_the_whole_name_and_go_with_what_they_are_on(
    cloud: Emulated, topics: list[Recorded]
) -> None:
    subscription = cloud.create(SUBSCRIPTION, "workers", PLAIN)
    for token, on, name, whole, owner in (
        (TOPIC_MEMBER, "topic", "jobs", JOBS, topics[0]),
        (SUBSCRIPTION_MEMBER, "subscription", "workers", WORKERS, subscription),
    ):
        member = cloud.create(token, "member", {**ROLE, on: name})
        assert member.id == f"{whole}/roles/pubsub.subscriber/group:workers@example.com"
        assert member.outputs[on] == whole
        assert cloud.plan(member, {**ROLE, on: whole}).op == "same"
        assert cloud.plan(member, {**ROLE, on: "others"}).op == "replace"
        cloud.delete(owner)
        assert cloud.refresh(member) is None


def test_the_agent_of_a_service_can_be_given_a_role(cloud: Emulated) -> None:
    identity = "gcp:projects/serviceIdentity:ServiceIdentity"
    agent = cloud.create(identity, "agent", {"service": "pubsub.googleapis.com"})
    assert agent.outputs["email"].endswith("@gcp-sa-pubsub.iam.gserviceaccount.com")
    assert agent.outputs["member"] == f"serviceAccount:{agent.outputs['email']}"
    again = cloud.create(identity, "again", {"service": "pubsub.googleapis.com"})
    assert again.outputs["email"] == agent.outputs["email"]
    publisher = {"role": "roles/pubsub.publisher", "member": agent.outputs["member"]}
    assert cloud.create(TOPIC_MEMBER, "publisher", {**publisher, "topic": DEAD}).id


def test_topics_and_subscriptions_are_imported_by_name_or_id(cloud: Emulated) -> None:
    cloud.create(SUBSCRIPTION, "workers", PLAIN)
    for token, name, whole in ((TOPIC, "jobs", JOBS), (SUBSCRIPTION, "workers", WORKERS)):
        for identifier in (name, whole, f"{PROJECT}/{name}"):
            adopted = cloud.adopt(token, "adopted", identifier)
            assert adopted is not None
            assert adopted.id == whole
            assert cloud.plan(adopted, adopted.inputs).op == "same"
