"""At the level `remediate` soft delete is switched off where that is certainly right."""

from typing import Any

import pytest
from pulumi_policy import (
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationPolicy,
)
from pulumi_policy.deserialize import deserialize_properties, serialize_properties
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, unknown_checking_proxy

from tests.policies.helpers import options, policy, urn

BUCKET = "gcp:storage/bucket:Bucket"
RULE = "checkpoint-bucket-soft-delete"
LABELS = {"spotproof-role": "checkpoints"}
OFF = {"retentionDurationSeconds": 0}
SECRET_KEY = "4dabf18193072939515e22adb298388d"
SECRET_SIG = "1b47061264138c4ac30d75fd1eb44270"


def _secret(value: Any) -> dict[str, Any]:
    return {SECRET_KEY: SECRET_SIG, "value": value}


def _mended(props: dict[str, Any], type_: str = BUCKET) -> Any:
    """The properties after the remediation, through the SDK's own reading and writing."""
    one = policy("interruption_readiness", RULE)
    assert isinstance(one, ResourceValidationPolicy)
    given = unknown_checking_proxy(deserialize_properties(props, True))
    args = ResourceValidationArgs(type_, given, urn(type_, "it"), "it", options(), None, {})
    result = one.remediate(args)
    return None if result is None else serialize_properties(result)  # pyright: ignore


@pytest.mark.parametrize("policy_given", [{}, {"softDeletePolicy": None}, {"softDeletePolicy": {}}])
def test_soft_delete_is_switched_off_where_the_program_says_nothing_of_it(policy_given) -> None:
    props = {"labels": LABELS, "location": "US-CENTRAL1", **policy_given}

    assert _mended(props) == {**props, "softDeletePolicy": OFF}


def test_what_is_unknown_or_secret_stays_so() -> None:
    props = {
        "name": UNKNOWN_STRING_VALUE,
        "labels": {**LABELS, "team": UNKNOWN_STRING_VALUE, "owner": _secret("a")},
        "encryption": _secret({"defaultKmsKeyName": "key"}),
    }

    assert _mended(props) == {**props, "softDeletePolicy": OFF}
    held = {"labels": LABELS, "softDeletePolicy": _secret({})}
    assert _mended(held) == {"labels": LABELS, "softDeletePolicy": _secret(OFF)}


@pytest.mark.parametrize(
    "props",
    [
        {},
        {"labels": None},
        {"labels": UNKNOWN_STRING_VALUE},
        {"labels": {"spotproof-role": UNKNOWN_STRING_VALUE}},
        {"labels": {"spotproof-role": "logs"}},
        {"labels": {"spotproof-cluster": "train"}, "name": "checkpoints"},
        {"labels": LABELS, "softDeletePolicy": UNKNOWN_STRING_VALUE},
        {"labels": LABELS, "softDeletePolicy": {"retentionDurationSeconds": UNKNOWN_STRING_VALUE}},
        {"labels": LABELS, "softDeletePolicy": OFF},
        {"labels": LABELS, "softDeletePolicy": {"retentionDurationSeconds": 604_800}},
        {"labels": LABELS, "softDeletePolicy": [{}]},
        {"labels": LABELS, "softDeletePolicy": "odd"},
    ],
    ids=str,
)
def test_nothing_is_changed_where_the_mend_is_not_certain_or_another_decision_stands(props) -> None:
    assert _mended(props) is None


def test_only_buckets_are_mended() -> None:
    assert _mended({"labels": LABELS}, "gcp:container/cluster:Cluster") is None


def test_one_policy_judges_the_stack_and_mends_single_buckets() -> None:
    one = policy("interruption_readiness", RULE)

    assert isinstance(one, StackValidationPolicy)
    assert isinstance(one, ResourceValidationPolicy)
    assert one.has_remediation()
    # The server of the SDK would otherwise call it for each resource.
    assert not one.has_validation()
