"""What in a pod specification lets the pod on Spot nodes, and what keeps it off them."""

from typing import Any

import pytest

from spotproof_gke.rules.reading import UNKNOWN
from spotproof_gke.rules.spot_scheduling import BLANKET, compute_classes_of, spot_scheduling

SPOT = "cloud.google.com/gke-spot"
PREEMPTIBLE = "cloud.google.com/gke-preemptible"
FLEX_START = "cloud.google.com/gke-flex-start"
QUEUED = "cloud.google.com/gke-queued"
PROVISIONING = "cloud.google.com/gke-provisioning"
COMPUTE_CLASS = "cloud.google.com/compute-class"
EVERY_TAINT = [{"operator": "Exists"}]


def _expression(key: str, operator: str, values: list[str] | None = None) -> dict[str, Any]:
    return {"key": key, "operator": operator, **({} if values is None else {"values": values})}


def _required(*terms: list[dict[str, Any]]) -> dict[str, Any]:
    selector = {"nodeSelectorTerms": [{"matchExpressions": term} for term in terms]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}


def _preferred(*expressions: dict[str, Any]) -> dict[str, Any]:
    preference = {"weight": 1, "preference": {"matchExpressions": list(expressions)}}
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preference]}}


KEEPS_OFF = [
    _expression(PROVISIONING, "In", ["standard"]),
    _expression(PROVISIONING, "NotIn", ["flex-start", "preemptible", "spot"]),
]
KEEPS_OFF_SPOT = [
    _expression(SPOT, "DoesNotExist"),
    _expression(SPOT, "NotIn", ["true"]),
    _expression(PROVISIONING, "NotIn", ["spot"]),
    _expression(PROVISIONING, "NotIn", ["preemptible", "spot"]),
]
LEAVES_OPEN = [
    *KEEPS_OFF_SPOT,
    _expression(SPOT, "NotIn", ["false"]),
    _expression(SPOT, "Exists"),
    _expression(SPOT, "In", ["true"]),
    _expression(PROVISIONING, "In", ["standard", "spot"]),
    _expression(PROVISIONING, "In", []),
    _expression(PROVISIONING, "Exists"),
    _expression(PROVISIONING, "DoesNotExist"),
    _expression(PROVISIONING, "NotIn", ["standard"]),
    _expression(PROVISIONING, "NotIn", ["flex-start"]),
    _expression("kubernetes.io/os", "In", ["standard"]),
    _expression("kubernetes.io/os", "NotIn", ["spot"]),
    _expression("kubernetes.io/os", "DoesNotExist"),
    _expression(PROVISIONING, "", ["spot"]),
]


def _words(expression: dict[str, Any]) -> str:
    return "-".join([expression["key"], expression["operator"], *expression.get("values", [])])


@pytest.mark.parametrize("expression", KEEPS_OFF, ids=_words)
def test_toleration_of_every_taint_is_no_matter_with_on_demand_nodes_alone(expression) -> None:
    spec = {"tolerations": EVERY_TAINT, "affinity": _required([expression])}

    assert list(spot_scheduling(spec)) == []


@pytest.mark.parametrize("expression", LEAVES_OPEN, ids=_words)
def test_toleration_of_every_taint_counts_where_affinity_leaves_nodes_that_end(expression) -> None:
    spec = {"tolerations": EVERY_TAINT, "affinity": _required([expression])}

    assert (BLANKET, True) in list(spot_scheduling(spec))


@pytest.mark.parametrize("expression", KEEPS_OFF_SPOT, ids=_words)
@pytest.mark.parametrize("key", [FLEX_START, QUEUED])
def test_an_affinity_against_spot_alone_leaves_a_toleration_of_flex_start(expression, key) -> None:
    for toleration in ({"key": key, "operator": "Exists"}, {"key": key, "value": "true"}):
        spec = {"tolerations": [toleration], "affinity": _required([expression])}
        ((clause, certain),) = spot_scheduling(spec)
        assert clause.startswith(f"tolerates {key}")
        assert certain


