"""What a workload says to Kubernetes, so that it survives the loss of its node."""

from typing import Any

import pytest

from spotproof_gke import contract
from spotproof_gke.capacity import COMPUTE_CLASS_KEY, GPU_KEY, SPOT_TAINT
from spotproof_gke.rules import spot_scheduling as rule
from spotproof_gke.rules.class_priorities import class_conflicts
from spotproof_gke.rules.reading import UNKNOWN
from spotproof_gke.workloads.judge import findings, problems
from spotproof_gke.workloads.scheduling import (
    flex_start_scheduling,
    gpu_scheduling,
    spot_scheduling,
)
from tests.policies.helpers import PACK_NAMES, Case, pack, run
from tests.unit.workload_examples import (
    EXAMPLES,
    FLEX_START_JOB,
    QUEUE_WORKERS,
    SPOT_JOB,
    job_spec_of,
    manifests,
    pod_of,
)

ALL = [
    pytest.param(component, args, id=f"{component}-{number}")
    for component, several in EXAMPLES.items()
    for number, args in enumerate(several)
]
JOBS = [param for param in ALL if str(param.id).partition("-")[0].endswith("Job")]


def _job(component: str, args: dict[str, Any]) -> dict[str, Any]:
    return manifests(component, args)[-1]


def _env(manifest: dict[str, Any]) -> dict[str, Any]:
    return {one["name"]: one.get("value") for one in pod_of(manifest)["containers"][0]["env"]}


def _case(made: list[dict[str, Any]]) -> Case:
    resources = {}
    for one in made:
        version = one["apiVersion"] if "/" in one["apiVersion"] else f"core/{one['apiVersion']}"
        resources[one["kind"]] = {"type": f"kubernetes:{version}:{one['kind']}", "props": one}
    return Case("", "", "good", "ours", resources, [])


@pytest.mark.parametrize(("component", "args"), ALL)
@pytest.mark.parametrize("pack_name", PACK_NAMES)
def test_no_policy_has_a_remark_about_what_a_component_makes(
    pack_name: str, component: str, args: dict[str, Any]
) -> None:
    case = _case(manifests(component, args))
    remarks = [found for one in pack(pack_name).POLICIES for found in run(one, case)]
    assert remarks == []


@pytest.mark.parametrize(("component", "args"), JOBS)
def test_a_job_loses_no_retry_to_an_interruption_and_ends_when_it_is_hopeless(
    component: str, args: dict[str, Any]
) -> None:
    made = _job(component, args)
    spec, in_set = job_spec_of(made), made["kind"] == "JobSet"
    hopeless, lost, interrupted = spec["podFailurePolicy"]["rules"]
    assert hopeless["action"] == ("FailIndex" if in_set else "FailJob")
    assert hopeless["onExitCodes"]["values"] == [contract.EXIT_HOPELESS]
    assert lost["action"] == ("FailJob" if in_set else "Ignore")
    assert [each["type"] for each in lost["onPodConditions"]] == ["DisruptionTarget"]
    assert interrupted["action"] == "Ignore"
    assert interrupted["onExitCodes"]["values"] == [contract.EXIT_INTERRUPTED]
    assert spec["template"]["spec"]["restartPolicy"] == "Never"
    assert spec["backoffLimitPerIndex" if in_set else "backoffLimit"] == 3
    assert spec["activeDeadlineSeconds"] == SPOT_JOB["deadline_seconds"]


def test_a_job_set_restarts_for_a_lost_node_alone_and_counts_nothing() -> None:
    policy = _job("SpotJob", SPOT_JOB)["spec"]["failurePolicy"]
    lost, failed = policy["rules"]
    assert lost["action"] == "RestartJobSetAndIgnoreMaxRestarts"
    assert lost["onJobFailureReasons"] == ["PodFailurePolicy"]
    assert failed == {"name": "failed", "action": "FailJobSet"}


def test_both_kinds_of_a_training_have_the_same_pods() -> None:
    made, plain = (_job("SpotJob", {**SPOT_JOB, "kind": kind}) for kind in ("jobset", "job"))
    assert (made["kind"], plain["kind"]) == ("JobSet", "Job")
    assert job_spec_of(made)["template"] == job_spec_of(plain)["template"]
    assert made["metadata"] == plain["metadata"]


@pytest.mark.parametrize(("component", "args"), JOBS)
def test_two_pods_of_a_job_never_write_one_checkpoint_at_once(
    component: str, args: dict[str, Any]
) -> None:
    made = _job(component, args)
    assert job_spec_of(made)["podReplacementPolicy"] == "Failed"
    if made["kind"] == "JobSet":
        assert made["spec"]["failurePolicy"]["restartStrategy"] == "BlockingRecreate"


