"""What the guard's policies say, and what the component refuses. Verdicts: tests/cluster."""

import json
from typing import Any

import pulumi
import pulumi_kubernetes
import pytest

from spotproof.reader import ArgumentsError
from spotproof.workloads.system_placement_guard import SystemPlacementGuard
from spotproof_gke.admission import Guard, GuardAction, findings, guard_manifests, pattern_problems
from spotproof_gke.admission.cel import literal
from spotproof_gke.admission.namespaces import matches
from spotproof_gke.interruptible import interruptible_values
from spotproof_gke.rules.system_pods import SYSTEM_NAMESPACES
from tests.unit.declared import Declared, declare

OWN = Guard(name="guard", system_namespaces=("platform",))


def _policy(guard: Guard, scope: str = "own") -> dict[str, Any]:
    return guard_manifests(guard)[f"{scope}-policy"]["spec"]


def _kinds(spec: dict[str, Any]) -> list[str]:
    rules = spec["matchConstraints"]["resourceRules"]
    return [kind for rule in rules for kind in rule["resources"]]


def test_it_denies_in_your_namespaces_and_watches_in_the_others() -> None:
    manifests = guard_manifests(OWN)
    actions = {
        role: one["spec"]["validationActions"]
        for role, one in manifests.items()
        if role.endswith("binding")
    }

    assert actions == {
        "own-binding": ["Deny"],
        "gke-binding": ["Audit", "Warn"],
        "critical-binding": ["Audit", "Warn"],
    }


def test_each_binding_follows_its_policy() -> None:
    roles = list(guard_manifests(OWN))

    for scope in ("own", "gke", "critical"):
        assert roles.index(f"{scope}-policy") + 1 == roles.index(f"{scope}-binding")
        binding = guard_manifests(OWN)[f"{scope}-binding"]["spec"]
        assert binding["policyName"] == f"guard-{scope}"
        assert guard_manifests(OWN)[f"{scope}-policy"]["metadata"]["name"] == f"guard-{scope}"


def test_a_guard_that_only_watches_stops_nothing_when_it_fails() -> None:
    assert _policy(OWN, "own")["failurePolicy"] == "Fail"
    assert _policy(OWN, "gke")["failurePolicy"] == "Ignore"
    assert _policy(OWN, "critical")["failurePolicy"] == "Ignore"
    strict = Guard(name="guard", gke_action=GuardAction.DENY, critical_action=GuardAction.DENY)
    assert _policy(strict, "gke")["failurePolicy"] == "Fail"
    assert _policy(strict, "critical")["failurePolicy"] == "Fail"


def test_a_denial_is_no_403_which_a_preview_would_not_show() -> None:
    for scope in ("own", "gke", "critical"):
        for validation in _policy(OWN, scope)["validations"]:
            assert "reason" not in validation


def test_there_is_no_policy_where_there_is_nothing_to_watch() -> None:
    roles = guard_manifests(Guard(name="guard", critical_priority_classes=()))

    assert list(roles) == ["gke-policy", "gke-binding"]


def test_it_judges_every_kind_that_makes_pods_and_passes_over_daemon_sets() -> None:
    kinds = [
        "pods",
        "podtemplates",
        "replicationcontrollers",
        "namespaces",
        "deployments",
        "statefulsets",
        "replicasets",
        "jobs",
        "cronjobs",
    ]
    assert _kinds(_policy(OWN)) == kinds
    strict = Guard(name="guard", system_namespaces=("platform",), exempt_daemon_sets=False)
    assert sorted(_kinds(_policy(strict))) == sorted([*kinds, "daemonsets"])


def test_it_judges_new_objects_and_changes() -> None:
    for rule in _policy(OWN)["matchConstraints"]["resourceRules"]:
        assert rule["operations"] == ["CREATE", "UPDATE"]


def test_every_label_that_the_rule_knows_is_in_the_policy() -> None:
    guard = Guard(
        name="guard",
        system_namespaces=("platform",),
        spot_classes=("gpus",),
        spot_taint_keys=("acme.io/evictable",),
    )
    variables = {one["name"]: one["expression"] for one in _policy(guard)["variables"]}
    pairs = json.loads(variables["labels"])

    expected = interruptible_values(["gpus"])
    assert pairs == [[key, value] for key, values in expected.items() for value in values]
    assert ["cloud.google.com/compute-class", "gpus"] in pairs
    assert json.loads(variables["anyValueTaintKeys"]) == ["acme.io/evictable"]


def test_each_variable_reads_only_earlier_ones() -> None:
    known: set[str] = set()
    for one in _policy(OWN)["variables"]:
        for part in one["expression"].split("variables.")[1:]:
            name = part.split(".")[0].split("[")[0].split(")")[0].split(" ")[0].split(",")[0]
            assert name in known, (one["name"], name)
        known.add(one["name"])


def test_texts_of_the_caller_are_texts_in_the_policy() -> None:
    assert literal('a"b\\c\n') == '"a\\"b\\\\c\\n"'
    assert literal(["a", ["b"]]) == '["a", ["b"]]'
    guard = Guard(name="guard", exempt_users=('ada" || true || "',))
    (condition,) = [
        one["expression"]
        for one in _policy(guard, "gke")["matchConditions"]
        if one["name"] == "not-by-a-manager"
    ]
    assert '"ada\\" || true || \\""' in condition


