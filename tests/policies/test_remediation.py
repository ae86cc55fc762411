"""At the level `remediate` a missing taint is added, and nothing else is touched."""

from typing import Any

import pytest
from pulumi_policy import ResourceValidationArgs, ResourceValidationPolicy
from pulumi_policy.deserialize import deserialize_properties, serialize_properties
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, unknown_checking_proxy

from tests.policies.helpers import options, policy, urn

POOL = "gcp:container/nodePool:NodePool"
CLUSTER = "gcp:container/cluster:Cluster"
SPOT = {"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NO_SCHEDULE"}
FLEX = {**SPOT, "key": "cloud.google.com/gke-flex-start"}
GPU = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
SECRET_KEY = "4dabf18193072939515e22adb298388d"
SECRET_SIG = "1b47061264138c4ac30d75fd1eb44270"


def _secret(value: Any) -> dict[str, Any]:
    return {SECRET_KEY: SECRET_SIG, "value": value}


def _mended(props: dict[str, Any], rule: str = "spot-pool-taint", type_: str = POOL, **config):
    """The properties after the remediation, through the SDK's own reading and writing."""
    one = policy("spot_isolation", rule)
    assert isinstance(one, ResourceValidationPolicy)
    # As the SDK's server does for a remediation.
    given = unknown_checking_proxy(deserialize_properties(props, True))
    args = ResourceValidationArgs(type_, given, urn(type_, "it"), "it", options(), None, config)
    result = one.remediate(args)
    return None if result is None else serialize_properties(result)  # pyright: ignore


def test_missing_taint_is_added_beside_what_is_there() -> None:
    assert _mended({"nodeConfig": {"spot": True}}) == {
        "nodeConfig": {"spot": True, "taints": [SPOT]}
    }
    assert _mended({"nodeConfig": {"preemptible": True, "taints": [GPU]}, "name": "a"}) == {
        "nodeConfig": {"preemptible": True, "taints": [GPU, SPOT]},
        "name": "a",
    }
    assert _mended({"nodeConfig": {"flexStart": True}}, "flex-start-pool-taint") == {
        "nodeConfig": {"flexStart": True, "taints": [FLEX]}
    }


def test_what_is_unknown_or_secret_stays_so() -> None:
    props = {
        "cluster": UNKNOWN_STRING_VALUE,
        "nodeConfig": {
            "spot": True,
            "serviceAccount": UNKNOWN_STRING_VALUE,
            "labels": _secret({"team": "a"}),
            "taints": [{**GPU, "value": _secret("present")}, _secret(GPU)],
        },
    }

    wanted = {**props["nodeConfig"], "taints": [*props["nodeConfig"]["taints"], SPOT]}
    assert _mended(props) == {"cluster": UNKNOWN_STRING_VALUE, "nodeConfig": wanted}
    assert _mended({"nodeConfig": _secret({"spot": True, "taints": _secret([GPU])})}) == {
        "nodeConfig": _secret({"spot": True, "taints": _secret([GPU, SPOT])})
    }


@pytest.mark.parametrize(
    "config",
    [
        UNKNOWN_STRING_VALUE,
        {"spot": UNKNOWN_STRING_VALUE},
        {"spot": True, "taints": UNKNOWN_STRING_VALUE},
        {"spot": True, "taints": [UNKNOWN_STRING_VALUE]},
        {"spot": True, "taints": [{**SPOT, "key": UNKNOWN_STRING_VALUE}]},
        {"spot": True, "taints": [SPOT]},
        {"spot": True, "taints": [{**SPOT, "effect": "PREFER_NO_SCHEDULE"}]},
        {"spot": True, "taints": [{**SPOT, "value": "false"}]},
        {"spot": True, "taints": "odd"},
        {"spot": False},
        [{"spot": True}],
        None,
    ],
    ids=str,
)
def test_nothing_is_changed_where_the_mend_is_not_certain(config: Any) -> None:
    assert _mended({"nodeConfig": config}) is None


def test_pools_inside_a_cluster_and_accepted_taints_are_left_alone() -> None:
    assert _mended({"nodePools": [{"nodeConfig": {"spot": True}}]}, type_=CLUSTER) is None
    assert _mended({"nodeConfig": {"spot": True}}, type_=CLUSTER) is None
    mine = {"nodeConfig": {"spot": True, "taints": [{**SPOT, "key": "acme.io/e"}]}}
    assert _mended(mine, acceptedTaintKeys=["acme.io/e"]) is None


@pytest.mark.parametrize(
    "props",
    [
        {"nodeConfig": {"flexStart": True}, "queuedProvisioning": {"enabled": True}},
        {"nodeConfig": {"flexStart": True}, "queuedProvisioning": UNKNOWN_STRING_VALUE},
        {"nodeConfig": {"flexStart": UNKNOWN_STRING_VALUE}},
        {"nodeConfig": {"flexStart": True, "machineType": "g2-standard-4"}},
        {"nodeConfig": {"flexStart": True, "taints": [{**FLEX, "effect": "PREFER_NO_SCHEDULE"}]}},
    ],
    ids=str,
)
def test_flex_start_pool_is_left_alone_where_gke_taints_or_nothing_is_certain(props) -> None:
    assert _mended(props, "flex-start-pool-taint") is None


def test_flex_start_nodes_of_a_clusters_own_pool_are_left_alone() -> None:
    assert _mended({"nodeConfig": {"flexStart": True}}, "flex-start-pool-taint", CLUSTER) is None


def test_only_the_policy_for_what_is_certain_mends() -> None:
    for rule in ("spot-pool-taint", "flex-start-pool-taint"):
        certain = policy("spot_isolation", rule)
        unknown = policy("spot_isolation", f"{rule}-unknown")
        assert isinstance(certain, ResourceValidationPolicy)
        assert isinstance(unknown, ResourceValidationPolicy)
        assert certain.has_remediation()
        assert not unknown.has_remediation()
