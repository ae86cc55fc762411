"""Work that waits for capacity is neither lost nor given out of the cluster's region."""

from typing import Any

import pytest

import spotproof
from tests.unit.declared import Declared, declare

QUEUE: dict[str, Any] = {"project": "acme-ml", "region": "europe-west4"}
SUBSCRIPTION = "gcp:pubsub/subscription:Subscription"
TOPIC = "gcp:pubsub/topic:Topic"
MEMBERS = ("gcp:pubsub/topicIAMMember:TopicIAMMember",
           "gcp:pubsub/subscriptionIAMMember:SubscriptionIAMMember")  # fmt: skip


def _declared(**more: Any) -> list[Declared]:
    args: Any = {**QUEUE, "cluster_project_number": "42", **more}
    return declare(lambda: spotproof.WorkQueue("jobs", args))


def _one(declared: list[Declared], type_: str, name: str) -> dict[str, Any]:
    (found,) = [one for one in declared if (one.type, one.name) == (type_, name)]
    return found.props


def _members(declared: list[Declared]) -> set[tuple[str, str, str]]:
    """(topic or subscription, role, member) of each grant."""
    return {
        (one.props.get("topic") or one.props["subscription"], one.props["role"],
         one.props["member"])
        for one in declared
        if one.type in MEMBERS
    }  # fmt: skip


@pytest.mark.parametrize("name", ["jobs-work", "jobs-dead-letters"])
def test_no_subscription_ever_expires_and_work_waits_a_month(name: str) -> None:
    props = _one(_declared(), SUBSCRIPTION, name)
    assert props["expirationPolicy"] == {"ttl": ""}
    assert props["messageRetentionDuration"] == "2678400s"


def test_what_a_worker_gives_back_is_at_once_anothers() -> None:
    for one in _declared():
        assert "retryPolicy" not in one.props
        assert "enableMessageOrdering" not in one.props


def test_preemptions_do_not_make_poison() -> None:
    policy = _one(_declared(), SUBSCRIPTION, "jobs-work")["deadLetterPolicy"]
    assert policy == {"deadLetterTopic": "jobs-dead-letters-id", "maxDeliveryAttempts": 100}


def test_poison_has_a_subscription_or_it_would_vanish() -> None:
    props = _one(_declared(), SUBSCRIPTION, "jobs-dead-letters")
    assert props["topic"] == "jobs-dead-letters-id"
    assert "deadLetterPolicy" not in props


@pytest.mark.parametrize("name", ["jobs-work", "jobs-dead-letters"])
def test_messages_stay_in_the_region_of_the_cluster(name: str) -> None:
    policy = _one(_declared(), TOPIC, name)["messageStoragePolicy"]
    assert policy == {"allowedPersistenceRegions": ["europe-west4"], "enforceInTransit": False}


def test_pubsub_itself_may_set_poison_aside() -> None:
    agent = "serviceAccount:jobs-pubsub@example.iam.gserviceaccount.com"
    assert _members(_declared()) == {
        ("jobs-dead-letters", "roles/pubsub.publisher", agent),
        ("jobs", "roles/pubsub.subscriber", agent),
    }


def test_workers_and_publishers_get_no_more_than_they_need() -> None:
    plain, granted = _members(_declared()), _members(
        _declared(workers=["batch/worker"], publishers=["batch/feeder"])
    )  # fmt: skip
    pool = "principal://iam.googleapis.com/projects/42/locations/global/workloadIdentityPools"
    worker = f"{pool}/acme-ml.svc.id.goog/subject/ns/batch/sa/worker"
    feeder = f"{pool}/acme-ml.svc.id.goog/subject/ns/batch/sa/feeder"
    assert granted - plain == {
        ("jobs", "roles/pubsub.subscriber", worker),
        ("jobs-dead-letters", "roles/pubsub.publisher", worker),
        ("jobs", "roles/pubsub.publisher", feeder),
    }


def test_the_project_number_is_asked_for_once_and_only_where_needed() -> None:
    asked: list[str] = []
    args: Any = dict(QUEUE)
    declare(lambda: spotproof.WorkQueue("jobs", args), asked=asked)
    assert asked == []
    args = {**QUEUE, "workers": ["a/b", "a/c"], "publishers": ["a/d"]}
    declare(lambda: spotproof.WorkQueue("jobs", args), asked=asked)
    assert asked == ["acme-ml"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"retention_seconds": 1200}, "this is from 604800 to 2678400"),
        ({"ack_deadline_seconds": 601}, "this is from 10 to 600"),
        ({"queue_name": "goog-jobs"}, 'does not start with "goog"'),
        ({"queue_name": "J"}, "a queue name has 3 to 200"),
        ({"region": "EU"}, "this is a region in lower case"),
        ({"workers": ["worker"]}, "a Kubernetes service account, NAMESPACE/NAME"),
        ({"cluster_project_number": "12x"}, "a project number has digits alone"),
        ({"max_delivery_attempts": 5}, "there is no such key"),
    ],
)
def test_refusals(more: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match="1 problem\n") as refused:
        _declared(**more)
    assert words in str(refused.value)
