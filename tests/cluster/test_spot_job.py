"""What `SpotJob` and `FlexStartJob` make, on the real controllers: every interruption survived."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from lightkube.codecs import from_dict
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Pod

from sandbox.cluster.eviction import end_pod, take_away, vanish
from sandbox.cluster.jobset import JobSet
from spotproof_gke.capacity import Capacity
from spotproof_gke.contract import EXIT_HOPELESS, EXIT_INTERRUPTED
from tests.cluster.conftest import GONE_AT_ONCE, WAIT_SECONDS, World, gpu_pool, system_pool
from tests.unit.workload_examples import FLEX_START_JOB, SPOT_JOB, manifests

BACK_WITHIN_SECONDS = 30.0
"""Measured on an idle machine: about 3 s from the loss of a node to the next running pod."""

PATIENT_SECONDS = 300.0
KINDS = ("jobset", "job")
SPOT = gpu_pool("l4-spot", Capacity.SPOT, "g2-standard-8", autoscaling={"totalMaxNodeCount": 3})

pytestmark = pytest.mark.usefixtures("job_sets")


class Training:
    """A training on the cluster, as its component makes it."""

    def __init__(self, world: World, component: str, args: dict[str, Any], marks: dict[str, Any]):
        annotations = {f"spotproof-sim/{key}": str(value) for key, value in marks.items()}
        own = {"namespace": "default", "labels": {"app": "train"}, "annotations": annotations}
        (manifest,) = manifests(component, {**args, **own}, "train")
        self.world, self.kind = world, manifest["kind"]
        world.client.create(from_dict(manifest))
        self.seen: set[str] = set()

    def pods(self) -> list[Pod]:
        return self.world.pods("train")

    def wait(self, what: str, condition: Callable[[], Any], seconds: float = WAIT_SECONDS) -> Any:
        """As `World.wait`, while the autoscaler's stand-in works."""

        def stepped() -> Any:
            self.world.autoscaler.step()
            return condition()

        return self.world.wait(what, stepped, seconds)

    def next_pod(self, seconds: float = PATIENT_SECONDS) -> Pod:
        """The pod that runs now, once it is another one than those before."""

        def new() -> list[Pod]:
            return [
                pod
                for pod in self.pods()
                if pod.status.phase == "Running" and pod.metadata.uid not in self.seen
            ]

        (pod,) = self.wait("a running pod", new, seconds)
        self.seen.add(pod.metadata.uid)
        return pod

    def preempt(self, pod: Pod) -> None:
        take_away(self.world.client, pod.spec.nodeName, sleep=lambda seconds: None)

    def status(self) -> dict[str, Any]:
        if self.kind == "JobSet":
            return self.world.client.get(JobSet, "train", namespace="default").get("status") or {}
        return self.world.client.get(Job, "train", namespace="default").to_dict()["status"]

    def retries_used(self) -> int:
        """Errors that were counted, by whoever counts them."""
        failed = sum(job.status.failed or 0 for job in self.world.client.list(Job))
        return failed + self.status().get("restartsCountTowardsMax", 0)

    def ended(self, seconds: float = PATIENT_SECONDS) -> str:
        """`done` or `failed`, once it is one of them."""
        words = {"Completed": "done", "Complete": "done", "Failed": "failed"}

        def end() -> list[str]:
            conditions = self.status().get("conditions") or ()
            return [words[c["type"]] for c in conditions if c["type"] in words]

        return self.wait("the end", end, seconds)[0]


@pytest.fixture
def train(world) -> Callable[..., Training]:
    """Starts a training: `train(kind, backoff_limit=..., **marks_of_the_simulation)`."""

    def start(kind: str, marks: dict[str, Any] | None = None, **args: Any) -> Training:
        cluster = world(system_pool(), SPOT)
        return Training(cluster, "SpotJob", {**SPOT_JOB, "kind": kind, **args}, marks or {})

    return start


@pytest.fixture
def most_running(plane) -> Iterator[Callable[[], int]]:
    """How many pods of the training ran at the same moment, at most, since the start."""
    client, stopped, most = plane.client(), threading.Event(), [0]

    def look() -> None:
        while not stopped.wait(0.05):
            pods = client.list(Pod, namespace="default", labels={"app": "train"})
            most[0] = max(most[0], sum(pod.status.phase == "Running" for pod in pods))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    yield lambda: most[0]
    stopped.set()
    thread.join()


def test_a_preempted_training_is_back_within_seconds_every_time(train, most_running):
    training = train("jobset", backoff_limit=1)
    pod = training.next_pod()

    for _ in range(10):
        training.preempt(pod)
        pod = training.next_pod(BACK_WITHIN_SECONDS)

    assert training.retries_used() == 0
    assert training.status()["restarts"] == 10
    assert most_running() == 1