@pytest.mark.parametrize(("component", "args"), JOBS)
def test_an_update_does_not_wait_for_the_end_of_a_training(
    component: str, args: dict[str, Any]
) -> None:
    assert _job(component, args)["metadata"]["annotations"]["pulumi.com/skipAwait"] == "true"


def test_the_program_is_told_where_to_save_and_how_long_it_has() -> None:
    args = {**SPOT_JOB, "save_estimate_seconds": 90, "shutdown_grace_seconds": 120}
    job = _job("SpotJob", args)
    assert _env(job) == {
        contract.CHECKPOINT_LOCATION_VARIABLE: "gs://acme-ml-checkpoints/run-1",
        contract.SAVE_ESTIMATE_VARIABLE: "90",
        contract.TERMINATION_BUDGET_VARIABLE: "105",
    }
    assert pod_of(job)["terminationGracePeriodSeconds"] == 105


def test_a_pod_has_no_more_grace_than_its_node_gives() -> None:
    for component, args in (("SpotJob", SPOT_JOB), ("FlexStartJob", FLEX_START_JOB)):
        assert pod_of(_job(component, args))["terminationGracePeriodSeconds"] == 15
    assert (
        pod_of(manifests("QueueWorkers", QUEUE_WORKERS)[0])["terminationGracePeriodSeconds"] == 15
    )


def test_work_on_flex_start_is_told_when_its_node_ends() -> None:
    assert _env(_job("FlexStartJob", FLEX_START_JOB))[contract.NODE_LIFETIME_VARIABLE] == "604800"
    shorter = {**FLEX_START_JOB, "node_lifetime_seconds": 90_000}
    assert _env(_job("FlexStartJob", shorter))[contract.NODE_LIFETIME_VARIABLE] == "90000"


def test_the_life_of_a_node_bounds_the_run_of_a_pod_and_not_the_wait_of_its_job() -> None:
    job = _job("FlexStartJob", FLEX_START_JOB)
    assert pod_of(job)["activeDeadlineSeconds"] == 604_800
    assert job["spec"]["activeDeadlineSeconds"] == 864_000
    assert "activeDeadlineSeconds" not in pod_of(_job("SpotJob", SPOT_JOB))


def test_a_plain_flex_start_job_asks_for_nodes_as_google_documents_it() -> None:
    pod = pod_of(_job("FlexStartJob", {**FLEX_START_JOB, "accelerator": "nvidia-tesla-a100"}))
    assert pod["nodeSelector"] == {
        "cloud.google.com/gke-flex-start": "true",
        "cloud.google.com/gke-accelerator": "nvidia-tesla-a100",
    }
    assert "tolerations" not in pod
    assert pod["containers"][0]["resources"]["limits"] == {GPU_KEY: "1"}


def test_auto_provisioning_is_told_the_lifetime_and_the_driver() -> None:
    args = {**FLEX_START_JOB, "nodes": "auto-provisioning", "node_lifetime_seconds": 90_000}
    assert pod_of(_job("FlexStartJob", args))["nodeSelector"] == {
        "cloud.google.com/gke-flex-start": "true",
        "cloud.google.com/gke-accelerator": "nvidia-l4",
        "cloud.google.com/gke-max-run-duration-seconds": "90000",
        "cloud.google.com/gke-gpu-driver-version": "default",
    }


def test_a_class_alone_is_selected_since_other_labels_would_contradict_it() -> None:
    args = {"accelerator": None, "gpus": 2, "compute_class": "gpus"}
    for component, base in (("SpotJob", SPOT_JOB), ("FlexStartJob", FLEX_START_JOB)):
        pod = pod_of(_job(component, {**base, **args}))
        assert pod["nodeSelector"] == {COMPUTE_CLASS_KEY: "gpus"}
        assert pod["containers"][0]["resources"]["limits"] == {GPU_KEY: "2"}
    spot = pod_of(_job("SpotJob", {**SPOT_JOB, **args}))
    assert SPOT_TAINT.toleration() in spot["tolerations"]


def test_kueue_starts_the_job_and_asks_for_the_lifetime_of_its_nodes() -> None:
    job = _job("FlexStartJob", {**FLEX_START_JOB, "queue": "gpus", "pods": 4})
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "gpus"
    annotations = job["metadata"]["annotations"]
    assert annotations["provreq.kueue.x-k8s.io/maxRunDurationSeconds"] == "604800"
    assert job["spec"]["suspend"] is True
    assert (job["spec"]["completions"], job["spec"]["parallelism"]) == (4, 4)
    assert job["spec"]["completionMode"] == "Indexed"


