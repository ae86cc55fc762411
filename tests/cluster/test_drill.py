"""A drill shows which promises are broken, and leaves nothing behind.

That it keeps all of them is shown where the README is followed (test_newcomer).
"""

import contextlib
import copy
import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lightkube.codecs import from_dict
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Node

from sandbox.cluster import jobset
from sandbox.cluster.binaries import lookup
from sandbox.cluster.control_plane import ControlPlane
from sandbox.cluster.eviction import take_away
from sandbox.cluster.offers import Cluster
from sandbox.drill import local
from sandbox.drill.guard import Post, StackGuard
from sandbox.drill.observed import observe
from sandbox.drill.play import play
from sandbox.drill.report import Report
from sandbox.drill.scenes import SCENES
from sandbox.drill.stage import BrokenPromise, Clock, Stage
from sandbox.drill.terminal import Lines
from sandbox.drill.watch import NothingToWatchError, Watch
from sandbox.drill.workloads import reference_workloads
from sandbox.paths import ROOT
from spotproof_gke.admission import Guard, guard_manifests
from spotproof_gke.capacity import Capacity
from spotproof_gke.stack_state.processes import commands
from tests.cluster.conftest import WAIT_SECONDS, ZONES, gpu_pool, system_pool, unschedulable
from tests.cluster.manifests import SPOT_SELECTOR, SPOT_TOLERATION, deployment, job

GROWS = {"autoscaling": {"totalMaxNodeCount": 3}}


def command(*arguments: str | Path) -> list[str | Path]:
    return [sys.executable, "-m", "sandbox.drill", *arguments]


def left_of(folder: Path) -> list[str]:
    """Commands of all processes that have to do with a folder."""
    return [" ".join(words) for _, words in commands() if any(str(folder) in w for w in words)]


@pytest.fixture
def plane_with_job_sets(tmp_path: Path) -> Iterator[ControlPlane]:
    binaries, manager = lookup(), jobset.lookup()
    assert binaries, "there is no control plane: run `make control-plane`"
    assert manager, "there is no JobSet manager: run `make control-plane`"
    with ControlPlane(tmp_path / "plane", binaries, manager) as started:
        yield started


def test_a_drill_shows_which_promises_are_broken(plane_with_job_sets):
    """Without a taint system pods get onto Spot; without a failure policy retries are used up."""
    spot = gpu_pool("l4-spot", Capacity.SPOT, "g2-standard-8", **GROWS)
    spot["nodeConfig"] |= {"taints": [], "effectiveTaints": []}
    flexible = gpu_pool("a100-flex", Capacity.FLEX_START, "a2-highgpu-1g", **GROWS)
    cluster = Cluster(ZONES, [system_pool(), spot, flexible])
    workloads = copy.deepcopy(reference_workloads(cluster))
    del workloads.flex_start_job.manifest["spec"]["podFailurePolicy"]
    (replicated,) = workloads.spot_job.manifest["spec"]["replicatedJobs"]
    del replicated["template"]["spec"]["podFailurePolicy"]

    report = play(
        plane_with_job_sets.client(),
        cluster,
        Report("broken"),
        Lines(io.StringIO()),
        workloads=workloads,
    )

    kept = {each.promise.name: each.kept for each in report.outcomes}
    assert not report.ok
    assert {name for name, value in kept.items() if value is False} == {
        "system-pods-when-full",
        "ordinary-pods-off-spot",
        "flex-start-comes-back",
        "spot-job-comes-back",
        "system-pods-never-on-spot",
    }
    assert {name for name, value in kept.items() if value is None} == {
        "jobs-finish",
        "idle-nodes-go",
    }
    text = " ".join(report.text().split())
    assert "BROKEN" in text
    assert "(Spot), not on on-demand" in text
    assert "JobSet training/trainer counts 1 of its pods as failed" in text
    assert "Job training/finetune counts 1 of its pods as failed" in text


# A policy that was deleted acts for a moment more, so no two of these have the same name.
SPOILT = {
    "does not deny": (Post("platform", "unbound-own", denies=True), "own-binding"),
    "does not warn": (Post("kube-system", "silent-gke", denies=False), "gke-policy"),
    "warns of what it should deny": (Post("kube-system", "mild-gke", denies=True), "nothing"),
}


