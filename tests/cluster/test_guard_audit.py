"""A guard that only watches, the checks of the API server on its policies, and what they cost."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.cluster.control_plane import ControlPlane
from spotproof_gke.admission import Guard
from tests.cluster.guard_specs import (
    DOUBTFUL,
    EVERY_TAINT,
    KEPT_OFF,
    SPECS,
    SPOT,
    Spec,
    expression,
    selects,
    tolerates,
)
from tests.cluster.guarded import (
    PERSON,
    Server,
    await_policies,
    guarding,
    make_namespaces,
    server_of,
    workload,
)

GUARD = Guard(
    name="watching",
    system_namespaces=("platform",),
    spot_classes=tuple(f"class-{number}" for number in range(50)),
    spot_taint_keys=tuple(f"acme.io/taint-{number}" for number in range(20)),
    exempt_users=("deployer@example.com",),
)


@pytest.fixture(scope="module")
def admin(plane: ControlPlane) -> Iterator[Server]:
    with server_of(plane.kubeconfig) as server:
        make_namespaces(server, ["platform", "infra", "edge"])
        yield server


@pytest.fixture(scope="module")
def policies(admin: Server) -> Iterator[dict[str, dict[str, Any]]]:
    with guarding(admin, GUARD) as manifests:
        yield manifests


@pytest.fixture(scope="module")
def server(admin: Server, policies: dict[str, dict[str, Any]]) -> Server:
    return admin.asked_by(PERSON)


@pytest.mark.parametrize("namespace", ["kube-system", "kube-public"])
@pytest.mark.parametrize("name", ["tolerates every taint", "selects gke-spot=true", "nodeName"])
def test_in_the_namespaces_of_gke_it_warns_and_lets_pass(
    server: Server, namespace: str, name: str
) -> None:
    reply = server.create(workload("Deployment", SPECS[name], namespace), dry_run=True)

    assert reply.ok
    assert reply.warned
    assert reply.clauses


def test_of_critical_pods_elsewhere_it_warns(server: Server) -> None:
    critical = {**EVERY_TAINT, "priorityClassName": "system-node-critical"}

    reply = server.create(workload("Deployment", critical, "edge"), dry_run=True)

    assert reply.ok
    assert reply.warned


def test_in_your_own_system_namespaces_it_denies_from_the_start(server: Server) -> None:
    assert server.create(workload("Deployment", EVERY_TAINT, "platform"), dry_run=True).denied


@pytest.mark.parametrize("namespace", ["kube-system", "edge", "platform"])
def test_of_what_keeps_off_spot_it_says_nothing(server: Server, namespace: str) -> None:
    for spec in KEPT_OFF.values():
        reply = server.create(workload("Deployment", spec, namespace), dry_run=True)

        assert reply.ok
        assert not reply.warned, spec


def test_the_api_server_finds_no_fault_in_the_types(
    admin: Server, policies: dict[str, dict[str, Any]]
) -> None:
    for role, manifest in policies.items():
        if role.endswith("policy"):
            assert admin.get(manifest).body["status"]["typeChecking"] == {}, role


def test_the_api_server_would_find_a_fault_in_the_types(
    admin: Server, policies: dict[str, dict[str, Any]]
) -> None:
    wrong = copy.deepcopy(policies["own-policy"])
    wrong["metadata"]["name"] = "wrong"
    wrong["spec"]["validations"][0]["expression"] += " || object.spec.nosuch == 1"
    assert admin.create(wrong).ok

    await_policies(admin, {"wrong": wrong})
    warnings = admin.get(wrong).body["status"]["typeChecking"]["expressionWarnings"]
    admin.delete(wrong)

    assert "nosuch" in json.dumps(warnings)


def _large(tolerations: int, terms: int, values: int) -> Spec:
    """A specification of a size that nobody writes by hand."""
    words = [f"value-{number}" for number in range(values)]
    term = {
        "matchExpressions": [
            expression(f"acme.io/label-{number}", "In", *words) for number in range(10)
        ]
    }
    preferred = [{"weight": 1, "preference": term}] * terms
    return {
        "tolerations": [
            {"key": f"acme.io/other-{number}", "operator": "Exists"}
            for number in range(tolerations)
        ],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [term] * terms
                },
                "preferredDuringSchedulingIgnoredDuringExecution": preferred,
            }
        },
    }


@pytest.mark.parametrize(
    ("tolerations", "terms", "values"), [(100, 10, 10), (300, 40, 30), (3000, 1, 1)]
)
def test_a_large_workload_is_judged_within_the_limits_of_the_api_server(
    server: Server, admin: Server, tolerations: int, terms: int, values: int
) -> None:
    large = _large(tolerations, terms, values)

    for namespace in ("platform", "kube-system"):
        plain = server.create(workload("Deployment", large, namespace), dry_run=True)
        assert plain.ok, plain.message
        assert not plain.warned

    worse = {**large, "tolerations": [*large["tolerations"], *EVERY_TAINT["tolerations"]]}
    reply = server.create(workload("Deployment", worse, "platform"), dry_run=True)
    assert reply.clauses == {"tolerates every taint (operator Exists without a key)"}

    made = workload("Deployment", large, "platform", "large", replicas=0)
    assert admin.create(made).ok
    changed = workload("Deployment", worse, "platform", "large", replicas=0)
    assert server.replace(changed, dry_run=True).denied
    admin.delete(made)


def test_every_class_and_taint_of_the_arguments_is_known(server: Server) -> None:
    for name in GUARD.spot_classes:
        spec = selects("cloud.google.com/compute-class", name)
        assert server.create(workload("Deployment", spec, "platform"), dry_run=True).denied
    for key in GUARD.spot_taint_keys:
        spec = tolerates(key, "any")
        assert server.create(workload("Deployment", spec, "platform"), dry_run=True).denied
    other = {**selects("cloud.google.com/compute-class", "class-50"), **tolerates("acme.io/taint")}
    assert server.create(workload("Deployment", other, "platform"), dry_run=True).ok


def test_without_exemption_daemon_sets_are_judged_too(admin: Server) -> None:
    strict = Guard(name="strict", system_namespaces=("infra",), exempt_daemon_sets=False)
    with guarding(admin, strict):
        asking = admin.asked_by(PERSON)
        for name in ("tolerates every taint", *DOUBTFUL):
            manifest = workload("DaemonSet", SPECS[name], "infra")
            assert asking.create(manifest, dry_run=True).denied
        good = workload("DaemonSet", tolerates("nvidia.com/gpu", exists=True), "infra")
        assert asking.create(good, dry_run=True).ok


def test_an_exempt_user_gets_no_warning(admin: Server, server: Server) -> None:
    exempt = admin.asked_by("deployer@example.com")
    for namespace in ("platform", "kube-system"):
        reply = exempt.create(workload("Pod", selects(SPOT, "true"), namespace), dry_run=True)
        assert reply.ok
        assert not reply.warned
