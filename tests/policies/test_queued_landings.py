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
