"""What a cluster lacks is said before anything is sent to it, with the way to get it."""

import pytest

from spotproof_gke.workloads.controllers import CONTROLLERS, in_the_way, missing, needed
from tests.unit.workload_examples import (
    CAPACITY_CLASS,
    FLEX_START_JOB,
    KUEUE_QUEUES,
    QUEUE_WORKERS,
    SPOT_JOB,
    manifests,
)

PLAIN = {"batch/v1": {"Job"}, "apps/v1": {"Deployment"}, "v1": {"PodTemplate"}}
NEEDED = [
    ("SpotJob", SPOT_JOB, ["jobset"]),
    ("SpotJob", {**SPOT_JOB, "kind": "job"}, []),
    ("FlexStartJob", FLEX_START_JOB, []),
    ("FlexStartJob", {**FLEX_START_JOB, "queue": "gpus"}, ["kueue"]),
    ("FlexStartJob", {**FLEX_START_JOB, "provisioning_request": True}, ["provisioning-requests"]),
    ("QueueWorkers", QUEUE_WORKERS, ["keda"]),
    ("QueueWorkers", {**QUEUE_WORKERS, "scaler": "hpa"}, ["metrics-adapter"]),
    ("CapacityClass", CAPACITY_CLASS, ["compute-classes"]),
    ("KueueQueues", KUEUE_QUEUES, ["kueue"]),
]


@pytest.mark.parametrize(("component", "args", "names"), NEEDED)
def test_a_workload_needs_the_controllers_of_its_objects(component, args, names) -> None:
    found = needed(manifests(component, args))
    assert [controller.name for controller in found] == names


@pytest.mark.parametrize("name", CONTROLLERS)
def test_a_cluster_without_a_controller_is_told_how_to_get_it(name: str) -> None:
    controller = CONTROLLERS[name]
    (told,) = missing([controller], PLAIN)
    text = str(told)
    assert controller.install in text
    assert controller.version in text
    for version in controller.serves:
        assert version in text
    if not controller.version.startswith("GKE"):
        assert "on-demand nodes" in text


@pytest.mark.parametrize("name", CONTROLLERS)
def test_a_cluster_with_a_controller_lacks_nothing(name: str) -> None:
    controller = CONTROLLERS[name]
    assert missing([controller], {**PLAIN, **controller.serves}) == []


def test_an_old_kueue_is_told_from_none() -> None:
    (told,) = missing([CONTROLLERS["kueue"]], {"kueue.x-k8s.io/v1beta1": {"ClusterQueue"}})
    assert told.other_versions == ("kueue.x-k8s.io/v1beta1",)
    assert "kueue.x-k8s.io/v1beta1" in str(told)


def test_a_kind_that_is_not_served_is_named() -> None:
    (told,) = missing([CONTROLLERS["keda"]], {"keda.sh/v1alpha1": {"ScaledObject"}})
    assert told.lacking == ("keda.sh/v1alpha1 TriggerAuthentication",)


def test_keda_and_the_metrics_adapter_do_not_share_a_cluster() -> None:
    adapter, keda = CONTROLLERS["metrics-adapter"], CONTROLLERS["keda"]
    assert in_the_way([adapter], {"keda.sh/v1alpha1": {"ScaledObject"}})
    assert in_the_way([adapter, keda], {})
    assert in_the_way([adapter], {"external.metrics.k8s.io/v1beta1": []}) is None
    assert in_the_way([keda], {"keda.sh/v1alpha1": {"ScaledObject"}}) is None
