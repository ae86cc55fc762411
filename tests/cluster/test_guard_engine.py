"""The guard as a component, with the real engine and provider against a real API server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.cluster.control_plane import ControlPlane
from sandbox.cluster.guard import guard_denies
from tests.cluster.guarded import Server, make_namespaces, server_of
from tests.engine.support import EmulatedProject, emulated_project

pytestmark = pytest.mark.engine

PROVIDER = """
import pulumi
import pulumi_kubernetes

provider = pulumi_kubernetes.Provider("here", kubeconfig={kubeconfig!r}, cluster_identifier="here")
"""
GUARD = """
from spotproof.workloads.system_placement_guard import SystemPlacementGuard

guard = SystemPlacementGuard(
    "guard", {args!r}, pulumi.ResourceOptions(providers=[provider])
)
pulumi.export("policies", guard.policy_names)
"""
WORKLOAD = """
spec = {{"containers": [{{"name": "main", "image": "example.invalid/work"}}], **{spec!r}}}
pulumi_kubernetes.apps.v1.Deployment(
    "dns",
    metadata={{
        "name": "dns",
        "namespace": {namespace!r},
        "annotations": {{"pulumi.com/skipAwait": "true"}},
    }},
    spec={{
        "selector": {{"matchLabels": {{"app": "dns"}}}},
        "template": {{"metadata": {{"labels": {{"app": "dns"}}}}, "spec": spec}},
    }},
    opts=pulumi.ResourceOptions(provider=provider),
)
"""
OWN = {"system_namespaces": ["platform"]}
BLANKET = {"tolerations": [{"operator": "Exists"}]}
DENIED = "Deployment platform/dns: tolerates every taint (operator Exists without a key)"


@pytest.fixture(scope="module")
def server(plane: ControlPlane) -> Iterator[Server]:
    with server_of(plane.kubeconfig) as server:
        make_namespaces(server, ["platform"])
        yield server


def guard_program(plane: ControlPlane, **args: Any) -> str:
    program = PROVIDER.format(kubeconfig=str(plane.kubeconfig))
    return program + GUARD.format(args={**OWN, **args})


def workload_program(plane: ControlPlane, spec: dict[str, Any], namespace: str = "platform") -> str:
    program = PROVIDER.format(kubeconfig=str(plane.kubeconfig))
    return program + WORKLOAD.format(spec=spec, namespace=namespace)


@pytest.fixture(scope="module")
def layer(
    plane: ControlPlane, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmulatedProject]:
    """The guard in a stack of its own, at work."""
    project = emulated_project(tmp_path_factory.mktemp("guard"), guard_program(plane))
    project.up().check()
    assert guard_denies(plane.client(), ["platform"])
    yield project
    project.destroy().check()


def test_an_update_and_a_refresh_after_it_change_nothing(layer: EmulatedProject) -> None:
    layer.up("--expect-no-changes").check()
    layer.preview("--refresh", "--expect-no-changes").check()

    assert layer.outputs() == {"policies": ["guard-own", "guard-gke", "guard-critical"]}


def test_a_preview_says_that_a_system_workload_may_run_on_spot(
    plane: ControlPlane, layer: EmulatedProject, tmp_path: Path
) -> None:
    workloads = emulated_project(tmp_path, workload_program(plane, BLANKET))

    created = workloads.preview()
    workloads.write(workload_program(plane, {}))
    workloads.up().check()
    workloads.write(workload_program(plane, BLANKET))
    updated = workloads.preview()
    refused = workloads.up()
    workloads.write(workload_program(plane, {}))
    workloads.up().check()
    workloads.destroy().check()

    for run in (created, updated, refused):
        assert not run.ok
        assert DENIED in run.text


def test_in_a_namespace_of_gke_the_preview_passes(
    plane: ControlPlane, layer: EmulatedProject, tmp_path: Path
) -> None:
    workloads = emulated_project(tmp_path, workload_program(plane, BLANKET, "kube-system"))

    workloads.preview().check()


def test_to_deny_in_gkes_namespaces_too_is_a_change_in_place(
    plane: ControlPlane, layer: EmulatedProject
) -> None:
    layer.write(guard_program(plane, gke_action="deny"))
    steps = layer.preview("--json").json()["steps"]
    ops = {step["urn"].rpartition("::")[2]: step["op"] for step in steps}

    assert {name for name, op in ops.items() if op == "update"} == {
        "guard-gke-policy",
        "guard-gke-binding",
    }
    assert not [op for op in ops.values() if op not in ("same", "update")]
    layer.up().check()
    assert guard_denies(plane.client(), ["platform", "kube-system"])
    layer.write(guard_program(plane))
    layer.up().check()


def test_a_destroyed_guard_denies_nothing(
    plane: ControlPlane, server: Server, tmp_path: Path
) -> None:
    project = emulated_project(tmp_path, guard_program(plane, guard_name="brief"))
    project.up().check()
    assert (
        server.http.get(
            "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/brief-own"
        ).status_code
        == 200
    )
    project.destroy().check()

    for kind in ("validatingadmissionpolicies", "validatingadmissionpolicybindings"):
        left = server.http.get(f"/apis/admissionregistration.k8s.io/v1/{kind}").json()["items"]
        assert not [one for one in left if one["metadata"]["name"].startswith("brief-")]


def test_wrong_arguments_are_one_error_without_a_traceback(
    plane: ControlPlane, tmp_path: Path
) -> None:
    wrong = guard_program(plane, system_namespaces=["kube-system"], gke_action="block")
    run = emulated_project(tmp_path, wrong).preview()

    assert not run.ok
    assert "SystemPlacementGuard guard: 2 problems" in run.text
    assert "kube-system" in run.text
    assert "Traceback" not in run.text