@pytest.mark.parametrize("expression", KEEPS_OFF_SPOT, ids=_words)
@pytest.mark.parametrize(
    ("key", "value"), [(SPOT, "true"), (PROVISIONING, "spot"), (COMPUTE_CLASS, "autopilot-spot")]
)
def test_an_affinity_against_spot_makes_a_toleration_of_spot_no_matter(
    expression, key, value
) -> None:
    spec = {"tolerations": [{"key": key, "value": value}], "affinity": _required([expression])}

    assert list(spot_scheduling(spec)) == []


@pytest.mark.parametrize("key", [SPOT, PREEMPTIBLE, FLEX_START, QUEUED])
def test_an_affinity_against_every_key_keeps_off_all_nodes_that_end(key) -> None:
    keys = [SPOT, PREEMPTIBLE, FLEX_START, QUEUED]
    every = [_expression(each, "DoesNotExist") for each in keys]
    others = [_expression(each, "DoesNotExist") for each in keys if each != key]

    assert not list(spot_scheduling({"tolerations": EVERY_TAINT, "affinity": _required(every)}))
    assert list(spot_scheduling({"tolerations": EVERY_TAINT, "affinity": _required(others)})) == [
        (BLANKET, True)
    ]


def test_each_term_of_an_affinity_must_keep_off_and_one_expression_of_it_does() -> None:
    linux = _expression("kubernetes.io/os", "In", ["linux"])
    of_two = _required([linux, KEEPS_OFF[0]], [KEEPS_OFF[1], linux])
    one_open = _required([KEEPS_OFF[0]], [linux])
    half_each = _required([_expression(SPOT, "DoesNotExist")], [_expression(FLEX_START, "Exists")])

    assert list(spot_scheduling({"tolerations": EVERY_TAINT, "affinity": of_two})) == []
    assert (BLANKET, True) in spot_scheduling({"tolerations": EVERY_TAINT, "affinity": half_each})
    for affinity in (one_open, _required(), _required([]), _preferred(KEEPS_OFF[0]), {}, None):
        found = list(spot_scheduling({"tolerations": EVERY_TAINT, "affinity": affinity}))
        assert found == [(BLANKET, True)]


@pytest.mark.parametrize(
    ("value", "found"),
    [("standard", []), ("spot", [(f"selects {PROVISIONING}=spot", True)]), ("other", [])],
)
def test_selector_of_on_demand_nodes_makes_a_toleration_no_matter(value, found) -> None:
    spec = {"tolerations": EVERY_TAINT, "nodeSelector": {PROVISIONING: value}}
    toleration = [] if value == "standard" else [(BLANKET, True)]

    assert list(spot_scheduling(spec)) == toleration + found


@pytest.mark.parametrize(
    ("expression", "clause"),
    [
        (_expression(SPOT, "In", ["true"]), f"{SPOT}=true"),
        (_expression(SPOT, "In", ["false", "true"]), f"{SPOT}=true"),
        (_expression(SPOT, "Exists"), SPOT),
        (_expression(PREEMPTIBLE, "In", ["true"]), f"{PREEMPTIBLE}=true"),
        (_expression(PREEMPTIBLE, "Exists"), PREEMPTIBLE),
        (_expression(FLEX_START, "In", ["true"]), f"{FLEX_START}=true"),
        (_expression(FLEX_START, "Exists"), FLEX_START),
        (_expression(PROVISIONING, "In", ["standard", "spot"]), f"{PROVISIONING}=spot"),
        (_expression(PROVISIONING, "In", ["preemptible"]), f"{PROVISIONING}=preemptible"),
        (_expression(PROVISIONING, "In", ["flex-start"]), f"{PROVISIONING}=flex-start"),
        (_expression(PROVISIONING, "NotIn", ["standard"]), f"{PROVISIONING}=spot"),
        (_expression(PROVISIONING, "NotIn", ["standard", "spot"]), f"{PROVISIONING}=preemptible"),
        (_expression(COMPUTE_CLASS, "In", ["autopilot-spot"]), f"{COMPUTE_CLASS}=autopilot-spot"),
    ],
    ids=lambda each: _words(each) if isinstance(each, dict) else None,
)
def test_affinity_that_takes_spot_nodes_says_which_label(expression, clause) -> None:
    required = f"requires {clause} by node affinity"
    preferred = f"prefers {clause} by node affinity"

    assert list(spot_scheduling({"affinity": _required([expression])})) == [(required, True)]
    assert list(spot_scheduling({"affinity": _preferred(expression)})) == [(preferred, True)]


