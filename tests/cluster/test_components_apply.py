"""Every component on a real API server, by the real engine: applied, unchanged, destroyed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lightkube import Client
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Namespace

from sandbox.cluster import kinds
from sandbox.cluster.control_plane import ControlPlane
from spotproof.reader import Reader
from spotproof.workloads.system_placement_guard import (
    SystemPlacementGuardArgs,
    plan_system_placement_guard,
)
from tests.engine.support import EmulatedProject, emulated_project
from tests.unit.workload_examples import EXAMPLES, manifests

NAMESPACE = "training"
PROGRAM = """
import json
from pathlib import Path

import pulumi
import pulumi_kubernetes
import spotproof
from spotproof.workloads.system_placement_guard import SystemPlacementGuard

provider = pulumi_kubernetes.Provider(
    "in-cluster", kubeconfig=Path({kubeconfig!r}).read_text(), cluster_identifier="a-test"
)
options = pulumi.ResourceOptions(providers=[provider])
for component, name, args in json.loads({made!r}):
    kind = getattr(spotproof, component, SystemPlacementGuard)
    kind(name, args, options)
"""
GUARD = "SystemPlacementGuard"
EVERY = {**EXAMPLES, GUARD: [{"system_namespaces": ["platform"]}]}
FORMS = [(component, number) for component, all in EVERY.items() for number in range(len(all))]

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("job_sets")]


def _args(component: str, number: int) -> dict[str, Any]:
    return {key: value for key, value in EVERY[component][number].items() if value is not None}


def _name(component: str, number: int) -> str:
    return f"{component.lower()}-{number}"


def _objects(component: str, number: int) -> list[dict[str, Any]]:
    args, name = _args(component, number), _name(component, number)
    if component == GUARD:
        read = Reader(args, SystemPlacementGuardArgs.__annotations__)
        return list(plan_system_placement_guard(read, name).manifests.values())
    return manifests(component, args, name)


@pytest.fixture(scope="module")
def client(plane: ControlPlane) -> Iterator[Client]:
    """A client of an API server that knows all kinds, with an empty namespace for work."""
    found = plane.client()
    kinds.install(found)
    found.apply(Namespace(metadata=ObjectMeta(name=NAMESPACE)), force=True)
    yield found
    kinds.remove(found)


def _path(one: dict[str, Any]) -> str:
    """Where the API server keeps an object."""
    plurals = {
        "ComputeClass": "computeclasses",
        "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    }
    version, kind, about = one["apiVersion"], one["kind"], one["metadata"]
    plural = plurals.get(kind, f"{kind.lower()}s")
    place = f"namespaces/{about['namespace']}/" if about.get("namespace") else ""
    return f"{'apis' if '/' in version else 'api'}/{version}/{place}{plural}"


class Api:
    """The API server as it is, without a client's own opinion of the objects."""

    def __init__(self, client: Client) -> None:
        self._http = client._client._client

    def dry_run(self, one: dict[str, Any]) -> tuple[int, str]:
        """How a strict server answers a new object, which is not kept."""
        asked = {"dryRun": "All", "fieldValidation": "Strict"}
        answer = self._http.post(f"/{_path(one)}", params=asked, json=one)
        return answer.status_code, answer.text

    def has(self, one: dict[str, Any]) -> bool:
        answer = self._http.get(f"/{_path(one)}/{one['metadata']['name']}")
        assert answer.status_code in (200, 404), answer.text
        return answer.status_code == 200 and "deletionTimestamp" not in answer.json()["metadata"]


@pytest.fixture(scope="module")
def api(client: Client) -> Api:
    return Api(client)


@pytest.mark.parametrize(("component", "number"), FORMS)
def test_a_strict_server_accepts_every_object(api: Api, component: str, number: int) -> None:
    for one in _objects(component, number):
        code, said = api.dry_run(one)
        assert code == 201, f"{one['kind']}: {said}"


