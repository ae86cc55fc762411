"""A real control plane for the tests of a folder, with nodes as GKE makes them."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.resources.apps_v1 import DaemonSet, Deployment
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Node, Pod
from lightkube.types import CascadeType

from sandbox.cluster import jobset
from sandbox.cluster.autoscaler import Autoscaler
from sandbox.cluster.binaries import lookup
from sandbox.cluster.control_plane import ControlPlane
from sandbox.cluster.offers import Cluster, Market
from spotproof_gke.capacity import Capacity, pool_labels, pool_taints

WAIT_SECONDS = 60.0
ZONES = ("us-central1-a", "us-central1-b", "us-central1-c")
GONE_AT_ONCE = "2020-01-01T00:00:00Z"
"""An end so long ago that the Job controller's delay is over."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.cluster)


class _Shared:
    """The control plane of this process: there while tests of this folder follow each other.

    One that nobody uses takes a sixth of a core, from tests that have nothing to do with it.
    """

    def __init__(self) -> None:
        self._running: ControlPlane | None = None

    def running(self, folder: Callable[[], Path]) -> ControlPlane:
        if self._running is None:
            binaries = lookup()
            assert binaries, "there is no control plane: run `make control-plane`"
            self._running = ControlPlane(folder(), binaries, jobset.lookup()).__enter__()
        return self._running

    def stop(self) -> None:
        running, self._running = self._running, None
        if running:
            running.stop()


_SHARED = _Shared()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Iterator[None]:
    try:
        yield
    finally:
        if nextitem is None or Path(__file__).parent not in nextitem.path.parents:
            _SHARED.stop()


def pytest_sessionfinish() -> None:
    _SHARED.stop()


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> ControlPlane:
    """The control plane of this process's tests."""
    return _SHARED.running(lambda: tmp_path_factory.mktemp("plane"))


@pytest.fixture(scope="module")
def job_sets(plane: ControlPlane) -> None:
    """The control plane has the JobSet manager."""
    assert jobset.is_served(plane.client()), "there is no JobSet manager: run `make control-plane`"


@pytest.fixture
def own_plane(tmp_path: Path) -> Iterator[ControlPlane]:
    """A control plane of one test's own."""
    binaries = lookup()
    assert binaries, "there is no control plane: run `make control-plane`"
    with ControlPlane(tmp_path / "plane", binaries) as started:
        yield started


def system_pool(**config: Any) -> dict[str, Any]:
    return {
        "name": "system",
        "nodeConfig": {"machineType": "e2-standard-4", **config},
        "initialNodeCount": 1,
        "nodeLocations": ["us-central1-a"],
    }


def gpu_pool(name: str, capacity: Capacity, machine: str, **more: Any) -> dict[str, Any]:
    """A GPU pool as our components declare it, in the provider's words."""
    config: dict[str, Any] = {
        "machineType": machine,
        "labels": pool_labels(capacity),
        "taints": [taint.provider_taint() for taint in pool_taints(capacity, gpu=True)],
        "spot": capacity is Capacity.SPOT,
        "flexStart": capacity is Capacity.FLEX_START,
    }
    return {"name": name, "nodeConfig": config, "nodeLocations": ["us-central1-a"], **more}


@dataclass
class World:
    """One control plane, cleared of what other tests left, and what stands in for GKE."""

    client: Client
    autoscaler: Autoscaler

    def apply(self, *things: Any) -> None:
        for thing in things:
            self.client.create(thing)

    def pods(self, name: str, namespace: str = "default") -> list[Pod]:
        """The pods of a workload, the oldest first."""
        found = self.client.list(Pod, namespace=namespace, labels={"app": name})
        return sorted(found, key=lambda pod: str(pod.metadata.creationTimestamp))

    def nodes_of(self, name: str, namespace: str = "default") -> list[str]:
        """The pools that a workload's pods run on; "" for one that waits."""
        return sorted(self._pool_of(pod) for pod in self.pods(name, namespace))

    def _pool_of(self, pod: Pod) -> str:
        if not pod.spec.nodeName:
            return ""
        labels = self.client.get(Node, pod.spec.nodeName).metadata.labels
        return labels["cloud.google.com/gke-nodepool"]

    def nodes_are_ready(self) -> bool:
        """Whether no node has a taint any more that it was born with."""
        return not any(
            taint.key.startswith("node.kubernetes.io/")
            for node in self.client.list(Node)
            for taint in node.spec.taints or ()
        )

    def wait(self, what: str, condition: Callable[[], Any], seconds: float = WAIT_SECONDS) -> Any:
        """What `condition` returns once it is true; fails the test when it never is."""
        deadline = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < deadline, f"{what}: not within {seconds:.0f} s"
            time.sleep(0.1)
        return found

    def settled(self, name: str, count: int, namespace: str = "default") -> list[Pod]:
        """The pods of a workload once the scheduler has judged each of them."""

        def judged() -> list[Pod] | None:
            pods = self.pods(name, namespace)
            done = [p for p in pods if p.spec.nodeName or unschedulable(p)]
            return pods if len(done) == len(pods) == count else None

        return self.wait(f"{count} pods of {name}", judged)


def unschedulable(pod: Pod) -> str:
    """Why the scheduler found no node, or ""."""
    conditions = (pod.status.conditions if pod.status else None) or []
    return next(
        (c.message or "?" for c in conditions if c.type == "PodScheduled" and c.status == "False"),
        "",
    )


@pytest.fixture
def world(plane: ControlPlane) -> Iterator[Callable[..., World]]:
    """Makes a cluster of these pools: `world(pools, limits=..., classes=...)`."""
    client = plane.client()

    def make(
        *pools: Mapping[str, Any],
        limits: Mapping[str, int] | None = None,
        classes: Mapping[str, Mapping[str, Any]] | None = None,
        **options: Any,
    ) -> World:
        cluster = Cluster(ZONES, pools, limits, classes or {})
        made = World(client, Autoscaler(client, cluster, Market(), **options))
        made.autoscaler.stand_up()
        made.wait("all nodes ready", made.nodes_are_ready)
        return made

    yield make
    _clear(client)


def _clear(client: Client) -> None:
    if jobset.is_served(client):
        client.deletecollection(jobset.JobSet, namespace="default", cascade=CascadeType.BACKGROUND)
    for kind in (Job, Deployment, DaemonSet):
        for namespace in ("default", "kube-system"):
            client.deletecollection(kind, namespace=namespace, cascade=CascadeType.BACKGROUND)
    deadline = time.monotonic() + WAIT_SECONDS
    while left := list(client.list(Pod, namespace="*")):
        assert time.monotonic() < deadline, [pod.metadata.name for pod in left]
        for pod in left:
            try:
                client.delete(
                    Pod, pod.metadata.name, namespace=pod.metadata.namespace, grace_period=0
                )
            except ApiError as error:
                if error.status.code != 404:
                    raise
        time.sleep(0.1)
    client.deletecollection(Node)
