"""The program with `workloads: apply`: an emulated cloud, and a real API server for its cluster."""

import base64
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from lightkube import Client
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Namespace, ServiceAccount

import settings
import stack_file
from sandbox.cluster import kinds
from sandbox.cluster.control_plane import ControlPlane
from sandbox.cluster.guard import guard_denies
from sandbox.environment import Sandbox
from sandbox.reach import gate
from sandbox.reach.server import NoAnswerError, Server
from spotproof_gke.workloads.controllers import CONTROLLERS, Controller
from tests.cluster.test_components_apply import Api
from tests.engine.support import EmulatedProject, emulated_project, engine

ROOT = Path(__file__).parents[2]
SHOWCASE, _ = stack_file.read(ROOT / "stacks" / "Pulumi.showcase.yaml")
PROGRAM = """
import json
import runpy
import sys

sys.path.insert(0, {infra!r})
import in_cluster

own = in_cluster.kubeconfig


def local(name, endpoint):
    assert endpoint.endswith(".goog"), endpoint
    config = json.loads(own(name, endpoint))
    config["clusters"][0]["cluster"] = {cluster!r}
    return json.dumps(config)


in_cluster.kubeconfig = local
runpy.run_path({infra!r} + "/__main__.py", run_name="__main__")
"""

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("job_sets")]


@pytest.fixture
def client(plane: ControlPlane) -> Iterator[Client]:
    found = plane.client()
    yield found
    kinds.remove(found)


def _config() -> dict[str, Any]:
    return {**SHOWCASE, "spotproof:workloads": "apply"}


def _kubeconfig(plane: ControlPlane) -> dict[str, Any]:
    return yaml.safe_load(plane.kubeconfig.read_text())


def _server(plane: ControlPlane, token: str | None = None) -> Server:
    config = _kubeconfig(plane)
    about = config["clusters"][0]["cluster"]
    authority = base64.b64decode(about["certificate-authority-data"]).decode()
    own = config["users"][0]["user"]["token"]
    return Server(about["server"], own if token is None else token, authority)


@pytest.fixture
def project(plane: ControlPlane, tmp_path: Path) -> EmulatedProject:
    """The real program; a stand-in for the plugin of gcloud gives the token of the API server."""
    config = _kubeconfig(plane)
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "kind": "ExecCredential",
        "status": {"token": config["users"][0]["user"]["token"]},
    }
    plugin = tmp_path / "bin" / "gke-gcloud-auth-plugin"
    plugin.parent.mkdir()
    plugin.write_text(f"#!/bin/sh\necho '{json.dumps(credential)}'\n")
    plugin.chmod(0o700)
    path = Sandbox(tmp_path / "sandbox").environment(engine())["PATH"]
    program = PROGRAM.format(infra=str(ROOT / "infra"), cluster=config["clusters"][0]["cluster"])
    return emulated_project(
        tmp_path,
        program,
        _config(),
        env={"PATH": f"{plugin.parent}{os.pathsep}{path}"},
    )


def test_the_program_applies_its_objects_changes_nothing_again_and_takes_them_away(
    project: EmulatedProject, client: Client
) -> None:
    kinds.install(client)
    theirs = _made_by_others(client)
    platform = Namespace(metadata=ObjectMeta(name="platform"))
    client.apply(platform, field_manager="test")
    project.up().check()
    api = Api(client)
    wanted = settings.load(_config(), "test").manifests
    assert [one["metadata"]["name"] for one in wanted if not api.has(one)] == []
    for namespace, account in (("training", "trainer"), ("batch", "worker")):
        assert client.get(ServiceAccount, account, namespace=namespace)
    assert guard_denies(client, ["platform"])
    training = json.dumps(project.resource("kubernetes:jobset.x-k8s.io/v1alpha2:JobSet")["inputs"])
    bucket = project.outputs()["checkpointBucket"]
    assert f'"{bucket}/pretraining"' in training

    _comes_after_cluster_and_pools(project)

    project.up("--expect-no-changes").check()
    project.refresh("--expect-no-changes").check()

    project.destroy().check()
    assert not project.resources()
    assert [one["metadata"]["name"] for one in wanted if api.has(one)] == []
    # What others keep in a namespace would go with it.
    for name in ("training", "batch"):
        assert client.get(Namespace, name).metadata.deletionTimestamp is None
    there = client.get(ServiceAccount, "worker", namespace="batch")
    assert there.metadata.uid == theirs.metadata.uid
    assert there.imagePullSecrets == theirs.imagePullSecrets