def test_a_strict_server_accepts_the_jobs_of_a_job_set(api: Api) -> None:
    """The server sees them first when their JobSet makes them, and then nobody is told."""
    made = [one for number, _ in enumerate(EVERY["SpotJob"]) for one in _objects("SpotJob", number)]
    found = [one for one in made if one["kind"] == "JobSet"]
    assert found
    for one in found:
        for inner in one["spec"]["replicatedJobs"]:
            about = {**one["metadata"], "name": f"{one['metadata']['name']}-{inner['name']}-0"}
            job = {**inner["template"], "apiVersion": "batch/v1", "kind": "Job", "metadata": about}
            code, said = api.dry_run(job)
            assert code == 201, said


def _spoilt(value: Any, at: list[str]) -> Iterator[tuple[str, Any]]:
    """The object with one misspelt field, for each mapping in its spec that has fixed fields."""
    if isinstance(value, dict):
        free = {"matchLabels", "nodeLabels", "nodeSelector", "labels", "annotations"}
        text = {"parameters", "metadata", "limits", "requests"}
        if not at or at[-1] not in free | text:
            yield ".".join(at), {**value, "mispelt": "x"}
        for key, inner in value.items():
            if key in free:
                continue
            for path, spoilt in _spoilt(inner, [*at, key]):
                yield path, {**value, key: spoilt}
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            for path, spoilt in _spoilt(inner, [*at, str(number)]):
                yield path, [*value[:number], spoilt, *value[number + 1 :]]


CUSTOM = [("CapacityClass", 0), ("KueueQueues", 0), ("QueueWorkers", 0), ("FlexStartJob", 5)]


@pytest.mark.parametrize(("component", "number"), CUSTOM)
def test_a_misspelt_field_of_a_custom_kind_is_found_anywhere(
    api: Api, component: str, number: int
) -> None:
    custom = [one for one in _objects(component, number) if "." in one["apiVersion"]]
    assert custom
    for one in custom:
        for path, spec in _spoilt(one["spec"], []):
            code, said = api.dry_run({**one, "spec": spec})
            assert code == 400, f"{one['kind']}: spec.{path}: {said}"
            assert "mispelt" in said


@pytest.fixture(scope="module")
def project(
    plane: ControlPlane, client: Client, tmp_path_factory: pytest.TempPathFactory
) -> EmulatedProject:
    """A project with all forms of all components."""
    made = [(component, _name(component, n), _args(component, n)) for component, n in FORMS]
    program = PROGRAM.format(kubeconfig=str(plane.kubeconfig), made=json.dumps(made))
    return emulated_project(tmp_path_factory.mktemp("applied"), program)


def test_every_component_is_applied_stays_unchanged_and_goes(
    project: EmulatedProject, api: Api
) -> None:
    every = [one for component, number in FORMS for one in _objects(component, number)]
    project.preview().check()
    project.up().check()
    gone = [one["metadata"]["name"] for one in every if not api.has(one)]
    assert not gone

    project.up("--expect-no-changes").check()
    project.preview("--expect-no-changes").check()
    project.refresh("--expect-no-changes").check()
    project.up("--expect-no-changes").check()

    project.destroy().check()
    assert not project.resources()
    left = [f"{one['kind']} {one['metadata']['name']}" for one in every if api.has(one)]
    assert not left


def test_without_a_kind_a_preview_is_green(
    plane: ControlPlane, client: Client, tmp_path: Path
) -> None:
    """Why the launcher asks first; when this fails, it need not ask any more."""
    kinds.remove(client, "computeclasses.cloud.google.com")
    try:
        made = [("CapacityClass", "class", _args("CapacityClass", 0))]
        program = PROGRAM.format(kubeconfig=str(plane.kubeconfig), made=json.dumps(made))
        assert emulated_project(tmp_path, program).preview().ok
    finally:
        kinds.install(client)
