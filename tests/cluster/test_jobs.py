"""What the real Job controller makes of interruptions, errors and exit codes."""

from typing import Any

import pytest
from lightkube.resources.batch_v1 import Job

from sandbox.cluster.eviction import take_away, vanish
from spotproof_gke.capacity import Capacity
from spotproof_gke.contract import EXIT_HOPELESS, EXIT_INTERRUPTED
from tests.cluster.conftest import GONE_AT_ONCE, WAIT_SECONDS, gpu_pool, system_pool
from tests.cluster.manifests import SPOT_SELECTOR, SPOT_TOLERATION, job

POLICY = {
    "rules": [
        {
            "action": "FailJob",
            "onExitCodes": {"operator": "In", "values": [EXIT_HOPELESS]},
        },
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
        {
            "action": "Ignore",
            "onExitCodes": {"operator": "In", "values": [EXIT_INTERRUPTED]},
        },
    ]
}
POOL = gpu_pool("l4-spot", Capacity.SPOT, "g2-standard-8", autoscaling={"totalMaxNodeCount": 3})


@pytest.fixture
def cluster(world):
    return world(system_pool(), POOL)


def train(annotations: dict[str, str] | None = None, **job_spec: Any) -> Any:
    """A checkpointed training on a Spot GPU."""
    spec = {"podFailurePolicy": POLICY, "backoffLimit": 1, **job_spec}
    return job(
        "train",
        annotations={"spotproof-sim/finished-at": GONE_AT_ONCE, **(annotations or {})},
        job_spec=spec,
        nodeSelector=SPOT_SELECTOR,
        tolerations=[SPOT_TOLERATION],
        gpus=1,
    )


def running(cluster, other_than: tuple[str, ...] = (), seconds: float = WAIT_SECONDS) -> Any:
    """The pod of the Job that runs now, made by the autoscaler's stand-in where need be."""

    def found():
        cluster.autoscaler.step()
        return [
            pod
            for pod in cluster.pods("train")
            if pod.status.phase == "Running" and pod.metadata.name not in other_than
        ]

    return cluster.wait("a running pod", found, seconds)[0]


def status(cluster) -> Any:
    return cluster.client.get(Job, "train", namespace="default").status


def ended(cluster, condition: str) -> Any:
    """The reason of a Job's last condition, once it is there."""

    def found():
        cluster.autoscaler.step()
        conditions = status(cluster).conditions or []
        return [each.reason for each in conditions if each.type == condition]

    return cluster.wait(condition, found)[0]


def test_a_preempted_pod_uses_up_no_retry(cluster):
    cluster.apply(train(backoffLimit=0))
    seen: tuple[str, ...] = ()

    for _ in range(5):
        pod = running(cluster, seen)
        seen = (*seen, pod.metadata.name)
        take_away(cluster.client, pod.spec.nodeName, sleep=lambda seconds: None)
    running(cluster, seen)

    assert not status(cluster).failed


def test_the_interrupted_code_uses_up_no_retry(cluster):
    cluster.apply(train({"spotproof-sim/exit-code": str(EXIT_INTERRUPTED)}, backoffLimit=0))

    def replaced():
        cluster.autoscaler.step()
        return len(cluster.pods("train")) >= 4

    cluster.wait("four pods", replaced)
    assert not status(cluster).failed


def test_errors_use_up_the_retries_and_stop(cluster):
    cluster.apply(train({"spotproof-sim/exit-code": "1"}, backoffLimit=2))

    assert ended(cluster, "Failed") == "BackoffLimitExceeded"
    assert status(cluster).failed == 3


def test_the_hopeless_code_fails_the_job_at_once(cluster):
    cluster.apply(train({"spotproof-sim/exit-code": str(EXIT_HOPELESS)}, backoffLimit=6))

    assert ended(cluster, "Failed") == "PodFailurePolicy"
    assert status(cluster).failed == 1


def test_a_pod_that_exits_0_in_the_middle_counts_as_done(cluster):
    """Why a program in a Job must not exit 0 on SIGTERM."""
    cluster.apply(train({"spotproof-sim/sigterm-exit-code": "0"}))
    pod = running(cluster)

    take_away(cluster.client, pod.spec.nodeName, sleep=lambda seconds: None)

    assert ended(cluster, "Complete") == "CompletionsReached"


def test_the_interrupted_code_on_sigterm_goes_on(cluster):
    cluster.apply(train({"spotproof-sim/sigterm-exit-code": str(EXIT_INTERRUPTED)}))
    pod = running(cluster)

    take_away(cluster.client, pod.spec.nodeName, sleep=lambda seconds: None)

    assert running(cluster, (pod.metadata.name,))


def test_a_pod_that_outlasts_the_grace_is_cut_off_and_replaced(cluster):
    cluster.apply(train({"spotproof-sim/sigterm-takes": "60s"}))
    pod = running(cluster)
    waited: list[float] = []

    take_away(cluster.client, pod.spec.nodeName, sleep=waited.append)

    assert waited == [15.0]
    running(cluster, (pod.metadata.name,))
    old = next(p for p in cluster.pods("train") if p.metadata.name == pod.metadata.name)
    assert old.status.containerStatuses[0].state.terminated.exitCode == 137


def test_a_job_is_recovered_whose_node_vanished_without_notice(cluster):
    cluster.apply(train(backoffLimit=0))
    pod = running(cluster)

    vanish(cluster.client, pod.spec.nodeName)

    # The garbage collector of pods gives a lost node 40 s, and looks every 20 s.
    running(cluster, (pod.metadata.name,), seconds=600)
    assert not status(cluster).failed


def test_the_deadline_ends_a_job_that_is_interrupted_for_ever(cluster):
    """Interruptions count for nothing, so only a deadline ends them."""
    cluster.apply(
        train(
            {"spotproof-sim/exit-code": str(EXIT_INTERRUPTED)},
            backoffLimit=0,
            activeDeadlineSeconds=5,
        )
    )

    assert ended(cluster, "Failed") == "DeadlineExceeded"
