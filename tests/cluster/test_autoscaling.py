"""Nodes come for the pods that wait, within the limits, and go when their time is over."""

import threading
import time

from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Event, Node
from lightkube.types import CascadeType

from sandbox.cluster.autoscaler import Autoscaler
from sandbox.cluster.offers import Cluster
from spotproof_gke.capacity import NODE_POOL_KEY, Capacity
from tests.cluster.conftest import ZONES, gpu_pool, system_pool
from tests.cluster.manifests import SPOT_SELECTOR, SPOT_TOLERATION, deployment, job, of_yaml
from tests.cluster.test_placement import FLEX_START_JOB

LIMITS = {"cpu": 1000, "memory": 8000, "nvidia-tesla-a100": 2}
FOUR_PRIORITIES = {
    "priorities": [
        {"machineType": "g2-standard-8", "gpu": {"type": "nvidia-l4", "count": 1}},
        {
            "machineType": "g2-standard-8",
            "gpu": {"type": "nvidia-l4", "count": 1},
            "flexStart": {"enabled": True},
            "maxRunDurationSeconds": 604800,
        },
        {
            "machineType": "g2-standard-8",
            "gpu": {"type": "nvidia-l4", "count": 1},
            "spot": True,
        },
        {
            "machineType": "g2-standard-16",
            "gpu": {"type": "nvidia-l4", "count": 1},
            "spot": True,
        },
    ]
}


def test_the_documented_flex_start_job_waits_until_its_node_comes(world):
    cluster = world(system_pool(), limits=LIMITS)
    cluster.apply(*of_yaml(FLEX_START_JOB))
    cluster.settled("finetune", 1)
    assert cluster.nodes_of("finetune") == [""]

    cluster.autoscaler.step()
    cluster.wait("the job's node", lambda: "" not in cluster.nodes_of("finetune"))

    (pod,) = cluster.pods("finetune")
    labels = cluster.client.get(Node, pod.spec.nodeName).metadata.labels
    assert labels["cloud.google.com/gke-flex-start"] == "true"
    assert labels["cloud.google.com/gke-accelerator"] == "nvidia-tesla-a100"


def test_a_gpu_without_a_limit_stays_pending_with_the_reason_shown(world):
    cluster = world(system_pool(), limits={"cpu": 1000, "memory": 8000, "nvidia-l4": 4})
    cluster.apply(*of_yaml(FLEX_START_JOB))
    (pod,) = cluster.settled("finetune", 1)

    cluster.autoscaler.step()

    assert cluster.nodes_of("finetune") == [""]
    events = cluster.client.list(
        Event, namespace="default", fields={"involvedObject.uid": pod.metadata.uid}
    )
    told = [event.message for event in events if event.reason == "NotTriggerScaleUp"]
    assert "no limit for nvidia-tesla-a100" in "".join(told)


def test_limits_of_auto_provisioning_hold(world):
    cluster = world(system_pool(), limits=LIMITS)
    two = FLEX_START_JOB.replace("spec:\n  template", "spec:\n  parallelism: 3\n  template", 1)
    cluster.apply(*of_yaml(two))
    cluster.settled("finetune", 3)

    cluster.autoscaler.step()
    cluster.wait("two nodes", lambda: cluster.nodes_of("finetune").count("") == 1)

    assert "limit of nvidia-tesla-a100, 2, is reached" in "".join(
        cluster.autoscaler.reasons.values()
    )


def test_a_spot_pool_grows_to_its_most_and_goes_back_to_nothing(world):
    clock = [1_000_000.0]
    pool = gpu_pool("l4-spot", Capacity.SPOT, "g2-standard-8", autoscaling={"totalMaxNodeCount": 1})
    cluster = world(system_pool(), pool, idle_seconds=600, now=lambda: clock[0])
    for name in ("first", "second"):
        cluster.apply(job(name, nodeSelector=SPOT_SELECTOR, tolerations=[SPOT_TOLERATION], gpus=1))
        cluster.settled(name, 1)

    cluster.autoscaler.step()
    cluster.wait(
        "a Spot node", lambda: "l4-spot" in cluster.nodes_of("first") + cluster.nodes_of("second")
    )
    cluster.autoscaler.step()
    assert "at its limit of 1 nodes" in "".join(cluster.autoscaler.reasons.values())

    for name in ("first", "second"):
        cluster.client.delete(Job, name, namespace="default", cascade=CascadeType.BACKGROUND)
        cluster.wait("its pods gone", lambda name=name: not cluster.pods(name))
    cluster.autoscaler.step()
    assert _pools(cluster) == ["l4-spot", "system"]
    clock[0] += 601
    cluster.autoscaler.step()
    assert _pools(cluster) == ["system"]


