"""The node pools of a stack as a pod's selector sees them."""

from typing import Any

import pytest

from spotproof_gke.capacity import Capacity
from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.interruptible_pools import Pool, is_set_by_others, pools_of
from spotproof_gke.rules.reading import UNKNOWN

POOL, CLUSTER = "gcp:container/nodePool:NodePool", "gcp:container/cluster:Cluster"
SPOT = "cloud.google.com/gke-spot"
PREEMPTIBLE = "cloud.google.com/gke-preemptible"
FLEX = "cloud.google.com/gke-flex-start"
QUEUED = "cloud.google.com/gke-queued"
PROVISIONING = "cloud.google.com/gke-provisioning"
ACCELERATOR = "cloud.google.com/gke-accelerator"
NAME = "cloud.google.com/gke-nodepool"


def _pool(config: Any = None, **props: Any) -> Pool:
    stated = {"nodeConfig": {} if config is None else config, **props}
    [pool] = pools_of(Stack([Resource(POOL, "p", "urn:p", stated)]))
    return pool


@pytest.mark.parametrize(
    ("config", "capacity", "labels"),
    [
        ({}, Capacity.ON_DEMAND, {PROVISIONING: "standard"}),
        ({"spot": True}, Capacity.SPOT, {SPOT: "true", PROVISIONING: "spot"}),
        (
            {"preemptible": True},
            Capacity.SPOT,
            {PREEMPTIBLE: "true", PROVISIONING: "preemptible"},
        ),
        (
            {"flexStart": True},
            Capacity.FLEX_START,
            {FLEX: "true", PROVISIONING: "flex-start"},
        ),
    ],
    ids=str,
)
def test_nodes_carry_the_labels_of_their_capacity(config, capacity, labels) -> None:
    pool = _pool(config)
    none = dict.fromkeys((SPOT, PREEMPTIBLE, FLEX, QUEUED))

    assert pool.capacity is capacity
    assert {key: pool.labels[key] for key in (*none, PROVISIONING)} == {**none, **labels}
    assert pool.is_spot is (capacity is Capacity.SPOT)
    assert pool.is_flex_start is (capacity is Capacity.FLEX_START)
    assert pool.is_interruptible is (capacity is not Capacity.ON_DEMAND)


@pytest.mark.parametrize("flex_start", [True, False])
def test_queued_pool_is_queued_whether_it_says_flex_start_or_not(flex_start: bool) -> None:
    pool = _pool({"flexStart": flex_start}, queuedProvisioning={"enabled": True})

    assert pool.capacity is Capacity.FLEX_START_QUEUED
    assert pool.labels[QUEUED] == "true"
    assert pool.is_flex_start is True


@pytest.mark.parametrize(
    "props",
    [
        {"config": UNKNOWN},
        {"config": {"spot": UNKNOWN}},
        {"config": {"preemptible": UNKNOWN}},
        {"config": {"flexStart": UNKNOWN}},
        {"queuedProvisioning": UNKNOWN},
        {"queuedProvisioning": {"enabled": UNKNOWN}},
    ],
    ids=str,
)
def test_capacity_that_is_not_known_leaves_its_labels_open(props: dict[str, Any]) -> None:
    pool = _pool(**props)

    assert pool.capacity is None
    assert pool.is_spot is pool.is_flex_start is pool.is_interruptible is None
    assert pool.budget is None
    for key in (SPOT, PREEMPTIBLE, FLEX, QUEUED, PROVISIONING):
        assert pool.labels[key] is UNKNOWN


def test_pool_has_the_name_that_it_states() -> None:
    assert _pool(name="gpus").labels[NAME] == "gpus"
    assert _pool().labels[NAME] is UNKNOWN
    assert _pool(name=UNKNOWN).labels[NAME] is UNKNOWN