@pytest.mark.parametrize(("post", "lost"), SPOILT.values(), ids=SPOILT)
def test_a_guard_that_does_not_act_breaks_its_promise(world, post, lost):
    cluster = world(system_pool())
    name = post.policy.rpartition("-")[0]
    guard = guard_manifests(Guard(name, system_namespaces=("platform",)))
    guard.pop(lost, None)
    pools = [
        gpu_pool("l4-spot", Capacity.SPOT, "g2-standard-8", **GROWS),
        gpu_pool("a100-flex", Capacity.FLEX_START, "a2-highgpu-1g", **GROWS),
    ]
    made = StackGuard(list(guard.values()), [post])
    workloads = reference_workloads(Cluster(ZONES, pools), made)
    on = Stage(cluster.client, cluster.autoscaler, workloads, Lines(io.StringIO()), Clock(), 4.0)
    (scene,) = [each for each in SCENES if each.promise.name == "system-pods-guarded"]
    try:
        with pytest.raises(BrokenPromise, match=f"policy {post.policy} to .*: not within 4 s"):
            scene.play(on)
    finally:
        for manifest in guard.values():
            kind = type(from_dict(manifest))
            cluster.client.delete(kind, manifest["metadata"]["name"])


def test_a_stack_without_a_guard_has_no_such_promise():
    pools = [
        gpu_pool("l4-spot", Capacity.SPOT, "g2-standard-8", **GROWS),
        gpu_pool("a100-flex", Capacity.FLEX_START, "a2-highgpu-1g", **GROWS),
    ]
    on: Any = SimpleNamespace(workloads=reference_workloads(Cluster(ZONES, pools)))
    (scene,) = [each for each in SCENES if each.promise.name == "system-pods-guarded"]
    assert not scene.concerns(on)


@pytest.mark.engine
@pytest.mark.parametrize(
    ("moment", "number"),
    [("on the emulated cloud", signal.SIGTERM), ("taking ", signal.SIGINT)],
    ids=["in the update", "in an eviction"],
)
def test_an_interrupted_drill_leaves_no_process_and_no_folder(tmp_path, moment, number):
    folder = tmp_path / "drill"
    with _started(folder) as drill:
        _read_until(drill, moment)
        assert left_of(folder) or moment == "on the emulated cloud"

        drill.send_signal(number)
        rest, _ = drill.communicate(timeout=120)

    assert drill.returncode == 130, rest
    assert "Traceback" not in rest
    assert not folder.exists()
    _none_left(folder)


def test_what_a_killed_drill_left_goes_with_the_next(tmp_path):
    folder = tmp_path / "drill"
    binaries = lookup()
    assert binaries, "there is no control plane: run `make control-plane`"
    folder.mkdir()
    (folder / local.MARK).touch()
    ControlPlane(folder / "plane", binaries).start()
    assert any("kube-apiserver" in each for each in left_of(folder))

    with local.own(folder, keep=False):
        _none_left(folder / "plane")

    assert not folder.exists()


def test_a_folder_of_somebody_else_is_refused_and_stays(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")

    ran = subprocess.run(
        command("--folder", tmp_path), cwd=ROOT, capture_output=True, text=True, timeout=120
    )

    assert ran.returncode == 1
    assert f"error: {tmp_path} is not empty" in ran.stderr
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


POOL = gpu_pool("l4-spot", Capacity.SPOT, "g2-standard-8", **GROWS)


def _spot_job(name: str, **job_spec):
    return job(
        name,
        annotations={"spotproof-sim/finished-at": "2020-01-01T00:00:00Z"},
        job_spec=job_spec,
        nodeSelector=SPOT_SELECTOR,
        tolerations=[SPOT_TOLERATION],
        gpus=1,
    )


def _runs(cluster, name: str):
    def running():
        cluster.autoscaler.step()
        return [pod for pod in cluster.pods(name) if pod.status.phase == "Running"]

    return cluster.wait(f"{name} running", running)[0]


def _watched(cluster, node: str, go: Callable[[], None], seconds: float = WAIT_SECONDS) -> Report:
    """The report of a watch on a node, which `go` takes away; nodes come for pods meanwhile."""
    stopped, shown = threading.Event(), io.StringIO()
    watch = Watch(cluster.client, node, Report("watched"), Lines(shown), seconds)
    found: list[Report] = []
    watcher = threading.Thread(target=lambda: found.append(watch.run()))
    nodes = threading.Thread(target=cluster.autoscaler.run, args=(stopped, 0.2))
    watcher.start()
    try:
        cluster.wait("the watch", lambda: "now delete its VM" in shown.getvalue())
        nodes.start()
        go()
        watcher.join(seconds + WAIT_SECONDS)
    finally:
        stopped.set()
        nodes.join()
    lines = shown.getvalue().splitlines()
    assert len(lines) == len(set(lines)), "the same is said again and again"
    return found[0]


def test_a_watch_sees_a_job_come_back_after_its_node_is_taken_away(world):
    cluster = world(system_pool(), POOL)
    policy = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}
    cluster.apply(_spot_job("train", podFailurePolicy=policy, backoffLimit=0))
    node = _runs(cluster, "train").spec.nodeName

    report = _watched(cluster, node, lambda: take_away(cluster.client, node))

    assert report.ok, report.text()
    assert [each.promise.name for each in report.outcomes] == [
        "node-goes",
        "job-default-train-comes-back",
    ]
    assert "no retry used up" in " ".join(report.text().split())


