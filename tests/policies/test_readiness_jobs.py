"""Which Jobs of a stack may lose their node, and which failures a JobSet takes for nothing."""

from typing import Any

import pytest

from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.job_set_restarts import (
    Failure,
    by_pod_failure_policy,
    restarts_for_free,
)
from spotproof_gke.rules.reading import UNKNOWN
from spotproof_gke.rules.spot_jobs import interruptible_jobs, spot_jobs

ON_SPOT = {"nodeSelector": {"cloud.google.com/gke-spot": "true"}}
ON_FLEX = {"nodeSelector": {"cloud.google.com/gke-flex-start": "true"}}
JOB = {"template": {"spec": ON_SPOT}}
AT_HOME = {"template": {"spec": {"nodeSelector": {"team": "home"}}}}
FREE = "RestartJobSetAndIgnoreMaxRestarts"
FREE_JOB = "RestartJobAndIgnoreMaxRestarts"


def _places(kind: str, props: dict[str, Any], rule: Any = interruptible_jobs) -> list[str]:
    resource = Resource(kind, "work", "urn:work", props)
    return [job.where for job in rule(Stack([resource]))]


@pytest.mark.parametrize(
    ("kind", "props", "places"),
    [
        ("batch/v1:Job", {"spec": JOB}, [""]),
        ("batch/v1:Job", {"spec": AT_HOME}, []),
        ("batch/v1:Job", {"spec": UNKNOWN}, [""]),
        ("batch/v1:Job", {"spec": {}}, []),
        ("batch/v1:Job", {}, []),
        ("batch/v1:JobPatch", {"spec": JOB}, []),
        ("batch/v1:CronJob", {"spec": {"jobTemplate": {"spec": JOB}}}, [""]),
        ("batch/v1:CronJob", {"spec": {"jobTemplate": UNKNOWN}}, [""]),
        ("apps/v1:Deployment", {"spec": JOB}, []),
        ("batch/v1:JobList", {"items": [{"spec": JOB}, {"spec": AT_HOME}]}, ["items[0]: "]),
        ("batch/v1:JobList", {"items": UNKNOWN}, [""]),
        ("batch/v1:JobList", {"items": [{"spec": AT_HOME}, UNKNOWN]}, [""]),
        ("batch/v1:CronJobList", {"items": UNKNOWN}, [""]),
        ("core/v1:PodList", {"items": UNKNOWN}, []),
        ("core/v1:List", {"items": [{"kind": "Job", "spec": JOB}, UNKNOWN]}, ["items[0]: "]),
        ("core/v1:List", {"items": [{"kind": "Deployment", "spec": JOB}]}, []),
        ("batch/v1:JobList", {"items": [{"kind": "Deployment", "spec": JOB}]}, []),
        ("batch/v1:CronJobList", {"items": [{"kind": "Job", "spec": JOB}]}, ["items[0]: "]),
    ],
    ids=str,
)
def test_jobs_are_found_wherever_they_stand(kind: str, props: Any, places: list[str]) -> None:
    assert _places(f"kubernetes:{kind}", props) == places


@pytest.mark.parametrize(
    ("replicated", "places"),
    [
        ([{"template": {"spec": AT_HOME}}, {"template": {"spec": JOB}}], ["replicatedJobs[1]: "]),
        ([UNKNOWN], ["replicatedJobs[0]: "]),
        (UNKNOWN, [""]),
        ([], []),
    ],
    ids=str,
)
def test_jobs_of_a_job_set_are_found(replicated: Any, places: list[str]) -> None:
    spec = {"replicatedJobs": replicated}
    kind = "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet"

    assert _places(kind, {"spec": spec}) == places


def test_what_is_no_object_of_kubernetes_has_no_jobs() -> None:
    assert _places("gcp:batch/v1:Job", {"spec": JOB}) == []
    assert _places("random:index/id:Job", {"spec": JOB}) == []


def test_flex_start_jobs_end_and_are_not_taken_away() -> None:
    props = {"spec": {"template": {"spec": ON_FLEX}}}

    assert _places("kubernetes:batch/v1:Job", props) == [""]
    assert _places("kubernetes:batch/v1:Job", props, spot_jobs) == []
    assert _places("kubernetes:batch/v1:Job", {"spec": JOB}, spot_jobs) == [""]


