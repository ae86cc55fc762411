"""The work of finding a pod's pools grows with the stack, not with pods times pools."""

import pytest

from spotproof_gke.rules import interruptible_pools
from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.interruptible_pods import interruptible_pods


def _stack(size: int, label: str) -> Stack:
    """As many Spot pools as pods, each pod for a pool of its own."""
    resources = []
    for number in range(size):
        props = {"name": f"pool-{number}", "nodeConfig": {"spot": True}}
        if label == "team":
            props["nodeConfig"] = {"spot": True, "labels": {"team": f"pool-{number}"}}
        resources.append(Resource("gcp:container/nodePool:NodePool", f"p{number}", props=props))
        spec = {"nodeSelector": {label: f"pool-{number}"}, "containers": [{"name": "a"}]}
        resources.append(Resource("kubernetes:core/v1:Pod", f"w{number}", props={"spec": spec}))
    return Stack(resources)


@pytest.mark.parametrize("label", ["cloud.google.com/gke-nodepool", "team"])
def test_ten_times_the_stack_is_ten_times_the_work(
    label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0
    answers = interruptible_pools.Pool.answers

    def counting(pool: interruptible_pools.Pool, selector: object) -> bool | None:
        nonlocal asked
        asked += 1
        return answers(pool, selector)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(interruptible_pools.Pool, "answers", counting)
    counts = []
    for size in (30, 300):
        asked = 0
        assert len(list(interruptible_pods(_stack(size, label)))) == size
        counts.append(asked)
    assert counts[1] <= 10 * counts[0]


def test_pod_that_any_pool_takes_is_given_one_pool_of_each_budget() -> None:
    pools = [
        Resource(
            "gcp:container/nodePool:NodePool",
            f"p{number}",
            props={
                "nodeConfig": {
                    "spot": True,
                    "kubeletConfig": {"shutdownGracePeriodSeconds": 120 if number % 2 else 0},
                }
            },
        )
        for number in range(6)
    ]
    spec = {"nodeSelector": {"cloud.google.com/gke-spot": "true"}, "containers": [{"name": "a"}]}
    pod = Resource("kubernetes:core/v1:Pod", "w", props={"spec": spec})

    [(_, _, landing)] = interruptible_pods(Stack([*pools, pod]))

    assert [pool.name for pool in landing.pools] == ["p0", "p1"]
