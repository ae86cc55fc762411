"""Which Jobs on Spot are asked where their checkpoints go."""

from typing import Any

import pytest

from spotproof_gke.rules.checkpoint_location import SHORT_JOB_SECONDS, checkpoint_location
from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.reading import UNKNOWN

ON_SPOT = {"cloud.google.com/gke-spot": "true"}
L4 = {"cloud.google.com/gke-accelerator": "nvidia-l4"}
TPU = {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice"}


def _findings(
    selector: Any = None, spec: Any = None, pod: Any = None, **container: Any
) -> list[bool]:
    """Whether each finding is a sure one, for one Job."""
    template = {
        "nodeSelector": selector if selector is UNKNOWN else ON_SPOT | (selector or {}),
        "containers": [{"name": "train", "image": "train", **container}],
        **(pod or {}),
    }
    props = {"spec": {"template": {"spec": template}, **(spec or {})}}
    job = Resource("kubernetes:batch/v1:Job", "train", "urn:train", props)
    return [finding.certain for finding in checkpoint_location(Stack([job]))]


def _asks(kind: str, key: str, count: Any = 1) -> dict[str, Any]:
    return {"resources": {kind: {"cpu": "4", key: count}}}


@pytest.mark.parametrize("selector", [L4, TPU], ids=str)
def test_selector_of_an_accelerator_makes_a_job_dear(selector: Any) -> None:
    assert _findings(selector) == [True]


@pytest.mark.parametrize("kind", ["limits", "requests"])
@pytest.mark.parametrize("key", ["nvidia.com/gpu", "google.com/tpu"])
def test_request_of_an_accelerator_makes_a_job_dear(kind: str, key: str) -> None:
    assert _findings(**_asks(kind, key, "2")) == [True]


@pytest.mark.parametrize(
    "container",
    [{}, _asks("limits", "memory", "4Gi"), _asks("limits", "nvidia.com/gpu", 0)],
    ids=str,
)
def test_job_without_accelerators_may_start_again(container: Any) -> None:
    assert _findings(**container) == []


@pytest.mark.parametrize(
    "container",
    [{"resources": {"limits": UNKNOWN}}, {"resources": {"requests": UNKNOWN}}],
    ids=str,
)
def test_accelerators_that_are_not_known_make_no_sure_finding(container: Any) -> None:
    assert _findings(**container) == [False]


@pytest.mark.parametrize("at", ["spec", "pod"])
@pytest.mark.parametrize(
    ("seconds", "asked"),
    [(SHORT_JOB_SECONDS, False), (SHORT_JOB_SECONDS + 1, True), (0, True), (-5, True), (1, False)],
)
def test_job_of_at_most_an_hour_is_not_asked(at: str, seconds: int, asked: bool) -> None:
    found = _findings(L4, **{at: {"activeDeadlineSeconds": seconds}})

    assert found == ([True] if asked else [])
    assert SHORT_JOB_SECONDS == 60 * 60


def test_the_shorter_of_two_deadlines_counts() -> None:
    long, short = {"activeDeadlineSeconds": 86_400}, {"activeDeadlineSeconds": 600}

    assert _findings(L4, spec=long, pod=short) == []
    assert _findings(L4, spec=short, pod=long) == []


@pytest.mark.parametrize(
    "container",
    [
        {"command": ["worker", "--subscription=work"]},
        {"args": ["--from", "projects/acme/subscriptions/work"]},
        {"env": [{"name": "WORK_SUBSCRIPTION", "value": "work"}]},
        {"env": [{"name": "WORK", "value": "projects/acme/subscriptions/work"}]},
        {"env": [{"name": "SUBSCRIPTION", "value": UNKNOWN}]},
    ],
    ids=str,
)
def test_worker_of_a_queue_gets_its_work_again(container: Any) -> None:
    assert _findings(L4, **container) == []


def test_topic_is_no_queue_to_work_on() -> None:
    assert _findings(L4, args=["projects/acme/topics/work"]) == [True]


def test_bucket_of_the_stack_in_the_job_is_a_place_before_its_name_is_known() -> None:
    bucket = Resource("gcp:storage/bucket:Bucket", "runs", "urn:runs", {})
    spec = {
        "template": {
            "spec": {
                "nodeSelector": ON_SPOT | L4,
                "containers": [{"name": "train", "args": ["--to", UNKNOWN]}],
            }
        }
    }

    def found(*depends_on: str) -> list[bool]:
        job = Resource(
            "kubernetes:batch/v1:Job",
            "train",
            "urn:train",
            {"spec": spec},
            dependencies={"spec": depends_on},
        )
        return [finding.certain for finding in checkpoint_location(Stack([bucket, job]))]

    assert found("urn:runs") == []
    assert found("urn:other") == [False]