@pytest.mark.parametrize(
    "expression",
    [
        _expression(SPOT, "In", ["false"]),
        _expression(SPOT, "NotIn", ["false"]),
        _expression(SPOT, "NotIn", ["standard"]),
        _expression(SPOT, "DoesNotExist"),
        _expression(SPOT, "Gt", ["true"]),
        _expression(PROVISIONING, "Exists"),
        _expression(PROVISIONING, "NotIn", ["standard", "spot", "preemptible", "flex-start"]),
        _expression(PROVISIONING, "NotIn", ["flex-start"]),
        _expression(COMPUTE_CLASS, "Exists"),
        _expression(COMPUTE_CLASS, "In", ["l4"]),
        _expression("kubernetes.io/os", "Exists"),
        _expression("kubernetes.io/os", "NotIn", ["standard"]),
        _expression("kubernetes.io/os", "In", ["true"]),
    ],
    ids=_words,
)
def test_affinity_that_asks_for_no_spot_node_is_passed_over(expression) -> None:
    assert list(spot_scheduling({"affinity": _required([expression])})) == []
    assert list(spot_scheduling({"affinity": _preferred(expression)})) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (SPOT, "true"),
        (PREEMPTIBLE, "true"),
        (FLEX_START, "true"),
        (PROVISIONING, "spot"),
        (PROVISIONING, "preemptible"),
        (PROVISIONING, "flex-start"),
        (COMPUTE_CLASS, "autopilot-spot"),
    ],
)
def test_every_label_of_nodes_that_end_counts_in_selectors_and_tolerations(key, value) -> None:
    selects = [(f"selects {key}={value}", True)]
    tolerates = [(f"tolerates {key}={value}", True)]

    assert list(spot_scheduling({"nodeSelector": {key: value}})) == selects
    assert list(spot_scheduling({"nodeSelector": {key: "other"}})) == []
    for toleration in (
        {"key": key, "value": value},
        {"key": key, "value": value, "operator": "Equal"},
    ):
        assert list(spot_scheduling({"tolerations": [toleration]})) == tolerates
    other = {"key": key, "value": "other", "operator": "Equal"}
    assert list(spot_scheduling({"tolerations": [other]})) == []


def test_a_compute_class_that_exists_may_be_one_of_spot() -> None:
    exists = {"tolerations": [{"key": COMPUTE_CLASS, "operator": "Exists"}]}
    doubt = "whether a compute class that it tolerates is Spot"

    assert list(spot_scheduling(exists)) == [(doubt, False)]
    assert list(spot_scheduling(exists, [COMPUTE_CLASS])) == [(f"tolerates {COMPUTE_CLASS}", True)]


def test_taint_keys_of_the_users_own_count_with_any_value() -> None:
    found = [("tolerates acme.io/evictable", True)]

    for rest in ({}, {"value": "x"}, {"operator": "Exists"}, {"value": UNKNOWN}):
        spec = {"tolerations": [{"key": "acme.io/evictable", **rest}]}
        assert list(spot_scheduling(spec, ["acme.io/evictable"])) == found
        assert list(spot_scheduling(spec)) == []


