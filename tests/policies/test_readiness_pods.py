"""Where a pod may run, by its own words and by the pools and classes of its stack."""

from itertools import permutations
from typing import Any

import pytest

from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.interruptible_pods import Landings
from spotproof_gke.rules.reading import UNKNOWN

POOL_NAME = "cloud.google.com/gke-nodepool"
TOLERATES_SPOT = {"key": "cloud.google.com/gke-spot", "operator": "Exists"}
TOLERATES_FLEX = {"key": "cloud.google.com/gke-flex-start", "operator": "Exists"}


def _pool(name: str, **config: Any) -> Resource:
    props = {"name": name, "nodeConfig": config}
    return Resource("gcp:container/nodePool:NodePool", name, f"urn:{name}", props)


def _where(selector: Any, *resources: Resource, tolerations: Any = ()) -> tuple[Any, Any]:
    """Whether a pod may run on Spot, and on flex-start nodes."""
    spec = {"nodeSelector": selector, "tolerations": list(tolerations), "containers": []}
    landing = Landings(Stack(resources)).of(spec)
    return landing.spot, landing.flex_start


SPOT = _pool("spot", spot=True, labels={"team": "vision", "size": "big"})
OLD = _pool("old", preemptible=True, labels={"team": "old"})
FLEX = _pool("flex", flexStart=True, labels={"team": "speech"})
HOME = _pool("home", labels={"team": "home", "size": "big"})
OPEN = _pool("open", spot=True, labels=UNKNOWN)
UNSEEN = Resource("gcp:container/nodePool:NodePool", "unseen", "urn:u", {"nodeConfig": UNKNOWN})


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ({"team": "vision"}, (True, False)),
        ({"team": "old"}, (True, False)),
        ({"team": "speech"}, (False, True)),
        ({"team": "home"}, (False, False)),
        ({"team": "nobody"}, (False, False)),
        ({"size": "big"}, (False, False)),
        ({"size": "big", "team": "vision"}, (True, False)),
        ({POOL_NAME: "spot"}, (True, False)),
        ({POOL_NAME: "flex"}, (False, True)),
        ({POOL_NAME: "home"}, (False, False)),
        ({"cloud.google.com/gke-spot": "true"}, (True, False)),
        ({"cloud.google.com/gke-flex-start": "true"}, (False, True)),
        ({"topology.kubernetes.io/zone": "us-central1-a"}, (False, False)),
        ({}, (False, False)),
    ],
    ids=str,
)
def test_selector_leads_to_the_pools_that_answer_it(selector, expected) -> None:
    for pools in permutations((SPOT, OLD, FLEX, HOME)):
        assert _where(selector, *pools) == expected


@pytest.mark.parametrize("other", [OPEN, UNSEEN], ids=lambda pool: pool.name)
def test_pool_that_is_not_known_leaves_a_doubt(other: Resource) -> None:
    for pools in permutations((SPOT, other)):
        assert _where({"team": "vision"}, *pools)[0] is None
    assert _where({"team": "other"}, SPOT, other)[0] is None
    for pools in permutations((FLEX, other)):
        assert _where({"team": "speech"}, *pools) == (None, None)
    # A pool at home answers for certain, so that the pod need not be elsewhere.
    assert _where({"team": "home"}, HOME, other)[0] is False


@pytest.mark.parametrize(
    ("tolerations", "expected"),
    [
        ([TOLERATES_SPOT], (True, False)),
        ([TOLERATES_FLEX], (False, True)),
        ([TOLERATES_SPOT, TOLERATES_FLEX], (True, True)),
        ([{"operator": "Exists"}], (True, False)),
        ([UNKNOWN], (None, None)),
    ],
    ids=str,
)
def test_toleration_lets_a_pod_onto_its_kind_of_nodes(tolerations, expected) -> None:
    assert _where({}, tolerations=tolerations) == expected


def test_selected_flex_start_nodes_are_not_spot_whatever_else_is_tolerated() -> None:
    for selector in (
        {"cloud.google.com/gke-flex-start": "true"},
        {"cloud.google.com/gke-provisioning": "flex-start"},
    ):
        assert _where(selector, tolerations=[{"operator": "Exists"}]) == (False, True)


def _class(priorities: Any) -> Resource:
    props = {"metadata": {"name": "wide"}, "spec": {"priorities": priorities}}
    return Resource("kubernetes:cloud.google.com/v1:ComputeClass", "wide", "urn:wide", props)


@pytest.mark.parametrize(
    ("priorities", "expected"),
    [
        ([{"spot": True}], (True, False)),
        ([{"machineFamily": "n2"}, {"spot": "true"}], (True, False)),
        ([{"flexStart": {"enabled": True}}], (False, True)),
        ([{"flexStart": {"enabled": False}}, {"spot": False}], (False, False)),
        ([{"nodepools": ["spot"]}], (True, False)),
        ([{"nodepools": ["flex", "home"]}], (False, True)),
        ([{"nodepools": ["nobody"]}], (False, False)),
        ([{"spot": UNKNOWN}], (None, False)),
        ([{"flexStart": UNKNOWN}], (False, None)),
        ([{"nodepools": UNKNOWN}], (None, None)),
        ([UNKNOWN], (None, None)),
        (UNKNOWN, (None, None)),
        (None, (False, False)),
    ],
    ids=str,
)
def test_compute_class_leads_to_what_its_priorities_take(priorities, expected) -> None:
    selector = {"cloud.google.com/compute-class": "wide"}

    assert _where(selector, SPOT, FLEX, HOME, _class(priorities)) == expected


def test_class_of_another_api_group_is_none_of_gkes() -> None:
    other = Resource(
        "kubernetes:acme.io/v1:ComputeClass",
        "wide",
        "urn:wide",
        {"metadata": {"name": "wide"}, "spec": {"priorities": [{"spot": True}]}},
    )

    assert _where({"cloud.google.com/compute-class": "wide"}, other) == (False, False)