def test_a_request_by_hand_is_consumed_by_the_pods_of_its_job() -> None:
    args = {**FLEX_START_JOB, "provisioning_request": True, "pods": 2}
    template, request, job = manifests("FlexStartJob", args)
    assert request["spec"]["podSets"] == [{"count": 2, "podTemplateRef": {"name": "work"}}]
    assert template["metadata"]["name"] == "work"
    assert template["metadata"]["labels"]["cloud.google.com/apply-warden-policies"] == "true"
    annotations = job["spec"]["template"]["metadata"]["annotations"]
    assert annotations == {
        "autoscaling.x-k8s.io/consume-provisioning-request": "work",
        "autoscaling.x-k8s.io/provisioning-class-name": "queued-provisioning.gke.io",
    }
    # Nodes are provided for what the template asks, so it asks for what the pods ask.
    assert template["template"]["spec"] == job["spec"]["template"]["spec"]


def test_a_secret_is_named_and_its_value_stands_nowhere() -> None:
    args = {**SPOT_JOB, "secret_env": {"WANDB_API_KEY": {"secret": "tracking", "key": "api"}}}
    named = [
        one
        for one in pod_of(_job("SpotJob", args))["containers"][0]["env"]
        if one["name"] == "WANDB_API_KEY"
    ]
    reference = {"secretKeyRef": {"name": "tracking", "key": "api"}}
    assert named == [{"name": "WANDB_API_KEY", "valueFrom": reference}]


def test_a_mounted_bucket_comes_with_what_its_driver_needs() -> None:
    args = {**SPOT_JOB, "checkpoint_location": "/checkpoints", "checkpoint_bucket": "acme-runs"}
    template = job_spec_of(_job("SpotJob", args))["template"]
    assert template["metadata"]["annotations"] == {"gke-gcsfuse/volumes": "true"}
    (volume,) = template["spec"]["volumes"]
    assert volume["csi"]["driver"] == "gcsfuse.csi.storage.gke.io"
    assert volume["csi"]["volumeAttributes"]["bucketName"] == "acme-runs"
    (mount,) = template["spec"]["containers"][0]["volumeMounts"]
    assert mount == {"name": volume["name"], "mountPath": "/checkpoints"}


@pytest.mark.parametrize("volume", ["checkpoint_claim", "checkpoint_bucket"])
def test_an_image_that_runs_as_no_root_may_write_its_checkpoints(volume: str) -> None:
    args = {**SPOT_JOB, "checkpoint_location": "/checkpoints/run", volume: "acme-ml-runs"}
    assert pod_of(_job("SpotJob", args))["securityContext"]["fsGroup"] > 0
    direct = pod_of(_job("SpotJob", {**SPOT_JOB, "shared_memory": "1Gi"}))
    assert "fsGroup" not in direct["securityContext"]


def test_memory_and_disk_are_limits_and_cpu_is_not() -> None:
    args = {**SPOT_JOB, "cpu": "4", "memory": "16Gi", "ephemeral_storage": "50Gi"}
    resources = pod_of(_job("SpotJob", args))["containers"][0]["resources"]
    assert resources["requests"] == {"cpu": "4", "memory": "16Gi", "ephemeral-storage": "50Gi"}
    limits = {"memory": "16Gi", "ephemeral-storage": "50Gi", GPU_KEY: "1"}
    assert resources["limits"] == limits


def test_the_number_of_workers_is_the_autoscalers_alone() -> None:
    for scaler in ("keda", "hpa"):
        workers, *_ = manifests("QueueWorkers", {**QUEUE_WORKERS, "scaler": scaler})
        assert "replicas" not in workers["spec"]


def test_workers_scale_with_the_messages_that_wait() -> None:
    *_, scaled = manifests("QueueWorkers", {**QUEUE_WORKERS, "messages_per_worker": 4})
    (trigger,) = scaled["spec"]["triggers"]
    assert trigger["metadata"]["subscriptionName"] == QUEUE_WORKERS["subscription"]
    assert trigger["metadata"]["value"] == "4"
    assert (scaled["spec"]["minReplicaCount"], scaled["spec"]["maxReplicaCount"]) == (0, 50)
    *_, scaled = manifests("QueueWorkers", {**QUEUE_WORKERS, "scaler": "hpa"})
    (metric,) = scaled["spec"]["metrics"]
    assert metric["external"]["metric"]["selector"]["matchLabels"] == {
        "resource.labels.subscription_id": "jobs"
    }
    assert scaled["spec"]["minReplicas"] == 1


def test_the_address_of_the_database_comes_from_its_secret() -> None:
    workers, *_ = manifests("QueueWorkers", QUEUE_WORKERS)
    (address,) = [
        one
        for one in pod_of(workers)["containers"][0]["env"]
        if one["name"] == contract.DATABASE_URL_VARIABLE
    ]
    assert address["valueFrom"] == {"secretKeyRef": {"name": "results", "key": "url"}}