def test_a_class_falls_through_its_priorities_in_their_order(world):
    cluster = world(system_pool(), classes={"l4": FOUR_PRIORITIES})
    sold_out = cluster.autoscaler.market.sold_out
    tolerations = [
        {"key": "cloud.google.com/compute-class", "operator": "Equal", "value": "l4"},
        SPOT_TOLERATION,
    ]
    seen = []
    for number, shortage in enumerate(
        [None, ("standard", "*"), ("flex-start", "*"), ("spot", "g2-standard-8")]
    ):
        if shortage:
            sold_out.add(shortage)
        name = f"work-{number}"
        cluster.apply(
            deployment(
                name,
                nodeSelector={"cloud.google.com/compute-class": "l4"},
                tolerations=tolerations,
                gpus=1,
            )
        )
        cluster.settled(name, 1)
        cluster.autoscaler.step()
        cluster.wait("its node", lambda name=name: "" not in cluster.nodes_of(name))
        (pod,) = cluster.pods(name)
        labels = cluster.client.get(Node, pod.spec.nodeName).metadata.labels
        seen.append(
            (
                labels["cloud.google.com/gke-provisioning"],
                labels["node.kubernetes.io/instance-type"],
            )
        )

    assert seen == [
        ("standard", "g2-standard-8"),
        ("flex-start", "g2-standard-8"),
        ("spot", "g2-standard-8"),
        ("spot", "g2-standard-16"),
    ]
    sold_out.add(("*", "*"))
    cluster.apply(
        deployment(
            "last",
            nodeSelector={"cloud.google.com/compute-class": "l4"},
            tolerations=tolerations,
            gpus=1,
        )
    )
    cluster.settled("last", 1)
    cluster.autoscaler.step()
    assert cluster.autoscaler.reasons.popitem()[1].count("out of stock") == 4


def test_a_flex_start_node_ends_at_its_lifetime_and_the_job_goes_on_elsewhere(world):
    clock = [1_000_000.0]
    cluster = world(system_pool(), limits=LIMITS, now=lambda: clock[0])
    ignoring = {
        "podFailurePolicy": {
            "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]
        },
        "backoffLimit": 0,
    }
    cluster.apply(
        job(
            "finetune",
            annotations={"spotproof-sim/finished-at": "2020-01-01T00:00:00Z"},
            job_spec=ignoring,
            gpus=1,
            nodeSelector={
                "cloud.google.com/gke-flex-start": "true",
                "cloud.google.com/gke-accelerator": "nvidia-tesla-a100",
            },
        )
    )
    cluster.settled("finetune", 1)
    cluster.autoscaler.step()
    cluster.wait("its node", lambda: "" not in cluster.nodes_of("finetune"))
    first = cluster.pods("finetune")[0].spec.nodeName

    clock[0] += 7 * 86400
    cluster.autoscaler.step()

    assert first not in [node.metadata.name for node in cluster.client.list(Node)]

    def again():
        cluster.autoscaler.step()
        return [p for p in cluster.pods("finetune") if p.spec.nodeName not in (None, first)]

    cluster.wait("a pod on another node", again)


def test_a_pod_gets_one_node_however_long_that_takes_to_be_ready(world):
    pool = gpu_pool("l4-spot", Capacity.SPOT, "g2-standard-8", autoscaling={"totalMaxNodeCount": 3})
    cluster = world(system_pool(), pool)
    cluster.apply(job("train", nodeSelector=SPOT_SELECTOR, tolerations=[SPOT_TOLERATION], gpus=1))
    cluster.settled("train", 1)

    for _ in range(5):
        cluster.autoscaler.step()

    assert _pools(cluster) == ["l4-spot", "system"]


def test_a_stand_in_of_a_server_that_stops_says_nothing(own_plane):
    autoscaler = Autoscaler(own_plane.client(), Cluster(ZONES, [system_pool()]))
    stopped, said = threading.Event(), []
    thread = threading.Thread(target=autoscaler.run, args=(stopped, 0.05, said.append))
    thread.start()

    own_plane.stop()
    time.sleep(0.5)

    assert thread.is_alive()
    stopped.set()
    thread.join(10)
    assert not thread.is_alive()
    assert said == []


def test_a_stand_in_reports_other_errors_once_and_goes_on(plane, monkeypatch):
    autoscaler = Autoscaler(plane.client(), Cluster(ZONES, [system_pool()]))
    stopped, said, steps = threading.Event(), [], []

    def refused() -> None:
        steps.append(1)
        autoscaler._client.get(Node, "Not_A_Name/at all")

    monkeypatch.setattr(autoscaler, "step", refused)
    monkeypatch.setattr("sandbox.cluster.autoscaler._PASSING", ())
    thread = threading.Thread(target=autoscaler.run, args=(stopped, 0.01, said.append))
    thread.start()
    deadline = time.monotonic() + 30
    while len(steps) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    stopped.set()
    thread.join(10)

    (line,) = said
    assert "goes on after" in line


def _pools(cluster) -> list[str]:
    return sorted(node.metadata.labels[NODE_POOL_KEY] for node in cluster.client.list(Node))
