"""Where pods land, and where they never do, as the real scheduler decides it."""

import pytest

from spotproof_gke.capacity import Capacity, pool_labels, pool_taints
from tests.cluster.conftest import gpu_pool, system_pool, unschedulable
from tests.cluster.manifests import (
    BLANKET,
    SPOT_SELECTOR,
    SPOT_TOLERATION,
    deployment,
    job,
    of_yaml,
)

SPOT = gpu_pool("l4-spot", Capacity.SPOT, "g2-standard-8", initialNodeCount=1)
FLEX = gpu_pool("a100-flex", Capacity.FLEX_START, "a2-highgpu-1g", initialNodeCount=1)


def test_system_pods_run_on_the_system_pool_alone(world):
    cluster = world(system_pool(), SPOT, FLEX)

    cluster.apply(deployment("dns", namespace="kube-system", replicas=3))
    cluster.settled("dns", 3, "kube-system")

    assert cluster.nodes_of("dns", "kube-system") == ["system"] * 3


def test_system_pods_wait_when_the_system_pool_is_full(world):
    cluster = world(system_pool(), SPOT, FLEX)

    cluster.apply(deployment("dns", namespace="kube-system", replicas=2, cpu="3"))
    pods = cluster.settled("dns", 2, "kube-system")

    assert cluster.nodes_of("dns", "kube-system") == ["", "system"]
    assert "untolerated taint" in "".join(map(unschedulable, pods))


@pytest.mark.parametrize("capacity", [Capacity.SPOT, Capacity.FLEX_START], ids=lambda c: c.value)
def test_system_pods_wait_although_nodes_without_gpus_are_free(world, capacity):
    """The taint of a GPU keeps them off elsewhere; here the capacity's own has to."""
    config = {
        "machineType": "n2-standard-8",
        "labels": pool_labels(capacity),
        "taints": [taint.provider_taint() for taint in pool_taints(capacity, gpu=False)],
        "spot": capacity is Capacity.SPOT,
        "flexStart": capacity is Capacity.FLEX_START,
    }
    free = {**system_pool(), "name": "free", "nodeConfig": config}
    cluster = world(system_pool(), free)

    cluster.apply(deployment("dns", namespace="kube-system", replicas=2, cpu="3"))
    cluster.settled("dns", 2, "kube-system")

    assert cluster.nodes_of("dns", "kube-system") == ["", "system"]


def test_a_pod_without_the_toleration_never_reaches_spot(world):
    cluster = world(system_pool(), SPOT)

    cluster.apply(
        deployment("plain", replicas=3, cpu="3"),
        deployment("selects", nodeSelector=SPOT_SELECTOR, gpus=1),
    )
    cluster.settled("plain", 3)
    (selecting,) = cluster.settled("selects", 1)

    assert cluster.nodes_of("plain") == ["", "", "system"]
    assert cluster.nodes_of("selects") == [""]
    assert "untolerated taint" in unschedulable(selecting)


def test_a_pod_for_spot_waits_for_a_spot_node(world):
    cluster = world(system_pool())

    cluster.apply(
        deployment("spot", nodeSelector=SPOT_SELECTOR, tolerations=[SPOT_TOLERATION], gpus=1)
    )
    cluster.settled("spot", 1)

    assert cluster.nodes_of("spot") == [""]


def test_a_deployment_with_the_toleration_lands_on_spot(world):
    """As Google documents it, without a component of ours."""
    cluster = world(system_pool(), SPOT)

    cluster.apply(
        *of_yaml(
            """
apiVersion: apps/v1
kind: Deployment
metadata: {name: inference, namespace: default}
spec:
  replicas: 1
  selector: {matchLabels: {app: inference}}
  template:
    metadata: {labels: {app: inference}}
    spec:
      terminationGracePeriodSeconds: 15
      nodeSelector: {cloud.google.com/gke-spot: "true"}
      tolerations:
        - {key: cloud.google.com/gke-spot, operator: Equal, value: "true", effect: NoSchedule}
      containers:
        - name: server
          image: example.invalid/server
          resources: {limits: {nvidia.com/gpu: "1"}}
"""
        )
    )
    cluster.settled("inference", 1)

    assert cluster.nodes_of("inference") == ["l4-spot"]


FLEX_START_JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: finetune, namespace: default}
spec:
  template:
    metadata: {labels: {app: finetune}}
    spec:
      nodeSelector:
        cloud.google.com/gke-flex-start: "true"
        cloud.google.com/gke-accelerator: nvidia-tesla-a100
      containers:
        - name: train
          image: example.invalid/train
          resources:
            requests: {nvidia.com/gpu: 1}
            limits: {nvidia.com/gpu: 1}
      restartPolicy: OnFailure
"""


def test_the_documented_flex_start_job_lands_on_flex_start(world):
    cluster = world(system_pool(), SPOT, FLEX)

    cluster.apply(*of_yaml(FLEX_START_JOB))
    cluster.settled("finetune", 1)

    assert cluster.nodes_of("finetune") == ["a100-flex"]


def test_the_flex_start_job_waits_although_other_gpus_are_free(world):
    on_demand = gpu_pool("a100", Capacity.ON_DEMAND, "a2-highgpu-1g", initialNodeCount=1)
    cluster = world(system_pool(), SPOT, on_demand)

    cluster.apply(*of_yaml(FLEX_START_JOB))
    cluster.settled("finetune", 1)

    assert cluster.nodes_of("finetune") == [""]


@pytest.mark.parametrize("capacity", [Capacity.SPOT, Capacity.FLEX_START], ids=lambda c: c.value)
def test_a_blanket_toleration_does_reach_what_can_be_taken_away(world, capacity):
    """So taints alone are not enough, and the policy and the guard are needed."""
    pool = gpu_pool("gpus", capacity, "g2-standard-8", initialNodeCount=1)
    cluster = world(system_pool(), pool)
    cluster.apply(deployment("filler", cpu="3500m"))
    cluster.settled("filler", 1)

    cluster.apply(deployment("dns", namespace="kube-system", tolerations=[BLANKET], cpu="1"))
    cluster.settled("dns", 1, "kube-system")

    assert cluster.nodes_of("dns", "kube-system") == ["gpus"]


def test_a_job_for_more_gpus_than_there_are_waits(world):
    cluster = world(system_pool(), SPOT)

    for name in ("first", "second"):
        cluster.apply(job(name, nodeSelector=SPOT_SELECTOR, tolerations=[SPOT_TOLERATION], gpus=1))
        cluster.settled(name, 1)

    assert cluster.nodes_of("first") == ["l4-spot"]
    assert cluster.nodes_of("second") == [""]
