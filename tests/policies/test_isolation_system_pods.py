"""Which pods are the system's, in workloads and in the values of Helm releases."""

from typing import Any

import pytest

from spotproof_gke.rules.compute_classes import system_compute_classes
from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.helm_values import release_namespace, scheduled_values
from spotproof_gke.rules.reading import UNKNOWN
from spotproof_gke.rules.spot_isolation import system_workloads
from spotproof_gke.rules.system_pods import system_pods

RELEASE = "kubernetes:helm.sh/v3:Release"
POD = "kubernetes:core/v1:Pod"
ON_SPOT = {"nodeSelector": {"cloud.google.com/gke-spot": "true"}}


def _release(values: Any, **props: Any) -> Resource:
    return Resource(RELEASE, "a", props={"values": values, **props})


def _pod(namespace: Any, spec: Any) -> Resource:
    return Resource(POD, "a", props={"metadata": {"namespace": namespace}, "spec": spec})


@pytest.mark.parametrize(
    ("values", "paths"),
    [
        ({"nodeSelector": {"a": "b"}}, [""]),
        ({"nodeName": "a"}, [""]),
        ({"a": {"tolerations": [{"key": "k"}]}, "b": {"affinity": {"c": {}}}}, ["a", "b"]),
        ({"a": [{"x": 1}, {"nodeSelector": {"a": "b"}}]}, ["a.1"]),
        ({"tolerations": [], "nodeSelector": {}, "affinity": None, "nodeName": ""}, []),
        ({"a": 1, "b": "nodeSelector", "c": ["tolerations", 2, None]}, []),
        (UNKNOWN, [""]),
        ({"a": UNKNOWN}, []),
        (None, []),
        ("text", []),
    ],
)
def test_places_in_values_that_say_where_pods_run(values, paths) -> None:
    assert [each.path for each in scheduled_values(_release(values))] == paths


def test_values_of_any_real_depth_are_read_and_no_deeper() -> None:
    def nested(levels: int) -> Any:
        value: Any = ON_SPOT
        for _ in range(levels):
            value = {"a": value}
        return value

    assert [each.path for each in scheduled_values(_release(nested(12)))] == [".".join("a" * 12)]
    assert scheduled_values(_release(nested(5000))) == []


@pytest.mark.parametrize(
    "type_", ["kubernetes:helm.sh/v4:Chart", "kubernetes:acme.io/v1:Release", POD]
)
def test_values_of_what_is_no_release_are_not_read(type_: str) -> None:
    assert scheduled_values(Resource(type_, "a", props={"values": ON_SPOT})) == []


@pytest.mark.parametrize(
    ("own", "provider", "namespace"),
    [
        ("a", {"namespace": "b"}, "a"),
        (" a ", {}, " a "),
        (None, {"namespace": "b"}, "b"),
        ("", {}, "default"),
        (7, {}, "default"),
        (UNKNOWN, {"namespace": "b"}, UNKNOWN),
        (None, {"namespace": UNKNOWN}, UNKNOWN),
    ],
)
def test_release_lands_in_its_own_namespace_then_in_the_providers(own, provider, namespace) -> None:
    release = Resource(RELEASE, "a", props={"namespace": own}, provider=provider)

    assert release_namespace(release) == namespace


def test_daemon_sets_are_passed_over_unless_they_are_asked_for() -> None:
    daemon_set = Resource(
        "kubernetes:apps/v1:DaemonSet",
        "a",
        props={"metadata": {"namespace": "kube-system"}, "spec": {"template": {"spec": ON_SPOT}}},
    )
    release = _release({"daemonSet": ON_SPOT}, namespace="kube-system")
    cheap = Resource(
        "kubernetes:cloud.google.com/v1:ComputeClass",
        "c",
        props={"spec": {"priorities": [{"spot": True}]}},
    )
    asks = {"nodeSelector": {"cloud.google.com/compute-class": "c"}}
    chosen = Resource(
        "kubernetes:apps/v1:DaemonSet",
        "a",
        props={"metadata": {"namespace": "kube-system"}, "spec": {"template": {"spec": asks}}},
    )

    for resource in (daemon_set, release):
        assert list(system_pods(resource)) == []
        assert list(system_workloads(resource)) == []
        assert len(list(system_pods(resource, exempt_daemon_sets=False))) == 1
        assert len(list(system_workloads(resource, exempt_daemon_sets=False))) == 1
    assert list(system_compute_classes(Stack([cheap, chosen]))) == []
    found = list(system_compute_classes(Stack([cheap, chosen]), exempt_daemon_sets=False))
    assert [finding.certain for finding in found] == [True]


@pytest.mark.parametrize(
    ("namespace", "priority", "what", "certain"),
    [
        ("kube-system", None, "Pod in namespace kube-system", True),
        ("gke-managed-cim", "high", "Pod in namespace gke-managed-cim", True),
        ("edge", "system-node-critical", "Pod of priority system-node-critical", True),
        (UNKNOWN, "system-node-critical", "Pod of priority system-node-critical", True),
        (UNKNOWN, None, "Pod in an unknown namespace", False),
        (UNKNOWN, UNKNOWN, "Pod in an unknown namespace", False),
        ("edge", UNKNOWN, "Pod of an unknown priority", False),
        ("edge", "high", None, None),
        ("edge", None, None, None),
        ("", None, None, None),
    ],
)
def test_what_makes_a_pod_one_of_the_systems(namespace, priority, what, certain) -> None:
    found = list(system_pods(_pod(namespace, {"priorityClassName": priority, "containers": []})))

    assert [(pod.what, pod.certain) for pod in found] == ([(what, certain)] if what else [])


def test_an_empty_name_in_the_configuration_makes_no_pod_critical() -> None:
    pod = _pod("edge", {"containers": []})

    assert list(system_pods(pod, critical_priority_classes=[""])) == []
    assert list(system_pods(pod, ["", "kube-*"])) == []


def test_finding_of_a_release_says_where_in_its_values() -> None:
    top = list(system_workloads(_release(ON_SPOT, namespace="kube-system")))
    deep = list(system_workloads(_release({"web": ON_SPOT}, namespace="kube-system")))
    selects = "selects cloud.google.com/gke-spot=true"

    assert [each.value for each in top] == [f"Release in namespace kube-system, values: {selects}"]
    assert [each.value for each in deep] == [
        f"Release in namespace kube-system, values web: {selects}"
    ]


def test_blanket_toleration_in_values_is_certain_only_when_daemon_sets_are_judged() -> None:
    release = _release({"tolerations": [{"operator": "Exists"}]}, namespace="kube-system")

    assert [each.certain for each in system_workloads(release)] == [False]
    assert [each.certain for each in system_workloads(release, exempt_daemon_sets=False)] == [True]