def test_a_preempted_job_is_back_after_its_growing_delay(train, most_running):
    training = train("job", backoff_limit=1)
    pod = training.next_pod()
    delays = []

    for _ in range(2):
        training.preempt(pod)
        began = time.monotonic()
        pod = training.next_pod()
        delays.append(time.monotonic() - began)

    assert delays[0] > 8
    assert delays[1] > 18
    assert training.retries_used() == 0
    assert most_running() == 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_interrupted_code_uses_up_no_retry(train, kind):
    marks = {"exit-code": EXIT_INTERRUPTED, "finished-at": GONE_AT_ONCE}
    training = train(kind, marks, backoff_limit=2)
    begun: set[str] = set()

    def five() -> bool:
        begun.update(str(pod.metadata.uid) for pod in training.pods())
        return len(begun) >= 5

    training.wait("more pods than an error would get", five, PATIENT_SECONDS)

    assert training.retries_used() == 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_deadline_ends_a_program_that_always_says_that_it_was_interrupted(train, kind):
    marks = {"exit-code": EXIT_INTERRUPTED, "finished-at": GONE_AT_ONCE}

    assert train(kind, marks, deadline_seconds=10).ended() == "failed"


@pytest.mark.parametrize("kind", KINDS)
def test_errors_are_retried_up_to_the_limit(train, kind, most_running):
    marks = {"exit-code": 1, "finished-at": GONE_AT_ONCE}
    training = train(kind, marks, backoff_limit=2)
    begun: set[str] = set()

    def is_over() -> bool:
        begun.update(str(pod.metadata.uid) for pod in training.pods())
        return any(c["type"] == "Failed" for c in training.status().get("conditions") or ())

    training.wait("the failure", is_over, PATIENT_SECONDS)

    assert len(begun) == 3
    assert most_running() <= 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_hopeless_code_fails_the_training_at_once(train, kind):
    training = train(kind, {"exit-code": EXIT_HOPELESS}, backoff_limit=6)

    assert training.ended() == "failed"
    assert len(training.pods()) == 1
    assert not training.status().get("restarts")


@pytest.mark.parametrize("kind", KINDS)
def test_the_hopeless_code_counts_even_when_the_node_goes(train, kind):
    training = train(kind, {"sigterm-exit-code": EXIT_HOPELESS}, backoff_limit=6)

    training.preempt(training.next_pod())

    assert training.ended() == "failed"


@pytest.mark.parametrize("kind", KINDS)
def test_a_training_that_exits_0_is_done(train, kind):
    training = train(kind, {"finished-at": GONE_AT_ONCE})
    training.preempt(training.next_pod())
    pod = training.next_pod()

    end_pod(training.world.client, pod.to_dict(), 0)

    assert training.ended() == "done"


@pytest.mark.parametrize("kind", KINDS)
def test_a_node_that_vanishes_without_notice_is_recovered(train, kind, most_running):
    training = train(kind)
    pod = training.next_pod()

    vanish(training.world.client, pod.spec.nodeName)

    # The garbage collector of pods gives a lost node 40 s, and looks every 20 s.
    training.next_pod(seconds=600)
    assert training.retries_used() == 0
    assert most_running() == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_drained_pod_ends_before_the_next_one_runs(train, kind, most_running):
    training = train(kind, {"sigterm-takes": "5s", "finished-at": GONE_AT_ONCE})
    pod = training.next_pod()
    about = {"name": pod.metadata.name, "namespace": "default"}

    training.world.client.create(Pod.Eviction(metadata=ObjectMeta(**about)), **about)
    training.next_pod()

    assert training.retries_used() == 0
    assert most_running() == 1


def test_a_deadline_ends_a_training_without_interruptions(train):
    training = train("jobset", deadline_seconds=5)

    assert training.ended() == "failed"
    training.wait("no pod", lambda: not any(p.status.phase == "Running" for p in training.pods()))


def test_flex_start_work_goes_on_elsewhere_when_its_node_ends(world):
    clock = [1000.0]
    pool = gpu_pool(
        "l4-flex", Capacity.FLEX_START, "g2-standard-8", autoscaling={"totalMaxNodeCount": 3}
    )
    pool["nodeConfig"]["maxRunDuration"] = "600s"
    cluster = world(system_pool(), pool, now=lambda: clock[0])
    hour = {"node_lifetime_seconds": 600, "expected_duration_seconds": 500}
    marks = {"finished-at": GONE_AT_ONCE}
    training = Training(cluster, "FlexStartJob", {**FLEX_START_JOB, **hour}, marks)
    first = training.next_pod()

    clock[0] += 601
    second = training.next_pod()

    nodes = [str(pod.spec.nodeName) for pod in (first, second)]
    assert nodes[0] != nodes[1]
    assert all(name.startswith("gke-l4-flex-") for name in nodes)
    assert training.retries_used() == 0
