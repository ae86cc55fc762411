"""Where a pod may run, by its own words and by the pools and classes of its stack."""

from itertools import permutations
from typing import Any

import pytest

from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.interruptible_pods import Landings, interruptible_pods
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
        ([{"key": "cloud.google.com/gke-provisioning", "value": "flex-start"}], (False, True)),
        ([{"key": "cloud.google.com/gke-provisioning", "value": "spot"}], (True, False)),
        ([TOLERATES_FLEX, UNKNOWN], (None, True)),
        ([TOLERATES_SPOT, UNKNOWN], (True, None)),
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


def _required(key: str, operator: str, *values: str) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"nodeAffinity": required}


SPOT_KEY = "cloud.google.com/gke-spot"
FLEX_KEY = "cloud.google.com/gke-flex-start"
PROVISIONING = "cloud.google.com/gke-provisioning"


@pytest.mark.parametrize(
    ("affinity", "expected"),
    [
        (_required(SPOT_KEY, "In", "true"), (True, False)),
        (_required(FLEX_KEY, "In", "true"), (False, True)),
        (_required(FLEX_KEY, "Exists"), (False, True)),
        (_required(PROVISIONING, "In", "spot"), (True, False)),
        (_required(PROVISIONING, "In", "flex-start"), (False, True)),
        (_required(PROVISIONING, "In", "standard"), (False, False)),
        (_required("team", "In", "vision"), (False, False)),
    ],
    ids=str,
)
def test_affinity_asks_for_a_kind_of_nodes(affinity: Any, expected: tuple[bool, bool]) -> None:
    landing = Landings(Stack([])).of({"affinity": affinity, "containers": []})

    assert (landing.spot, landing.flex_start) == expected


def test_pools_of_a_landing_are_the_first_of_each_budget() -> None:
    grace = {"kubeletConfig": {"shutdownGracePeriodSeconds": 120}}
    long = _pool("long", spot=True, labels={"team": "vision"}, **grace)
    second = _pool("second", spot=True, labels={"team": "vision"})
    spec = {"nodeSelector": {"team": "vision"}, "containers": []}

    found = Landings(Stack((HOME, SPOT, long, second, OPEN))).of(spec).pools

    assert [pool.name for pool in found] == ["spot", "long"]


@pytest.mark.parametrize("other", [OPEN, UNSEEN], ids=lambda pool: pool.name)
def test_pool_whose_labels_are_not_known_may_be_where_a_pod_lands(other: Resource) -> None:
    spec = {"nodeSelector": {"team": "vision"}, "containers": []}

    assert [pool.name for pool in Landings(Stack((HOME, other))).of(spec).pools] == [other.name]


@pytest.mark.parametrize(
    ("priorities", "expected"),
    [
        ([{"nodepools": ["hidden"]}], (None, False)),
        ([{"nodepools": ["spot", "hidden"]}], (True, False)),
        ([{"nodepools": [UNKNOWN]}], (None, None)),
    ],
    ids=str,
)
def test_class_may_mean_a_pool_whose_name_is_not_known(priorities: Any, expected: Any) -> None:
    nameless = Resource(
        "gcp:container/nodePool:NodePool", "x", "urn:x", {"nodeConfig": {"spot": True}}
    )
    selector = {"cloud.google.com/compute-class": "wide"}

    assert _where(selector, SPOT, HOME, nameless, _class(priorities)) == expected


def test_class_without_a_name_has_that_of_its_resource() -> None:
    props = {"spec": {"priorities": [{"spot": True}]}}
    other = Resource("kubernetes:cloud.google.com/v1:ComputeClass", "wide", "urn:w", props)

    assert _where({"cloud.google.com/compute-class": "wide"}, other) == (True, False)


def test_what_is_no_pod_of_its_own_is_left_out() -> None:
    template = {"spec": {"nodeSelector": {SPOT_KEY: "true"}, "containers": []}}
    props = {"spec": {"template": template}}
    kinds = ("apps/v1:Deployment", "apps/v1:DeploymentPatch", "apps/v1:DaemonSet")
    resources = [Resource(f"kubernetes:{kind}", kind, f"urn:{kind}", props) for kind in kinds]
    resources.append(Resource("acme:apps/v1:Deployment", "acme", "urn:acme", props))

    found = [each.name for each, _, _ in interruptible_pods(Stack(resources))]

    assert found == ["apps/v1:Deployment"]


