"""Which budget counts for a grace period and for a stated save."""

from typing import Any

import pytest

from spotproof_gke.contract import SAVE_ESTIMATE_VARIABLE
from spotproof_gke.rules.finding import Finding, Resource, Stack
from spotproof_gke.rules.reading import UNKNOWN
from spotproof_gke.rules.save_budget import pod_grace, save_estimates

SPOT = {"cloud.google.com/gke-spot": "true"}


def _pool(name: str, kubelet: Any = None) -> Resource:
    config = {"spot": True} if kubelet is None else {"spot": True, "kubeletConfig": kubelet}
    props = {"name": name, "nodeConfig": config}
    return Resource("gcp:container/nodePool:NodePool", name, f"urn:{name}", props)


PLAIN = _pool("plain")
LONG = _pool("long", {"shutdownGracePeriodSeconds": 120})
HALF = _pool(
    "half", {"shutdownGracePeriodSeconds": 120, "shutdownGracePeriodCriticalPodsSeconds": 60}
)
NOTHING = _pool(
    "nothing", {"shutdownGracePeriodSeconds": 30, "shutdownGracePeriodCriticalPodsSeconds": 30}
)
OPEN = _pool("open", UNKNOWN)


def _graces(seconds: Any, *pools: Resource) -> list[Finding]:
    spec = {"nodeSelector": SPOT, "terminationGracePeriodSeconds": seconds, "containers": []}
    pod = Resource("kubernetes:core/v1:Pod", "pod", "urn:pod", {"spec": spec})
    return list(pod_grace(Stack([*pools, pod])))


def _saves(value: Any, *pools: Resource) -> list[Finding]:
    env = [{"name": SAVE_ESTIMATE_VARIABLE, "value": value}]
    spec = {"nodeSelector": SPOT, "containers": [{"name": "a", "env": env}]}
    pod = Resource("kubernetes:core/v1:Pod", "pod", "urn:pod", {"spec": spec})
    return list(save_estimates(Stack([*pools, pod])))


@pytest.mark.parametrize("seconds", [0, 15, 30, None, "nan", "soon"])
def test_grace_that_fits_or_that_kubernetes_fills_in_gives_no_remark(seconds: Any) -> None:
    assert _graces(seconds) == []
    assert _graces(seconds, PLAIN) == []


@pytest.mark.parametrize("seconds", [16, 29, 31, 600])
def test_grace_beyond_the_notice_is_a_certain_remark(seconds: int) -> None:
    for pools in ((), (PLAIN,)):
        [found] = _graces(seconds, *pools)
        assert found.certain
        assert f"is {seconds}, and the pod has 15 s" in found.value


def test_least_budget_of_the_pools_that_answer_counts() -> None:
    assert _graces(100, LONG) == []
    for pools in ((LONG, HALF), (HALF, LONG), (LONG, HALF, LONG)):
        [found] = _graces(100, *pools)
        assert "60 s on pool half" in found.value
    for pools in ((LONG, HALF, PLAIN), (PLAIN, LONG, HALF)):
        [found] = _graces(200, *pools)
        assert "15 s on pool plain" in found.value


def test_pool_that_leaves_nothing_takes_no_save_at_all() -> None:
    [found] = _saves("1", NOTHING)
    assert "0 s on pool nothing" in found.value
    assert _saves("0", NOTHING) == []


def test_budget_that_is_not_known_leaves_a_doubt_beyond_the_least_that_can_be() -> None:
    for pools in ((OPEN,), (OPEN, LONG), (LONG, OPEN)):
        [found] = _graces(60, *pools)
        assert not found.certain
        assert "the budget of its pool" in found.value
        assert _graces(15, *pools) == []
        assert not _graces(16, *pools)[0].certain


def test_known_pool_that_is_exceeded_is_certain_beside_one_that_is_not_known() -> None:
    for pools in ((OPEN, PLAIN), (PLAIN, OPEN)):
        [found] = _graces(60, *pools)
        assert found.certain
        assert "pool plain" in found.value


@pytest.mark.parametrize("value", ["0", "15", 7, "7.5", "$(OTHER)", None])
def test_save_that_fits_or_is_not_seen_gives_no_remark(value: Any) -> None:
    assert _saves(value) == []


@pytest.mark.parametrize("value", ["-1", "ten", "", "nan", "inf", True, ["1"], "1e999"])
def test_save_that_is_no_number_of_seconds_is_a_remark_without_the_value(value: Any) -> None:
    [found] = _saves(value)

    assert found.certain
    assert found.value == f"{SAVE_ESTIMATE_VARIABLE} is no number of seconds"


def test_unknown_grace_is_one_uncertain_remark() -> None:
    [found] = _graces(UNKNOWN)

    assert not found.certain
    assert found.value == "terminationGracePeriodSeconds"