def test_a_drain_may_always_take_some_workers() -> None:
    _, budget, *_ = manifests("QueueWorkers", QUEUE_WORKERS)
    assert budget["kind"] == "PodDisruptionBudget"
    assert budget["spec"]["maxUnavailable"] == "50%"
    assert "minAvailable" not in budget["spec"]


def test_selector_and_toleration_of_the_helpers_never_part() -> None:
    for found in (spot_scheduling(), spot_scheduling("nvidia-l4")):
        assert found.manifest()["tolerations"] == [SPOT_TAINT.toleration()]
        assert found.manifest()["nodeSelector"]["cloud.google.com/gke-spot"] == "true"
        assert found.arguments()["node_selector"] == found.manifest()["nodeSelector"]
        assert any(certain for _, certain in rule.spot_scheduling(found.manifest()))
    assert "tolerations" not in flex_start_scheduling("nvidia-l4").manifest()
    assert flex_start_scheduling().manifest()["tolerations"]
    gpu = gpu_scheduling("nvidia-l4").manifest()
    assert gpu["tolerations"] == [{"key": GPU_KEY, "operator": "Exists", "effect": "NoSchedule"}]
    assert not list(rule.spot_scheduling(gpu))


def test_what_a_helper_gives_can_be_changed_without_changing_the_next() -> None:
    spot_scheduling("nvidia-l4").manifest()["tolerations"][0]["effect"] = "NoExecute"
    spot_scheduling("nvidia-l4").manifest()["nodeSelector"]["a"] = "b"
    assert spot_scheduling("nvidia-l4").manifest() == {
        "nodeSelector": {
            "cloud.google.com/gke-spot": "true",
            "cloud.google.com/gke-accelerator": "nvidia-l4",
        },
        "tolerations": [SPOT_TAINT.toleration()],
    }


BROKEN: dict[str, dict[str, Any]] = {
    "restart_policy": {"template": {"restartPolicy": "OnFailure"}},
    "failure_policy": {"podFailurePolicy": {"rules": []}},
    "backoff_limit": {"backoffLimit": 0, "backoffLimitPerIndex": 0},
    "deadline_seconds": {"activeDeadlineSeconds": None},
    "command": {
        "template": {"containers": [{"command": ["sh", "-c", "prepare; python -m train; report"]}]}
    },
}


@pytest.mark.parametrize("kind", ["jobset", "job"])
@pytest.mark.parametrize("argument", BROKEN)
def test_a_job_that_a_policy_would_refuse_is_refused_by_the_same_rule(
    argument: str, kind: str
) -> None:
    job = _job("SpotJob", {**SPOT_JOB, "kind": kind})
    change = dict(BROKEN[argument])
    pod_of(job).update(change.pop("template", {}))
    job_spec_of(job).update(change)
    (told,) = problems(job)
    assert told.key == argument
    (found,) = (each for key, each in findings(job) if key == argument)
    assert told.rule == found.rule


def test_a_job_by_a_class_is_judged_as_one_on_spot() -> None:
    args = {**FLEX_START_JOB, "accelerator": None, "compute_class": "gpus"}
    job = _job("FlexStartJob", args)
    job["spec"]["backoffLimit"] = 0
    assert [told.key for told in problems(job)] == ["backoff_limit"]


@pytest.mark.parametrize(
    ("spec", "key"),
    [
        ({"priorities": [{"spot": True, "flexStart": {"enabled": True}}]}, "priorities[0].spot"),
        (
            {"priorities": [{"spot": True, "reservations": {"affinity": "AnyBestEffort"}}]},
            "priorities[0].reservations",
        ),
        (
            {"priorities": [{"maxRunDurationSeconds": 604_801}]},
            "priorities[0].maxRunDurationSeconds",
        ),
        (
            {"priorities": [{}], "activeMigration": {"optimizeRulePriority": True}},
            "activeMigration.optimizeRulePriority",
        ),
        ({}, "priorities"),
    ],
)
def test_the_class_of_another_is_judged_by_the_same_rule(spec: dict[str, Any], key: str) -> None:
    assert [told.key for told in class_conflicts(spec)] == [key]


@pytest.mark.parametrize(
    "spec",
    [
        {"priorities": UNKNOWN},
        {"priorities": [UNKNOWN, UNKNOWN]},
        {"priorities": [{"spot": True, "flexStart": UNKNOWN, "maxRunDurationSeconds": UNKNOWN}]},
        {"priorities": [{"spot": True}], "activeMigration": UNKNOWN},
    ],
    ids=range(4),
)
def test_what_is_not_known_breaks_no_rule_of_classes(spec: dict[str, Any]) -> None:
    assert list(class_conflicts(spec)) == []
