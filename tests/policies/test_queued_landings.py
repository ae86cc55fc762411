"""Queued flex-start pods are flex-start pods to the readiness rules, not Spot ones."""

import pytest

from spotproof_gke.rules.finding import Stack
from spotproof_gke.rules.interruptible_pods import Landing, Landings

QUEUED = "cloud.google.com/gke-queued"
SPOT = "cloud.google.com/gke-spot"


@pytest.mark.parametrize(
    "spec",
    [
        {"nodeSelector": {QUEUED: "true"}},
        {"tolerations": [{"key": QUEUED, "operator": "Exists"}]},
        {"tolerations": [{"key": QUEUED, "value": "true"}]},
        {
            "nodeSelector": {QUEUED: "true"},
            "tolerations": [{"key": QUEUED, "value": "true", "effect": "NoSchedule"}],
        },
    ],
)
def test_a_queued_pod_runs_on_flex_start_nodes_alone(spec: dict) -> None:
    assert Landings(Stack([])).of(spec) == Landing(spot=False, flex_start=True)


def test_one_that_tolerates_both_may_run_on_either() -> None:
    keys = (QUEUED, SPOT)
    spec = {"tolerations": [{"key": key, "operator": "Exists"} for key in keys]}

    assert Landings(Stack([])).of(spec).spot is True


OFF_SPOT = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": SPOT, "operator": "DoesNotExist"}]}]
        }
    }
}


@pytest.mark.parametrize("key", [QUEUED, "cloud.google.com/gke-flex-start"])
def test_one_that_keeps_off_spot_and_tolerates_flex_start_runs_there(key: str) -> None:
    spec = {"tolerations": [{"key": key, "operator": "Exists"}], "affinity": OFF_SPOT}

    assert Landings(Stack([])).of(spec) == Landing(spot=False, flex_start=True)


@pytest.mark.parametrize(
    "toleration",
    [{"operator": "Exists"}, {"key": "cloud.google.com/compute-class", "operator": "Exists"}],
)
def test_one_that_keeps_off_spot_and_tolerates_anything_asks_for_no_node_that_ends(
    toleration: dict,
) -> None:
    spec = {"tolerations": [toleration], "affinity": OFF_SPOT}

    assert Landings(Stack([])).of(spec) == Landing(spot=False, flex_start=False)
