"""A workload reaches what it is given, without a key, and without a Google account of its own."""

from typing import Any

import pytest

import spotproof
from tests.unit.declared import Declared, declare

IDENTITY: dict[str, Any] = {
    "project": "acme-ml",
    "service_account": "training/trainer",
    "project_number": "42",
    "buckets": {"checkpoints": "acme-checkpoints"},
    "publishes_to": {"jobs": "projects/acme-ml/topics/jobs"},
    "works_on": {"jobs": "projects/acme-ml/subscriptions/jobs"},
}
MEMBER = (
    "principal://iam.googleapis.com/projects/42/locations/global/workloadIdentityPools/"
    "acme-ml.svc.id.goog/subject/ns/training/sa/trainer"
)


def _declared(**more: Any) -> list[Declared]:
    args: Any = {key: v for key, v in {**IDENTITY, **more}.items() if v is not None}
    return [one for one in declare(lambda: spotproof.WorkloadIdentity("trainer", args))]


def _grants(declared: list[Declared]) -> set[tuple[str, str]]:
    return {
        (one.props.get("bucket") or one.props.get("topic") or one.props["subscription"],
         one.props["role"])
        for one in declared
        if "IAMMember" in one.type and "serviceAccountId" not in one.props
    }  # fmt: skip


def test_it_is_the_kubernetes_account_itself() -> None:
    declared = _declared()
    assert {one.props["member"] for one in declared if "IAMMember" in one.type} == {MEMBER}
    assert not [one for one in declared if "serviceaccount/account" in one.type]


def test_it_reaches_its_checkpoints_and_queues() -> None:
    assert _grants(_declared()) == {
        ("acme-checkpoints", "roles/storage.objectUser"),
        ("acme-checkpoints", "roles/storage.legacyBucketReader"),
        ("jobs", "roles/pubsub.publisher"),
        ("jobs", "roles/pubsub.subscriber"),
    }


def test_a_google_account_is_made_and_bound_when_asked_for() -> None:
    declared = _declared(google_service_account="trainer-gsa")
    (binding,) = [one for one in declared if "serviceAccountId" in one.props]
    assert binding.props["role"] == "roles/iam.workloadIdentityUser"
    assert binding.props["member"] == "serviceAccount:acme-ml.svc.id.goog[training/trainer]"
    others = {one.props["member"] for one in declared if "IAMMember" in one.type} - {
        binding.props["member"]
    }
    assert others == {"serviceAccount:trainer-account@example.iam.gserviceaccount.com"}


@pytest.mark.parametrize(("number", "account", "asked"), [
    (None, None, ["acme-ml"]), ("42", None, []), (None, "trainer-gsa", []),
])  # fmt: skip
def test_the_project_number_is_asked_for_only_where_needed(
    number: str | None, account: str | None, asked: list[str]
) -> None:
    args: Any = {**IDENTITY, "project_number": number, "google_service_account": account}
    args = {key: value for key, value in args.items() if value is not None}
    seen: list[str] = []
    declare(lambda: spotproof.WorkloadIdentity("trainer", args), asked=seen)
    assert seen == asked


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"service_account": "trainer"}, "a Kubernetes service account, NAMESPACE/NAME"),
        ({"publishes_to": {"jobs": "jobs"}}, "publishes_to.jobs = 'jobs': this is a full id"),
        ({"works_on": {"jobs": "projects/p/topics/jobs"}}, "projects/PROJECT/subscriptions/NAME"),
        ({"buckets": {"c": "gs://acme"}}, "buckets.c = 'gs://acme': this is the name of a bucket"),
        ({"google_service_account": "x"}, "a service account id has 6 to 30"),
        ({"buckets": None, "publishes_to": None, "works_on": None}, "something that it may reach"),
    ],
)
def test_refusals(more: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match="1 problem\n") as refused:
        _declared(**more)
    assert words in str(refused.value)