def _made_by_others(client: Client) -> ServiceAccount:
    """A service account that was there before the program, and that other work runs as."""
    client.apply(Namespace.from_dict({"metadata": {"name": "batch"}}))
    account = {
        "metadata": {"name": "worker", "namespace": "batch"},
        "imagePullSecrets": [{"name": "registry"}],
    }
    return client.apply(ServiceAccount.from_dict(account))


def _comes_after_cluster_and_pools(project: EmulatedProject) -> None:
    every = project.resources()
    provider = project.resource("pulumi:providers:kubernetes", "in-cluster")
    needed = ("container/cluster:", "container/nodePool:", "subscription:", "storage/bucket:")
    before = [one["urn"] for one in every if any(kind in one["type"] for kind in needed)]
    assert len(before) > 5
    assert not set(before) - set(provider["dependencies"])
    # Without it a new certificate or endpoint would remake all that runs.
    cluster = project.resource("spotproof:index:GkeCluster")["outputs"]["clusterId"]
    assert provider["inputs"]["clusterIdentifier"] == cluster
    inside = [one for one in every if one["type"].startswith("kubernetes:")]
    assert {one["provider"].rpartition("::")[0] for one in inside} == {provider["urn"]}
    guard = {one["urn"] for one in inside if "admissionregistration" in one["type"]}
    assert len(guard) == 6
    by_urn = {one["urn"]: one for one in every}
    early = [
        one["urn"]
        for one in inside
        if one["urn"] not in guard and guard - set(_after(one)) - set(_after(by_urn[one["parent"]]))
    ]
    assert early == []


def _after(resource: dict[str, Any]) -> list[str]:
    return resource.get("dependencies") or []


def _once(
    right: Callable[[list[str]], bool], plane: ControlPlane, wanted: list[Controller]
) -> list[str]:
    """What the cluster lacks once that is as expected: a server lists its kinds with a delay."""
    deadline = time.monotonic() + 60
    while not right(found := gate.lacks(_server(plane), wanted, "1.30.0")):
        assert time.monotonic() < deadline, found
        time.sleep(0.2)
    return found


NEEDED = ("jobset", "kueue", "keda", "compute-classes", "admission-policies")


def test_the_launcher_finds_what_a_real_server_lacks(plane: ControlPlane, client: Client) -> None:
    wanted = [CONTROLLERS[name] for name in NEEDED]
    # The manager of JobSets runs beside this control plane.
    lacking = "\n".join(gate.lacks(_server(plane), wanted, "1.30.0"))
    for word in ("Kueue is missing", "KEDA is missing", "compute classes of GKE is missing"):
        assert word in lacking
    assert "JobSet is missing" not in lacking
    assert "admission policies" not in lacking
    kinds.install(client)
    assert _once(lambda found: not found, plane, wanted) == []
    kinds.remove(client, "clusterqueues.kueue.x-k8s.io")
    (only,) = _once(bool, plane, wanted)
    assert "does not serve kueue.x-k8s.io/v1beta2 ClusterQueue" in only
    (old,) = gate.lacks(_server(plane), (), "1.99.0")
    assert "is too old" in old


def test_the_launcher_tells_who_is_not_known(plane: ControlPlane) -> None:
    with pytest.raises(NoAnswerError) as caught:
        _server(plane, "wrong").served(())
    assert "does not know who asks (401)" in str(caught.value)


def test_the_launcher_tells_of_a_certificate_that_nobody_trusts(plane: ControlPlane) -> None:
    with pytest.raises(NoAnswerError) as caught:
        Server(_server(plane).url).check_ready()
    assert "a certificate that this machine does not trust" in str(caught.value)
