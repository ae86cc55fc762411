"""The labels and taints of nodes that end, as the rule and the guard share them."""

import pytest

from spotproof_gke.interruptible import interruptible_values
from spotproof_gke.rules.finding import Resource
from spotproof_gke.rules.spot_isolation import system_workloads
from spotproof_gke.rules.spot_scheduling import NODE_FIELD, REQUIRED, spot_scheduling

COMPUTE_CLASS = "cloud.google.com/compute-class"
QUEUED = "cloud.google.com/gke-queued"
NODE = {"key": "metadata.name", "operator": "In", "values": ["gke-a-b-c"]}


def _affinity(*terms: dict) -> dict:
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}}


@pytest.mark.parametrize(
    ("spec", "clause"),
    [
        ({"nodeSelector": {QUEUED: "true"}}, f"selects {QUEUED}=true"),
        ({"tolerations": [{"key": QUEUED, "operator": "Exists"}]}, f"tolerates {QUEUED}"),
        ({"tolerations": [{"key": QUEUED, "value": "true"}]}, f"tolerates {QUEUED}=true"),
        (
            _affinity({"matchExpressions": [{"key": QUEUED, "operator": "Exists"}]}),
            f"requires {QUEUED} by node affinity",
        ),
    ],
)
def test_queued_nodes_end_as_flex_start_nodes_do(spec: dict, clause: str) -> None:
    assert list(spot_scheduling(spec)) == [(clause, True)]


def test_classes_of_the_users_own_count_like_gkes_spot_class() -> None:
    spec = {
        "nodeSelector": {COMPUTE_CLASS: "gpus"},
        "tolerations": [{"key": COMPUTE_CLASS, "value": "gpus"}],
    }

    assert list(spot_scheduling(spec)) == []
    assert list(spot_scheduling(spec, (), ["gpus"])) == [
        (f"tolerates {COMPUTE_CLASS}=gpus", True),
        (f"selects {COMPUTE_CLASS}=gpus", True),
    ]
    props = {"metadata": {"namespace": "kube-system"}, "spec": spec}
    pod = Resource("kubernetes:core/v1:Pod", "dns", props=props)
    assert len(list(system_workloads(pod, spot_classes=["gpus"]))) == 2
    assert list(system_workloads(pod)) == []


def test_gkes_spot_class_stands_once_and_first() -> None:
    for given in ((), ("autopilot-spot",)):
        assert interruptible_values(given)[COMPUTE_CLASS] == ("autopilot-spot",)
    values = interruptible_values(("gpus", "autopilot-spot", "cheap"))
    assert values[COMPUTE_CLASS] == ("autopilot-spot", "gpus", "cheap")


@pytest.mark.parametrize(
    ("field", "doubt"),
    [(NODE, True), ({**NODE, "operator": "NotIn"}, False), ({"key": "metadata.name"}, False)],
)
def test_a_node_that_affinity_names_may_be_spot(field: dict, doubt: bool) -> None:
    expected = [(NODE_FIELD, False)] if doubt else []
    preferred = "preferredDuringSchedulingIgnoredDuringExecution"
    preference = [{"weight": 1, "preference": {"matchFields": [field]}}]

    assert list(spot_scheduling(_affinity({"matchFields": [field]}))) == expected
    assert (
        list(spot_scheduling({"affinity": {"nodeAffinity": {preferred: preference}}})) == expected
    )