@pytest.mark.parametrize(
    ("rule", "messages"),
    [
        ({}, ["condition DisruptionTarget"]),
        ({"onExitCodes": {"values": [143, 7]}}, ["exit code 143 "]),
        ({"onExitCodes": {"values": [143.0, 137.0]}}, ["exit code 143 ", "exit code 137 "]),
        ({"onExitCodes": {"values": [7]}}, ["exit code 143 ", "exit code 137 "]),
        ({"onExitCodes": UNKNOWN}, ["condition DisruptionTarget", ""]),
    ],
    ids=str,
)
def test_job_says_by_which_rule_it_failed(rule: Any, messages: list[str]) -> None:
    failure = by_pod_failure_policy(rule, 3, (143, 137))

    assert failure.reason == "PodFailurePolicy"
    assert len(failure.messages) == len(messages)
    for part in messages:
        assert any(part in said if part else said == "" for said in failure.messages)
    assert all("at index 3" in said for said in failure.messages if said)


def _free(*rules: Any, job_set: Any = None, failure: Failure | None = None) -> bool | None:
    spec = {"failurePolicy": {"rules": list(rules)}, "replicatedJobs": REPLICATED}
    return restarts_for_free(
        spec if job_set is None else job_set, TRAIN, failure or Failure("Lost", ("a", "ab"))
    )


TRAIN: dict[str, Any] = {"template": {}}
OTHER: dict[str, Any] = {"template": {}}
REPLICATED = [
    {"name": "other", "template": {"spec": OTHER}},
    {"name": "train", "template": {"spec": TRAIN}},
]


@pytest.mark.parametrize("action", [FREE, FREE_JOB])
def test_rule_that_ignores_the_limit_makes_a_restart_free(action: str) -> None:
    assert _free({"action": action}) is True


@pytest.mark.parametrize(
    "rules",
    [
        [],
        [{"action": "FailJobSet"}, {"action": FREE}],
        [{"action": "RestartJobSet"}],
        [{"action": FREE, "onJobFailureReasons": ["Other"]}],
        [{"action": FREE, "onJobFailureMessagePatterns": ["c"]}],
        [{"action": FREE, "targetReplicatedJobs": ["other"]}],
    ],
    ids=str,
)
def test_restart_counts_without_a_rule_of_its_own(rules: list[Any]) -> None:
    assert _free(*rules) is False


@pytest.mark.parametrize(
    "rule",
    [
        {"onJobFailureReasons": ["Other", "Lost"]},
        {"onJobFailureReasons": [], "targetReplicatedJobs": []},
        {"onJobFailureMessagePatterns": ["^a"]},
        {"onJobFailureMessagePatterns": ["c", "a"]},
        {"targetReplicatedJobs": ["other", "train"]},
        {"onJobFailureReasons": [UNKNOWN, "Lost"]},
    ],
    ids=str,
)
def test_rule_matches_by_any_of_each_list(rule: Any) -> None:
    assert _free({"action": "FailJobSet", "onJobFailureReasons": ["No"]}, {"action": FREE, **rule})


@pytest.mark.parametrize(
    "rule",
    [
        UNKNOWN,
        {"action": UNKNOWN},
        {"onJobFailureReasons": UNKNOWN},
        {"onJobFailureReasons": [UNKNOWN]},
        {"onJobFailureMessagePatterns": UNKNOWN},
        {"onJobFailureMessagePatterns": ["b"]},
        {"onJobFailureMessagePatterns": ["("]},
        {"targetReplicatedJobs": UNKNOWN},
        {"targetReplicatedJobs": ["other", UNKNOWN]},
    ],
    ids=str,
)
def test_what_is_not_known_of_a_rule_leaves_it_open(rule: Any) -> None:
    known = rule if rule is UNKNOWN else {"action": FREE, **rule}

    assert _free(known, {"action": FREE}) is None


def test_rule_for_another_job_is_passed_over_though_its_action_is_not_known() -> None:
    assert _free({"action": UNKNOWN, "targetReplicatedJobs": ["other"]}, {"action": FREE}) is True


def test_rules_that_are_not_known_leave_a_restart_open() -> None:
    unknown = {"failurePolicy": {"rules": UNKNOWN}, "replicatedJobs": REPLICATED}

    assert _free(job_set=unknown) is None
    assert _free(job_set={"failurePolicy": UNKNOWN}) is None
    assert restarts_for_free(None, TRAIN, Failure("Lost", ("a",))) is False