@pytest.mark.parametrize(
    ("pattern", "refused"),
    [
        ("platform", False),
        ("platform-*", False),
        ("p*", False),
        ("kube-systems", False),
        ("gke", False),
        ("gke-manage", False),
        ("kube-system", True),
        ("kube-*", True),
        ("k*", True),
        ("gke-managed-cim", True),
        ("gke-managed-c*", True),
        ("gke-*", True),
        ("gmp-system", True),
        ("*", True),
        ("*-system", True),
        ("Platform", True),
        ("plat*form", True),
        ("platform-", True),
        ("a" * 64, True),
    ],
)
def test_your_own_system_namespaces_are_not_those_of_gke(pattern: str, refused: bool) -> None:
    found = pattern_problems("system_namespaces", [pattern])

    assert bool(found) is refused
    assert [one.value for one in found] == [pattern] * len(found)


def test_namespaces_match_by_name_or_by_their_beginning() -> None:
    assert matches("ns", ["a", "b-*"]) == '(ns in ["a"] || ns.startsWith("b-"))'
    assert matches("ns", []) == "(false)"
    in_gke = [one["expression"] for one in _policy(OWN, "gke")["matchConditions"]][1]
    for pattern in SYSTEM_NAMESPACES:
        assert f'"{pattern.removesuffix("*")}"' in in_gke


def test_the_findings_are_those_of_the_guards_arguments() -> None:
    toleration = {"key": "acme.io/evictable", "operator": "Exists"}
    manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "dns", "namespace": "platform"},
        "spec": {
            "containers": [],
            "tolerations": [toleration],
            "nodeSelector": {"cloud.google.com/compute-class": "gpus"},
        },
    }
    guard = Guard(
        name="guard",
        system_namespaces=("platform",),
        spot_classes=("gpus",),
        spot_taint_keys=("acme.io/evictable",),
    )

    assert list(findings(OWN, manifest)) == []
    assert [one.value.partition(", ")[2] for one in findings(guard, manifest)] == [
        "tolerates acme.io/evictable",
        "selects cloud.google.com/compute-class=gpus",
    ]


def _declared(**args: Any) -> list[Declared]:
    given: Any = {"system_namespaces": ["platform"], **args}

    def program() -> None:
        provider = pulumi_kubernetes.Provider("here", render_yaml_to_directory="out")
        SystemPlacementGuard("guard", given, pulumi.ResourceOptions(providers=[provider]))

    return declare(program)


def test_the_component_declares_its_policies_as_typed_resources() -> None:
    declared = [one for one in _declared() if one.type.startswith("kubernetes:")]
    made = {one.name: one for one in declared}

    expected = {f"guard-{role}": one for role, one in guard_manifests(OWN).items()}
    assert set(made) == set(expected)
    for name, manifest in expected.items():
        token = f"kubernetes:admissionregistration.k8s.io/v1:{manifest['kind']}"
        assert made[name].type == token
        assert made[name].props["metadata"]["name"] == manifest["metadata"]["name"]
        assert made[name].props["spec"] == manifest["spec"]


def test_the_component_passes_its_arguments_on() -> None:
    args: dict[str, Any] = {
        "gke_action": "deny",
        "critical_action": GuardAction.DENY,
        "spot_classes": ["gpus"],
        "spot_taint_keys": ["acme.io/evictable"],
        "critical_priority_classes": ["platform"],
        "exempt_daemon_sets": False,
        "exempt_users": ["ada@example.com"],
        "guard_name": "other",
    }
    guard = Guard(
        name="other",
        system_namespaces=("platform",),
        gke_action=GuardAction.DENY,
        critical_action=GuardAction.DENY,
        spot_classes=("gpus",),
        spot_taint_keys=("acme.io/evictable",),
        critical_priority_classes=("platform",),
        exempt_daemon_sets=False,
        exempt_users=("ada@example.com",),
    )
    made = {one.name: one.props for one in _declared(**args)}

    for role, manifest in guard_manifests(guard).items():
        assert made[f"guard-{role}"]["spec"] == manifest["spec"]


@pytest.mark.parametrize(
    ("args", "key"),
    [
        ({"system_namespaces": None}, "system_namespaces"),
        ({"system_namespaces": "platform"}, "system_namespaces"),
        ({"system_namespaces": ["kube-system"]}, "system_namespaces"),
        ({"system_namespaces": ["a", "a"]}, "system_namespaces"),
        ({"gke_action": "Deny"}, "gke_action"),
        ({"critical_action": "warn"}, "critical_action"),
        ({"spot_classes": ["Spot"]}, "spot_classes"),
        ({"spot_classes": [1]}, "spot_classes"),
        ({"spot_taint_keys": ["acme.io/"]}, "spot_taint_keys"),
        ({"critical_priority_classes": ["A"]}, "critical_priority_classes"),
        ({"exempt_daemon_sets": "no"}, "exempt_daemon_sets"),
        ({"exempt_users": "ada@example.com"}, "exempt_users"),
        ({"guard_name": "a.b"}, "guard_name"),
        ({"namespaces": []}, "namespaces"),
    ],
)
def test_wrong_arguments_are_refused_by_name(args: dict[str, Any], key: str) -> None:
    with pytest.raises(ArgumentsError) as caught:
        _declared(**args)

    assert [one.key for one in caught.value.problems] == [key]


def test_every_mistake_is_told_at_once() -> None:
    wrong = {"gke_action": "x", "spot_classes": ["A"], "guard_name": ""}
    with pytest.raises(ArgumentsError) as caught:
        _declared(**wrong)

    assert {one.key for one in caught.value.problems} == set(wrong)