@pytest.mark.parametrize(
    ("config", "accelerator"),
    [
        (
            {"guestAccelerators": [{"type": "nvidia-t4"}], "machineType": "n1-standard-4"},
            "nvidia-t4",
        ),
        ({"machineType": "g2-standard-8"}, "nvidia-l4"),
        ({"machineType": "a2-highgpu-1g", "guestAccelerators": UNKNOWN}, "nvidia-tesla-a100"),
        ({"machineType": "e2-standard-4"}, None),
        ({"machineType": "e2-standard-4", "guestAccelerators": UNKNOWN}, None),
        ({"machineType": "n1-standard-4"}, None),
        ({"machineType": "n1-standard-4", "guestAccelerators": UNKNOWN}, UNKNOWN),
        ({"guestAccelerators": UNKNOWN}, UNKNOWN),
        ({"machineType": UNKNOWN, "guestAccelerators": UNKNOWN}, UNKNOWN),
        ({"guestAccelerators": [{"type": UNKNOWN}]}, UNKNOWN),
        ({}, None),
    ],
    ids=str,
)
def test_accelerator_is_the_stated_one_or_that_of_the_machine(config, accelerator) -> None:
    assert _pool(config).labels[ACCELERATOR] == accelerator


@pytest.mark.parametrize(
    ("kubelet", "seconds"),
    [
        ({}, 15),
        ({"shutdownGracePeriodSeconds": 120}, 105),
        ({"shutdownGracePeriodSeconds": "120"}, 105),
        (
            {"shutdownGracePeriodSeconds": 120, "shutdownGracePeriodCriticalPodsSeconds": 20},
            100,
        ),
        ({"shutdownGracePeriodSeconds": float("inf")}, 15),
        ({"shutdownGracePeriodSeconds": "soon"}, 15),
    ],
    ids=str,
)
def test_budget_is_what_the_kubelet_leaves(kubelet: Any, seconds: int) -> None:
    budget = _pool({"spot": True, "kubeletConfig": kubelet}).budget

    assert budget is not None
    assert budget.seconds == seconds


@pytest.mark.parametrize(
    "kubelet",
    [
        UNKNOWN,
        {"shutdownGracePeriodSeconds": UNKNOWN},
        {"shutdownGracePeriodCriticalPodsSeconds": UNKNOWN},
    ],
    ids=str,
)
def test_budget_is_open_while_the_kubelet_is(kubelet: Any) -> None:
    assert _pool({"spot": True, "kubeletConfig": kubelet}).budget is None


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ({}, True),
        ({"team": "vision"}, True),
        ({"team": "speech"}, False),
        ({"size": "big"}, False),
        ({SPOT: "true"}, True),
        ({SPOT: "false"}, False),
        ({FLEX: "true"}, False),
        ({"team": UNKNOWN}, None),
        ({"team": UNKNOWN, SPOT: "false"}, False),
        ({"topology.kubernetes.io/zone": "us-central1-a"}, None),
        ({"topology.gke.io/zone": "us-central1-a"}, None),
        ({NAME: "p"}, None),
    ],
    ids=str,
)
def test_selector_is_answered_by_labels(selector: Any, expected: bool | None) -> None:
    pool = _pool({"spot": True, "labels": {"team": "vision"}})

    assert pool.answers(selector) is expected


@pytest.mark.parametrize("config", [UNKNOWN, {"spot": True, "labels": UNKNOWN}], ids=str)
def test_pool_whose_labels_are_not_known_may_have_any(config: Any) -> None:
    pool = _pool(config, name="gpus")

    assert pool.answers({"team": "vision"}) is None
    assert pool.answers({NAME: "gpus"}) is True
    assert pool.answers({NAME: "other"}) is False


@pytest.mark.parametrize(
    ("pools", "names"),
    [
        (UNKNOWN, ["c nodePools"]),
        ([UNKNOWN], ["c nodePools[0]"]),
        ([{"name": "a"}, {"name": "b"}], ["c nodePools[0]", "c nodePools[1]"]),
        (None, []),
        ([], []),
    ],
    ids=str,
)
def test_pools_that_a_cluster_lists_are_found(pools: Any, names: list[str]) -> None:
    cluster = Resource(CLUSTER, "c", "urn:c", {"nodePools": pools})
    found = list(pools_of(Stack([cluster])))

    assert [pool.name for pool in found] == names
    if pools is UNKNOWN or UNKNOWN in (pools or ()):
        assert [pool.capacity for pool in found] == [None]
        assert not found[0].all_known


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("cloud.google.com/gke-spot", True),
        ("topology.kubernetes.io/zone", True),
        ("topology.gke.io/zone", True),
        ("team", False),
        ("example.com/team", False),
        (None, False),
    ],
)
def test_labels_that_gke_sets_are_told_from_the_owners(key: Any, expected: bool) -> None:
    assert is_set_by_others(key) is expected