def test_landings_that_are_given_are_used() -> None:
    pod = Resource(
        "kubernetes:core/v1:Pod", "a", "urn:a", {"spec": {"nodeSelector": {"team": "vision"}}}
    )

    assert list(interruptible_pods(Stack([pod]))) == []
    assert len(list(interruptible_pods(Stack([pod]), Landings(Stack([SPOT]))))) == 1


HOME_OPEN = _pool("open at home", labels=UNKNOWN)


def test_pool_at_home_that_may_answer_leaves_a_doubt() -> None:
    for pools in permutations((SPOT, HOME_OPEN)):
        assert _where({"team": "vision"}, *pools) == (None, False)
    for pools in permutations((FLEX, HOME_OPEN)):
        assert _where({"team": "speech"}, *pools) == (False, None)
    assert _where({"team": "vision"}, HOME_OPEN) == (False, False)


def test_pools_of_both_kinds_are_both_told() -> None:
    both = (
        _pool("a", spot=True, labels={"team": "all"}),
        _pool("b", flexStart=True, labels={"team": "all"}),
    )

    for pools in permutations(both):
        assert _where({"team": "all"}, *pools) == (True, True)


@pytest.mark.parametrize(
    ("tolerations", "expected"),
    [([TOLERATES_SPOT], (True, False)), ([TOLERATES_FLEX], (False, True))],
)
def test_toleration_says_more_than_the_pools_that_a_label_finds(tolerations, expected) -> None:
    for team in ("vision", "speech"):
        assert _where({"team": team}, SPOT, FLEX, tolerations=tolerations) == expected


def test_selectors_that_differ_in_what_is_known_are_told_apart() -> None:
    landings = Landings(Stack((SPOT, HOME)))

    def spot(team: Any) -> bool | None:
        return landings.of({"nodeSelector": {"team": team}, "containers": []}).spot

    assert spot("vision") is True
    assert spot(UNKNOWN) is None
    assert spot("") is False
    assert spot("home") is False
    assert spot("vision") is True


@pytest.mark.parametrize(
    "affinity",
    [
        _required(PROVISIONING, "In", "flex-start"),
        {
            "nodeAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "weight": 1,
                        "preference": {
                            "matchExpressions": [
                                {"key": FLEX_KEY, "operator": "In", "values": ["true"]}
                            ]
                        },
                    }
                ]
            }
        },
    ],
    ids=["required", "preferred"],
)
def test_flex_start_beside_a_toleration_of_spot_is_both(affinity: Any) -> None:
    landing = Landings(Stack([])).of(
        {"affinity": affinity, "tolerations": [TOLERATES_SPOT], "containers": []}
    )

    assert landing.spot is True
    assert landing.flex_start is not None


def test_other_kinds_of_the_group_of_compute_classes_are_no_classes() -> None:
    props = {"metadata": {"name": "wide"}, "spec": {"priorities": [{"spot": True}]}}
    other = Resource("kubernetes:cloud.google.com/v1:BackendConfig", "wide", "urn:w", props)

    assert _where({"cloud.google.com/compute-class": "wide"}, other) == (False, False)


def test_class_has_the_name_that_it_states() -> None:
    props = {"metadata": {"name": "wide"}, "spec": {"priorities": [{"spot": True}]}}
    named = Resource("kubernetes:cloud.google.com/v1:ComputeClass", "other", "urn:o", props)

    assert _where({"cloud.google.com/compute-class": "wide"}, named) == (True, False)
    assert _where({"cloud.google.com/compute-class": "other"}, named) == (False, False)


def test_class_may_mean_a_flex_start_pool_whose_name_is_not_known() -> None:
    nameless = Resource(
        "gcp:container/nodePool:NodePool", "x", "urn:x", {"nodeConfig": {"flexStart": True}}
    )
    selector = {"cloud.google.com/compute-class": "wide"}

    assert _where(selector, HOME, nameless, _class([{"nodepools": ["hidden"]}])) == (False, None)