def test_a_watch_says_that_a_job_counted_the_loss_as_an_error(world):
    cluster = world(system_pool(), POOL)
    cluster.apply(_spot_job("train", backoffLimit=5))
    node = _runs(cluster, "train").spec.nodeName

    report = _watched(cluster, node, lambda: take_away(cluster.client, node))

    assert not report.ok
    assert "counts 1 lost pods as failed" in report.text()


def test_a_watch_says_why_the_work_does_not_come_back(world):
    cluster = world(system_pool(), POOL)
    cluster.apply(_spot_job("train", backoffLimit=5))
    node = _runs(cluster, "train").spec.nodeName
    cluster.autoscaler.market.sold_out.add(("spot", "*"))

    report = _watched(cluster, node, lambda: take_away(cluster.client, node), seconds=8)

    assert [each.kept for each in report.outcomes] == [True, False]
    text = " ".join(report.text().split())
    assert "0 of 1 pods came back within 8 s" in text
    assert "nodes are available" in text


@pytest.mark.parametrize("node", ["system", "nowhere"])
def test_a_watch_refuses_a_node_that_cannot_be_taken_away(world, node):
    cluster = world(system_pool())
    names = {"system": next(iter(_node_names(cluster))), "nowhere": "gke-nowhere"}

    with pytest.raises(NothingToWatchError, match="kubectl get nodes"):
        Watch(cluster.client, names[node], Report(""), Lines(io.StringIO())).run()


def _node_names(cluster) -> list[str]:
    return [node.metadata.name for node in cluster.client.list(Node)]


def test_an_observation_sees_system_pods_on_spot(world):
    bare = gpu_pool("bare", Capacity.SPOT, "g2-standard-8", initialNodeCount=1)
    bare["nodeConfig"] |= {"taints": [], "effectiveTaints": []}
    cluster = world(system_pool(), bare)
    before = observe(cluster.client, Report("before"), Lines(io.StringIO()))
    cluster.apply(deployment("dns", namespace="kube-system", replicas=3, cpu="3"))
    pods = cluster.settled("dns", 3, "kube-system")
    assert not any(map(unschedulable, pods))

    after = observe(cluster.client, Report("after"), Lines(io.StringIO()))

    kept = [
        {each.promise.name: each.kept for each in report.outcomes} for report in (before, after)
    ]
    assert [each["system-pods-off-spot-now"] for each in kept] == [True, False]
    assert [each["spot-keeps-others-off"] for each in kept] == [False, False]
    assert "dns" in after.text()


def test_an_observation_changes_nothing(world):
    cluster = world(system_pool(), POOL)
    cluster.apply(_spot_job("train"))
    _runs(cluster, "train")
    before = _versions(cluster)

    observe(cluster.client, Report("now"), Lines(io.StringIO()))

    assert _versions(cluster) == before


def _versions(cluster) -> list[str]:
    return [thing.metadata.resourceVersion for thing in cluster.client.list(Job, namespace="*")]


@contextlib.contextmanager
def _started(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        command("--folder", folder),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(120)


def _read_until(process: "subprocess.Popen[str]", words: str) -> None:
    assert process.stdout
    for line in process.stdout:
        if words in line:
            return
    raise AssertionError(f"the drill ended without {words!r}")


def _none_left(folder: Path) -> None:
    deadline = time.monotonic() + 30
    while left := left_of(folder):
        assert time.monotonic() < deadline, left
        time.sleep(0.1)