def test_toleration_of_no_execute_alone_passes_no_taint_of_a_spot_pool() -> None:
    # The taint of a Spot pool, GKE's own or the declared one, is NoSchedule.
    assert (
        list(spot_scheduling({"tolerations": [{"operator": "Exists", "effect": "NoExecute"}]}))
        == []
    )
    assert list(spot_scheduling({"tolerations": [{"operator": "Exists", "effect": UNKNOWN}]})) == [
        ("the operator or the effect of one of its tolerations", False)
    ]


@pytest.mark.parametrize(
    ("spec", "clauses"),
    [
        (UNKNOWN, ["its pod specification"]),
        ({"tolerations": UNKNOWN}, ["one of its tolerations"]),
        ({"tolerations": [UNKNOWN]}, ["one of its tolerations"]),
        ({"tolerations": [{"key": UNKNOWN}]}, ["a toleration whose key is unknown"]),
        ({"tolerations": [{"key": SPOT, "operator": UNKNOWN}]},
         ["the operator or the effect of one of its tolerations"]),
        ({"tolerations": [{"key": SPOT, "operator": "Exists", "effect": UNKNOWN}]},
         ["the operator or the effect of one of its tolerations"]),
        ({"tolerations": [{"operator": UNKNOWN}]},
         ["the operator or the effect of one of its tolerations"]),
        ({"tolerations": [{"operator": UNKNOWN, "effect": "NoExecute"}]}, []),
        ({"tolerations": [{"key": "nvidia.com/gpu", "operator": UNKNOWN}]}, []),
        ({"tolerations": [{"key": SPOT, "value": UNKNOWN}]},
         [f"the value of its toleration of {SPOT}"]),
        ({"nodeSelector": UNKNOWN}, ["its node selector"]),
        ({"nodeSelector": {SPOT: UNKNOWN}}, [f"its node selector {SPOT}"]),
        ({"nodeSelector": {"a": UNKNOWN}}, []),
        ({"affinity": UNKNOWN}, ["its affinity"]),
        ({"affinity": {"nodeAffinity": UNKNOWN}}, ["its affinity"]),
        ({"affinity": {"podAffinity": UNKNOWN}}, []),
        ({"affinity": _required([UNKNOWN])}, ["a part of its node affinity"]),  # type: ignore[list-item]
        ({"nodeName": "gke-a-b"}, ["whether the node of its nodeName is Spot"]),
        ({"nodeName": UNKNOWN}, ["whether the node of its nodeName is Spot"]),
        ({"nodeName": ""}, []),
    ],
)  # fmt: skip
def test_what_cannot_be_known_is_said_and_is_not_certain(spec, clauses) -> None:
    assert list(spot_scheduling(spec)) == [(clause, False) for clause in clauses]


def test_unknown_part_of_an_affinity_hides_no_known_one() -> None:
    affinity = _required([UNKNOWN, _expression(SPOT, "Exists")])  # type: ignore[list-item]

    assert list(spot_scheduling({"affinity": affinity})) == [
        (f"requires {SPOT} by node affinity", True),
        ("a part of its node affinity", False),
    ]


@pytest.mark.parametrize(
    ("spec", "classes"),
    [
        ({"nodeSelector": {COMPUTE_CLASS: "l4"}}, ["l4"]),
        ({"affinity": _required([_expression(COMPUTE_CLASS, "In", ["l4", "n4"])])}, ["l4", "n4"]),
        ({"affinity": _preferred(_expression(COMPUTE_CLASS, "In", ["l4"]))}, ["l4"]),
        ({"nodeSelector": {COMPUTE_CLASS: "a"},
          "affinity": _preferred(_expression(COMPUTE_CLASS, "In", ["b"]))}, ["a", "b"]),
        ({"affinity": _required([_expression(COMPUTE_CLASS, "NotIn", ["l4"])])}, []),
        ({"affinity": _required([_expression("other", "In", ["l4"])])}, []),
        ({"nodeSelector": {COMPUTE_CLASS: UNKNOWN}}, []),
        (UNKNOWN, []),
    ],
)  # fmt: skip
def test_compute_classes_that_a_pod_asks_for(spec, classes) -> None:
    assert list(compute_classes_of(spec)) == classes
