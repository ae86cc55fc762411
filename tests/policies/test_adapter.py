"""What the engine hands over becomes plain data, whatever it is."""

from typing import Any

import pytest
from pulumi_policy import StackValidationArgs, StackValidationPolicy
from pulumi_policy.proxy import UnknownValueError, unknown_checking_proxy

from spotproof_gke.policy_adapter import plain, policies_of, strings
from spotproof_gke.rules.reading import UNKNOWN
from tests.policies.helpers import UNKNOWN_STRING_VALUE, Case, policy, resource_args, run, run_rule
from tests.policies.helpers import pack as module_of

SECRET = "correct-horse-battery-staple"


def wrapped(value: Any) -> Any:
    return unknown_checking_proxy({"value": value})


def test_unknown_value_becomes_the_sentinel_at_any_depth() -> None:
    engine = wrapped({"a": [{"b": UNKNOWN_STRING_VALUE}, UNKNOWN_STRING_VALUE, 1.0], "c": True})
    with pytest.raises(UnknownValueError):
        _ = engine["value"]["a"][1]

    data = plain(engine)["value"]

    assert data == {"a": [{"b": UNKNOWN}, UNKNOWN, 1.0], "c": True}
    assert type(data) is dict
    assert type(data["a"]) is list


def test_value_that_could_not_be_decrypted_is_unknown() -> None:
    assert plain(wrapped("[secret]")) == {"value": UNKNOWN}


def test_nesting_has_an_end() -> None:
    deep: Any = "bottom"
    for _ in range(300):
        deep = {"down": [deep]}

    assert "down" in plain(deep)


def test_wrong_type_in_the_configuration_is_the_default() -> None:
    assert strings({"keys": "a"}, "keys", ("b",)) == ("b",)
    assert strings({"keys": ["a", 1]}, "keys") == ("a",)


@pytest.mark.parametrize(
    ("pack", "name", "says"),
    [
        ("spot_isolation", "spot-pool-taint", "Fix: use one of acceptedTaintKeys."),
        ("spot_isolation", "spot-pool-taint-unknown", "Fix: use one of acceptedTaintKeys."),
        ("spot_isolation", "on-demand-home-for-system-pods", "use one of toleratedTaintKeys."),
        ("region_match", "pool-zones-in-cluster-region", "leave it out: only the level can be set"),
    ],
)
def test_a_property_that_a_policy_does_not_have_is_reported_once(
    pack: str, name: str, says: str
) -> None:
    rules = [each for each in module_of(pack).RULES if name in (each.name, f"{each.name}-unknown")]
    (one,) = (each for each in policies_of(rules) if each.name == name)
    told: list[str] = []
    for _ in range(2):
        if isinstance(one, StackValidationPolicy):
            args: Any = StackValidationArgs([], {"acceptedTaintkeys": ["own"]})
        else:
            (args,) = resource_args(_case({"a": {"type": "a:b:C"}}), {"acceptedTaintkeys": ["own"]})
        one.validate(args, lambda message, urn=None: told.append(message))  # type: ignore

    assert len(told) == 1
    assert "no property acceptedTaintkeys" in told[0]
    assert says in told[0]


def _case(resources: dict[str, Any], pack: str = "region_match", rule: str = "") -> Case:
    return Case(pack, rule, "bad", "secrets", resources, [])


def test_message_carries_no_argument_and_no_environment_value() -> None:
    spec = {
        "containers": [
            {
                "name": "a",
                "args": [f"--token={SECRET}", "gs://run-42/x"],
                "env": [{"name": "TOKEN", "value": SECRET}],
            }
        ],
        "tolerations": [{"operator": "Exists", "value": SECRET}],
        "nodeSelector": {"cloud.google.com/gke-spot": "true", "x": SECRET},
    }
    job = {
        "type": "kubernetes:batch/v1:Job",
        "props": {"metadata": {"namespace": "kube-system"}, "spec": {"template": {"spec": spec}}},
    }
    bucket = {"type": "gcp:storage/bucket:Bucket", "props": {"name": "run-42", "location": "US"}}
    cluster = {"type": "gcp:container/cluster:Cluster", "props": {"location": "us-central1"}}
    resources = {"job": job, "bucket": bucket, "train": cluster}

    reported = [
        *run_rule(_case(resources, rule="checkpoint-bucket-in-cluster-region")),
        *run_rule(_case(resources, "spot_isolation", "system-workload-off-spot")),
    ]

    assert len(reported) == 3
    assert SECRET not in "".join(each.message for each in reported)


def test_message_shows_only_what_has_the_form_of_a_name() -> None:
    secret = "-----BEGIN KEY----- abc"
    resources = {
        "train": {
            "type": "gcp:container/cluster:Cluster",
            "props": {"name": "train", "location": "us-central1"},
        },
        "ckpt": {
            "type": "gcp:storage/bucket:Bucket",
            "props": {"location": secret, "labels": {"spotproof-cluster": "train"}},
        },
    }

    reported = run_rule(_case(resources, rule="checkpoint-bucket-in-cluster-region"))

    assert "(not shown)" in reported[0].message
    assert "BEGIN" not in reported[0].message


def test_violation_names_the_resource_it_is_about() -> None:
    pool = {
        "type": "gcp:container/nodePool:NodePool",
        "props": {"nodeConfig": {"spot": True}},
    }

    reported = run(policy("spot_isolation", "spot-pool-taint"), _case({"l4": pool}))

    assert [each.resource for each in reported] == ["l4"]
