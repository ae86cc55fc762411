"""`spotproof audit` on the drill's cluster finds what is wrong there, and nothing else."""

import copy
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lightkube.codecs import from_dict
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Pod, ServiceAccount

from sandbox.cluster.control_plane import ControlPlane
from sandbox.cluster.offers import Cluster
from sandbox.drill.workloads import reference_workloads
from spotproof_gke.audit.kubectl import CUSTOM_KINDS, KINDS
from spotproof_gke.capacity import NODE_POOL_KEY, Capacity
from tests.cluster.conftest import ZONES, World, gpu_pool, system_pool
from tests.cluster.guarded import server_of
from tests.cluster.manifests import deployment

GROWS = {"autoscaling": {"totalMaxNodeCount": 3}}
POOLS = [
    system_pool(),
    gpu_pool("l4-spot", Capacity.SPOT, "g2-standard-8", **GROWS),
    gpu_pool("a100-flex", Capacity.FLEX_START, "a2-highgpu-1g", **GROWS),
]
WORKLOADS = reference_workloads(Cluster(ZONES, POOLS))
AUDIT_SECONDS = 120
VERSIONS = {
    "": "/api/v1",
    "apps": "/apis/apps/v1",
    "batch": "/apis/batch/v1",
    "cloud.google.com": "/apis/cloud.google.com/v1",
    "jobset.x-k8s.io": "/apis/jobset.x-k8s.io/v1alpha2",
}

pytestmark = pytest.mark.usefixtures("job_sets")


@pytest.fixture
def audit(plane: ControlPlane, tmp_path: Path) -> Callable[[], set[tuple[str, str]]]:
    """Runs the command on the cluster: what it finds, by rule and place.

    By kubectl, where this machine has one; else on what `kubectl get -o json` would write.
    """

    def dumped() -> str:
        objects: list[Any] = []
        with server_of(plane.kubeconfig) as server:
            for kind in (*KINDS, *CUSTOM_KINDS):
                name, _, group = kind.partition(".")
                reply = server.http.get(f"{VERSIONS[group]}/{name}")
                if reply.status_code != 404:
                    objects.append(reply.json())
        file = tmp_path / "cluster.json"
        file.write_text("\n".join(map(json.dumps, objects)))
        return str(file)

    def found() -> set[tuple[str, str]]:
        has_kubectl = shutil.which("kubectl") is not None
        given = ["--kubeconfig", str(plane.kubeconfig)] if has_kubectl else [dumped()]
        ended = subprocess.run(
            [sys.executable, "-m", "spotproof_gke.cli", "audit", "--json", *given],
            capture_output=True,
            text=True,
            env={**os.environ, "KUBECONFIG": ""},
            timeout=AUDIT_SECONDS,
        )
        assert ended.returncode in (0, 1), ended.stderr
        report = json.loads(ended.stdout)
        assert not report["cannotBeKnown"]
        return {(each["rule"], each["where"]) for each in report["findings"]}

    return found


@pytest.fixture
def drilled(world: Callable[..., World]) -> Iterator[World]:
    """The drill's cluster, with the drill's workloads running in a namespace that is there."""
    made = world(*POOLS)
    accounts = [
        ServiceAccount.from_dict({"metadata": {"name": name, "namespace": "default"}})
        for name in ("trainer", "worker")
    ]
    made.apply(*accounts)
    jobs = (WORKLOADS.spot_job, WORKLOADS.flex_start_job, WORKLOADS.stranger)
    made.apply(*(from_dict(each.manifest) for each in WORKLOADS.system))
    made.apply(*(from_dict(at_home(each.manifest)) for each in jobs))
    running(made, "the workloads of the drill")
    yield made
    for each in ("trainer", "worker"):
        made.client.delete(ServiceAccount, each, namespace="default")


def at_home(manifest: dict[str, Any]) -> dict[str, Any]:
    kept = copy.deepcopy(manifest)
    kept["metadata"]["namespace"] = "default"
    return kept


def running(on: World, what: str) -> None:
    def all_run() -> bool:
        on.autoscaler.step()
        pods = list(on.client.list(Pod, namespace="*"))
        return bool(pods) and all(p.status and p.status.phase == "Running" for p in pods)

    on.wait(f"{what} running", all_run)


def test_audit_finds_the_three_planted_faults_and_nothing_else(
    world: Callable[..., World], drilled: World, audit: Callable[[], set[tuple[str, str]]]
) -> None:
    assert audit() == set()

    bare = gpu_pool("bare", Capacity.SPOT, "g2-standard-8", initialNodeCount=1)
    bare["nodeConfig"] |= {"taints": [], "effectiveTaints": []}
    world(bare)
    drilled.apply(
        deployment("metrics", namespace="kube-system", nodeSelector={NODE_POOL_KEY: "bare"})
    )
    (replicated,) = WORKLOADS.spot_job.manifest["spec"]["replicatedJobs"]
    hasty = copy.deepcopy(replicated["template"]["spec"])
    del hasty["podFailurePolicy"]
    metadata = {"name": "hasty", "namespace": "default"}
    drilled.apply(Job.from_dict({"metadata": metadata, "spec": hasty}))
    running(drilled, "the planted workloads")

    assert audit() == {
        ("spot-pool-taint", "node pool bare"),
        ("system-pod-on-spot", "Deployment kube-system/metrics"),
        ("spot-job-failure-policy", "Job default/hasty"),
    }
