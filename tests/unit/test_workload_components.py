"""What workload components refuse, in words and before anything is declared."""

import time
from collections.abc import Callable
from typing import Any

import pulumi
import pulumi_kubernetes
import pytest

import spotproof
from spotproof.reader import ArgumentsError
from spotproof_gke.problems import Problem
from tests.unit.declared import declare, only
from tests.unit.workload_examples import (
    CAPACITY_CLASS,
    EXAMPLES,
    FLEX_START_JOB,
    KUEUE_QUEUES,
    L4,
    QUEUE_WORKERS,
    SPOT_JOB,
    manifests,
    pod_of,
)

SCRIPT = "prepare; python -m train; report"
SECRET = "hunter2-and-more"
SPOT = {"capacity": "spot", **L4}
(QUEUED,) = KUEUE_QUEUES["flavors"]
BASES: dict[str, dict[str, Any]] = {name: several[0] for name, several in EXAMPLES.items()}

REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    ("SpotJob", {"command": ["bash", "-c", SCRIPT]}, "command", "no shell stands"),
    ("SpotJob", {"command": "python -m train"}, "command", "a list of texts"),
    ("SpotJob", {"command": ["python", 3]}, "command", "a list of texts"),
    ("SpotJob", {"command": [""]}, "command", "a list of texts"),
    ("SpotJob", {"command": None, "arguments": ["sh", "-c", SCRIPT]}, "command", "no shell stands"),
    ("SpotJob", {"namespace": "kube-system"}, "namespace", "a system workload"),
    ("SpotJob", {"namespace": "Training"}, "namespace", "lower-case"),
    ("SpotJob", {"job_name": "a.b"}, "job_name", "lower-case"),
    ("SpotJob", {"job_name": "a" * 64}, "job_name", "63"),
    ("SpotJob", {"job_name": "a" * 49}, "job_name", "48 characters"),
    ("SpotJob", {"job_name": "7b"}, "job_name", "begins with a letter"),
    ("SpotJob", {"kind": "Deployment"}, "kind", "one of jobset, job"),
    ("SpotJob", {"deadline_seconds": None}, "deadline_seconds", "is required"),
    ("SpotJob", {"deadline_seconds": 0}, "deadline_seconds", "this is from 1"),
    ("SpotJob", {"backoff_limit": 0}, "backoff_limit", "this is from 1"),
    ("SpotJob", {"backoff_limit": 1000}, "backoff_limit", "to 100"),
    ("SpotJob", {"save_estimate_seconds": 16}, "save_estimate_seconds", "a pod has 15 s"),
    (
        "SpotJob",
        {"save_estimate_seconds": 106, "shutdown_grace_seconds": 120},
        "save_estimate_seconds",
        "a pod has 105 s",
    ),
    ("SpotJob", {"shutdown_grace_seconds": 60}, "shutdown_grace_seconds", "0, 30, 120"),
    (
        "SpotJob",
        {"shutdown_grace_seconds": 30, "critical_shutdown_grace_seconds": 30},
        "critical_shutdown_grace_seconds",
        "less than all",
    ),
    (
        "SpotJob",
        {"critical_shutdown_grace_seconds": 10},
        "critical_shutdown_grace_seconds",
        "extended shutdown alone",
    ),
    (
        "SpotJob",
        {"shutdown_grace_seconds": 30, "nodes": "autopilot"},
        "shutdown_grace_seconds",
        "GKE's alone",
    ),
    ("SpotJob", {"checkpoint_location": "gs://runs"}, "checkpoint_location", "a prefix of its own"),
    ("SpotJob", {"checkpoint_location": "gs://R/a"}, "checkpoint_location", "names no bucket"),
    ("SpotJob", {"checkpoint_location": "s3://runs/a"}, "checkpoint_location", "gs://BUCKET"),
    ("SpotJob", {"checkpoint_location": "/runs"}, "checkpoint_location", "goes with the pod"),
    ("SpotJob", {"checkpoint_claim": "runs"}, "checkpoint_location", "gs:// is none"),
    (
        "SpotJob",
        {
            "checkpoint_location": "/runs",
            "checkpoint_claim": "runs",
            "checkpoint_bucket": "acme-runs",
        },
        "checkpoint_bucket",
        "one volume",
    ),
    ("SpotJob", {"accelerator": "nvidia-a100"}, "accelerator", "do not know this GPU"),
    ("SpotJob", {"accelerator": "nvidia-gb200"}, "accelerator", "only as reservation"),
    ("SpotJob", {"gpus": 9}, "gpus", "at most 8"),
    ("SpotJob", {"accelerator": None, "gpus": 1}, "accelerator", "says which"),
    ("SpotJob", {"compute_class": "gpus"}, "accelerator", "a compute class decides"),
    (
        "SpotJob",
        {"accelerator": None, "compute_class": "gpus", "nodes": "auto-provisioning"},
        "nodes",
        "a compute class decides",
    ),
    ("SpotJob", {"nodes": "somewhere"}, "nodes", "one of pool"),
    ("SpotJob", {"service_account": "other/trainer"}, "service_account", "own namespace"),
    ("SpotJob", {"service_account": "Trainer"}, "service_account", "lower-case"),
    ("SpotJob", {"memory": "16GB"}, "memory", "as Kubernetes writes it"),
    ("SpotJob", {"cpu": "four"}, "cpu", "a number of CPUs"),
    ("SpotJob", {"env": {"A B": "x"}}, "env.A B", "letters, digits"),
    ("SpotJob", {"env": {"1A": "x"}}, "env.1A", "no digit"),
    ("SpotJob", {"env": {".": "x"}}, "env..", "no digit"),
    ("SpotJob", {"env": {"..A": "x"}}, "env...A", "two dots"),
    ("SpotJob", {"env": {"A=B": "x"}}, "env.A=B", "letters, digits"),
    ("SpotJob", {"secret_env": {"A B": {"secret": "s", "key": "k"}}}, "secret_env.A B", "letters"),
    ("SpotJob", {"env": {"SPOTPROOF_X": "x"}}, "env.SPOTPROOF_X", "set by the component"),
    ("SpotJob", {"env": {"N": 3}}, "env.N", "is a text"),
    (
        "SpotJob",
        {"labels": {"app.kubernetes.io/name": "x"}},
        "labels.app.kubernetes.io/name",
        "by the",
    ),
    ("SpotJob", {"labels": {"a": "b c"}}, "labels.a", "a label value"),
    ("SpotJob", {"labels": {"job-name": "x"}}, "labels.job-name", "by the component"),
    ("SpotJob", {"annotations": {"a": "x" * 262_144}}, "annotations", "together"),
    (
        "SpotJob",
        {"accelerator": None, "compute_class": f"{'a' * 40}.{'b' * 40}"},
        "compute_class",
        "at most 63",
    ),
    ("SpotJob", {"secret_env": {"A": {"secret": "s", "key": ".."}}}, "secret_env.A.key", "two dot"),
    (
        "SpotJob",
        {
            "checkpoint_location": "/dev/shm",
            "checkpoint_claim": "runs",
            "shared_memory": "1Gi",
        },
        "shared_memory",
        "is mounted at /dev/shm already",
    ),
    ("FlexStartJob", {"pods": 11, "job_name": "a" * 61}, "job_name", "at most 60"),
    ("FlexStartJob", {"queue": f"{'a' * 40}.{'b' * 40}"}, "queue", "at most 63"),
    ("SpotJob", {"annotations": {"a": 1}}, "annotations.a", "is a text"),
    ("SpotJob", {"restart_policy": "OnFailure"}, "restart_policy", "no such key"),
    (
        "FlexStartJob",
        {"expected_duration_seconds": 604_801},
        "expected_duration_seconds",
        "ends after 604800 s",
    ),
    (
        "FlexStartJob",
        {"node_lifetime_seconds": 3600, "expected_duration_seconds": 3601},
        "expected_duration_seconds",
        "ends after 3600 s",
    ),
    ("FlexStartJob", {"node_lifetime_seconds": 604_801}, "node_lifetime_seconds", "to 604800"),
    ("FlexStartJob", {"node_lifetime_seconds": 599}, "node_lifetime_seconds", "from 600"),
    (
        "FlexStartJob",
        {"deadline_seconds": 3600},
        "expected_duration_seconds",
        "longer than its deadline",
    ),
    ("FlexStartJob", {"save_estimate_seconds": 16}, "save_estimate_seconds", "a pod has 15 s"),
    (
        "FlexStartJob",
        {"queue": "gpus", "provisioning_request": True},
        "provisioning_request",
        "Kueue makes",
    ),
    (
        "FlexStartJob",
        {"accelerator": None, "compute_class": "gpus", "provisioning_request": True},
        "provisioning_request",
        "a pool or of auto-provisioning",
    ),
    ("FlexStartJob", {"namespace": "gke-managed-system"}, "namespace", "a system workload"),
    ("FlexStartJob", {"shutdown_grace_seconds": 120}, "shutdown_grace_seconds", "no such key"),
    ("QueueWorkers", {"subscription": "jobs"}, "subscription", "a full id"),
    ("QueueWorkers", {"scaler": "hpa", "min_workers": 0}, "min_workers", "at least one worker"),
    ("QueueWorkers", {"min_workers": 51}, "min_workers", "not more than the most"),
    ("QueueWorkers", {"scaler": "hpa", "cooldown_seconds": 7200}, "cooldown_seconds", "to 3600"),
    ("QueueWorkers", {"max_workers": 0}, "max_workers", "from 1"),
    ("QueueWorkers", {"command": ["sh", "-c", SCRIPT]}, "command", "no shell stands"),
    ("CapacityClass", {"priorities": []}, "priorities", "1 to 10"),
    (
        "CapacityClass",
        {"priorities": [{**SPOT, "max_node_lifetime_seconds": 600 + n} for n in range(11)]},
        "priorities",
        "1 to 10",
    ),
    ("CapacityClass", {"priorities": [SPOT, SPOT]}, "priorities[1]", "the same as priorities[0]"),
    (
        "CapacityClass",
        {"priorities": [{"capacity": "on-demand", "machine_type": "a4-highgpu-8g"}]},
        "priorities[0].machine_type",
        "does not sell it as on-demand",
    ),
    (
        "CapacityClass",
        {"priorities": [{"capacity": "flex-start-queued", **L4}]},
        "priorities[0].capacity",
        "all at once",
    ),
    (
        "CapacityClass",
        {"priorities": [{**SPOT, "zones": ["us-central1-f"]}]},
        "priorities[0].zones",
        "not among the zones",
    ),
    (
        "CapacityClass",
        {"priorities": [{**SPOT, "reservation": "ours"}]},
        "priorities[0].reservation",
        "never come from a reservation",
    ),
    (
        "CapacityClass",
        {"priorities": [{"capacity": "reservation", **L4}]},
        "priorities[0].reservation",
        "needs one",
    ),
    (
        "CapacityClass",
        {"priorities": [{**SPOT, "machine_family": "n2"}]},
        "priorities[0].machine_type",
        "a machine family stands",
    ),
    (
        "CapacityClass",
        {"priorities": [{"capacity": "spot", "machine_family": "g2"}]},
        "priorities[0].machine_family",
        "without GPUs",
    ),
    (
        "CapacityClass",
        {"cluster_location": "me-west1", "priorities": [SPOT]},
        "priorities[0].machine_type",
        "does not have this machine type",
    ),
    ("CapacityClass", {"cluster_version": "1.32.1-gke.1"}, "cluster_version", "1.33.3-gke.1136000"),
    ("KueueQueues", {"local_queues": []}, "local_queues", "through a local one"),
    ("KueueQueues", {"local_queues": ["gpus"]}, "local_queues", "NAMESPACE/NAME"),
    ("KueueQueues", {"local_queues": ["kube-system/a"]}, "local_queues", "of the system"),
    ("KueueQueues", {"flavors": []}, "flavors", "1 to 16"),
    ("KueueQueues", {"flavors": [QUEUED, QUEUED]}, "flavors[1].name", "of its own"),
    (
        "KueueQueues",
        {"flavors": [QUEUED, {**QUEUED, "name": "b", "accelerator": None, "gpus": None}]},
        "flavors[1].gpus",
        "same resources",
    ),
    ("KueueQueues", {"flavors": [{**QUEUED, "gpus": None}]}, "flavors[0].gpus", "how many GPUs"),
    (
        "KueueQueues",
        {"flavors": [{**QUEUED, "accelerator": "nvidia-gb200"}]},
        "flavors[0].accelerator",
        "only as reservation",
    ),
]


def _refused(component: str, change: dict[str, Any]) -> tuple[Problem, ...]:
    args = {**BASES[component], **change}
    given = {key: value for key, value in args.items() if value is not None}
    declared: list[Any] = []
    with pytest.raises(ArgumentsError) as caught:
        declared = declare(lambda: getattr(spotproof, component)("work", given))
    assert declared == []
    return caught.value.problems


@pytest.mark.parametrize(("component", "change", "key", "words"), REFUSED)
def test_a_mistake_is_refused_where_it_was_made(
    component: str, change: dict[str, Any], key: str, words: str
) -> None:
    told = _refused(component, change)
    assert [problem.key for problem in told] == [key], "; ".join(map(str, told))
    assert words in told[0].rule
    assert told[0].fix


@pytest.mark.parametrize(
    "change",
    [
        {"env": {"HF_TOKEN": SECRET}},
        {"env": {"PGPASSWORD": SECRET}},
        {"env": {"MYSQL_PWD": SECRET}},
        {"env": {"GH_TOKEN": SECRET}},
        {"env": {"AWS_SESSION_TOKEN": SECRET}},
        {"env": {"hub.hf-token": SECRET}},
        {"env": {"db.password": SECRET}},
        {"env": {"DATABASE": f"postgres://user:{SECRET}@db/results"}},
        {"env": f"TOKEN={SECRET}"},
        {"env": {"A": [SECRET]}},
        {"secret_env": {"HF_TOKEN": SECRET}},
        {"secret_env": {"HF_TOKEN": {"secret": SECRET + "!", "key": SECRET + "!"}}},
        {"command": f"python train.py --token {SECRET}"},
        {"command": ["sh", "-c", f"prepare; python train.py --token {SECRET}; report"]},
    ],
    ids=range(14),
)
def test_what_may_be_a_secret_is_not_shown(change: dict[str, Any]) -> None:
    told = _refused("SpotJob", change)
    assert told
    for problem in told:
        assert SECRET not in str(problem)


def test_the_address_of_a_database_is_not_shown_either() -> None:
    (told,) = [
        one for one in _refused("QueueWorkers", {"database": f"pg://u:{SECRET}@db"})
        if one.key == "database"
    ]  # fmt: skip
    assert SECRET not in str(told)


@pytest.mark.parametrize(
    "name", ["log.level", "my-setting", ".hidden", "-", "_", "a.b-c_1", "a..b"]
)
def test_names_of_variables_are_those_that_every_kubernetes_takes(name: str) -> None:
    secret = {"secret": "hub", "key": "token"}
    for args in ({"env": {name: "x"}}, {"secret_env": {name: secret}}):
        (job,) = manifests("SpotJob", {**SPOT_JOB, **args})
        assert name in [one["name"] for one in pod_of(job)["containers"][0]["env"]]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TOKENIZERS_PARALLELISM", "false"),
        ("PAD_TOKEN", "<pad>"),
        ("MAX_TOKENS", "4096"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/etc/keys/a.json"),
        ("TRACKING_URI", "https://mlflow.example.com:5000"),
        ("OLDPWD", "work"),
        ("EMPTY", ""),
    ],
)
def test_what_is_no_secret_may_stand_in_the_environment(name: str, value: str) -> None:
    (job,) = manifests("SpotJob", {**SPOT_JOB, "env": {name: value}})
    env = pod_of(job)["containers"][0]["env"]
    assert {"name": name, "value": value} in env


def test_a_long_value_in_the_environment_is_judged_at_once() -> None:
    began = time.monotonic()
    manifests("SpotJob", {**SPOT_JOB, "env": {"SETTINGS": "x" * 100_000}})
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("component", "change"),
    [
        ("SpotJob", {"secret_env": {"A": {"secret": "s" * 253, "key": ".env"}}}),
        ("SpotJob", {"service_account": "a" * 64}),
        ("SpotJob", {"annotations": {"a": "x" * 261_000}}),
        ("FlexStartJob", {"pods": 11, "job_name": "a" * 60}),
        ("FlexStartJob", {"pods": 1, "job_name": "a" * 63}),
        ("FlexStartJob", {"queue": "a" * 63}),
    ],
    ids=range(6),
)
def test_what_is_just_within_a_limit_is_accepted(component: str, change: dict[str, Any]) -> None:
    assert manifests(component, {**BASES[component], **change})


def test_every_mistake_is_told_at_once() -> None:
    change = {"namespace": "A", "image": "", "deadline_seconds": -1, "gpus": 99, "cpu": "x"}
    keys = {problem.key for problem in _refused("SpotJob", change)}
    assert keys == set(change)


def test_a_script_that_execs_the_program_is_accepted() -> None:
    (job,) = manifests("SpotJob", {**SPOT_JOB, "command": ["sh", "-c", "exec python train.py"]})
    assert pod_of(job)["containers"][0]["command"] == ["sh", "-c", "exec python train.py"]


def test_the_same_word_may_stand_twice_in_a_command() -> None:
    command = ["torchrun", "--nproc", "1", "--nnodes", "1", "", "train.py"]
    (job,) = manifests("SpotJob", {**SPOT_JOB, "command": command})
    assert pod_of(job)["containers"][0]["command"] == command


def test_the_first_argument_may_be_empty_but_not_the_program() -> None:
    (job,) = manifests("SpotJob", {**SPOT_JOB, "arguments": ["", "x"]})
    assert pod_of(job)["containers"][0]["args"] == ["", "x"]
    (told,) = _refused("SpotJob", {"command": ["", "x"]})
    assert told.key == "command"


@pytest.mark.parametrize("given", ["trainer", "training/trainer"])
def test_the_service_account_of_a_workload_identity_is_the_same_text(given: str) -> None:
    (job,) = manifests("SpotJob", {**SPOT_JOB, "service_account": given})
    assert pod_of(job)["serviceAccountName"] == "trainer"


def test_a_gpu_that_tables_do_not_know_is_taken_on_trust() -> None:
    args = {**SPOT_JOB, "accelerator": "nvidia-x1", "gpus": 12, "tables_out_of_date": True}
    (job,) = manifests("SpotJob", args)
    selector = pod_of(job)["nodeSelector"]
    assert selector["cloud.google.com/gke-accelerator"] == "nvidia-x1"


def test_a_class_says_the_least_version_that_has_all_of_it() -> None:
    outputs = _outputs(spotproof.CapacityClass, CAPACITY_CLASS)
    assert outputs["minimum_version"] == "1.33.3-gke.1136000"
    priorities = [{"capacity": "spot", "machine_type": "g4-standard-48"}]
    outputs = _outputs(spotproof.CapacityClass, {**CAPACITY_CLASS, "priorities": priorities})
    assert outputs["minimum_version"] == "1.34.1-gke.1829001"
    manual = {**CAPACITY_CLASS, "priorities": priorities, "auto_create_pools": False}
    assert _outputs(spotproof.CapacityClass, manual)["minimum_version"] == "1.30.3-gke.1451000"


def test_a_class_never_moves_running_work() -> None:
    (made,) = manifests("CapacityClass", CAPACITY_CLASS)
    assert made["spec"]["activeMigration"] == {"optimizeRulePriority": False}
    assert made["spec"]["whenUnsatisfiable"] == "DoNotScaleUp"


def test_a_class_tries_its_priorities_in_the_order_given() -> None:
    (made,) = manifests("CapacityClass", CAPACITY_CLASS)
    machine = {
        "machineType": "g2-standard-8",
        "gpu": {"type": "nvidia-l4", "count": 1, "driverVersion": "default"},
    }
    assert made["spec"]["priorities"] == [
        {**machine, "reservations": {"affinity": "Specific", "specific": [{"name": "ours"}]}},
        machine,
        {**machine, "flexStart": {"enabled": True}, "maxRunDurationSeconds": 604_800},
        {**machine, "spot": True},
    ]


@pytest.mark.parametrize(
    ("path", "specific"),
    [
        ("ours", {"name": "ours"}),
        ("projects/acme/reservations/ours", {"name": "ours", "project": "acme"}),
        ("ours/reservationBlocks/b1", {"name": "ours", "reservationBlock": {"name": "b1"}}),
        (
            "projects/acme/reservations/ours/reservationBlocks/b1",
            {"name": "ours", "project": "acme", "reservationBlock": {"name": "b1"}},
        ),
    ],
)
def test_a_reservation_may_be_another_projects_or_a_block(
    path: str, specific: dict[str, Any]
) -> None:
    priorities = [{"capacity": "reservation", **L4, "reservation": path}]
    (made,) = manifests("CapacityClass", {**CAPACITY_CLASS, "priorities": priorities})
    (priority,) = made["spec"]["priorities"]
    assert priority["reservations"]["specific"] == [specific]


def test_only_queued_flavors_wait_for_the_check() -> None:
    spot = {**QUEUED, "name": "l4-spot", "capacity": "spot"}
    made = manifests("KueueQueues", {**KUEUE_QUEUES, "flavors": [QUEUED, spot]})
    by_kind = {one["kind"]: one for one in made}
    checks = by_kind["ClusterQueue"]["spec"]["admissionChecksStrategy"]["admissionChecks"]
    assert checks == [{"name": "work", "onFlavors": ["l4-queued"]}]
    config = by_kind["ProvisioningRequestConfig"]["spec"]
    assert config["provisioningClassName"] == "queued-provisioning.gke.io"
    assert config["managedResources"] == ["nvidia.com/gpu"]
    only_spot = manifests("KueueQueues", {**KUEUE_QUEUES, "flavors": [spot]})
    assert "AdmissionCheck" not in {one["kind"] for one in only_spot}


def test_objects_go_where_the_provider_of_the_component_leads() -> None:
    seen: dict[str, Any] = {}

    def program() -> None:
        provider = pulumi_kubernetes.Provider("there", kubeconfig="{}")
        options = pulumi.ResourceOptions(
            providers=[provider],
            transformations=[lambda found: seen.__setitem__(found.type_, found.resource)],
        )
        spotproof.QueueWorkers("work", QUEUE_WORKERS, options)
        for type_, resource in seen.items():
            if type_.startswith("kubernetes:"):
                assert resource._provider is provider, type_

    declare(program)
    assert {type_.rpartition(":")[2] for type_ in seen} == {
        "QueueWorkers", "Deployment", "PodDisruptionBudget", "TriggerAuthentication", "ScaledObject"
    }  # fmt: skip


def test_a_queue_may_start_its_job_without_an_update_that_stops_it() -> None:
    seen: dict[str, pulumi.ResourceOptions] = {}
    options = pulumi.ResourceOptions(
        transformations=[lambda found: seen.__setitem__(found.type_, found.opts)]
    )
    queued: Any = {**FLEX_START_JOB, "queue": "gpus"}
    declare(lambda: spotproof.FlexStartJob("work", queued, options))
    assert seen["kubernetes:batch/v1:Job"].ignore_changes == ["spec.suspend"]


def test_a_request_for_nodes_is_made_anew_when_it_changes() -> None:
    seen: dict[str, pulumi.ResourceOptions] = {}
    options = pulumi.ResourceOptions(
        transformations=[lambda found: seen.__setitem__(found.type_, found.opts)]
    )
    args: Any = {**FLEX_START_JOB, "provisioning_request": True}
    declare(lambda: spotproof.FlexStartJob("work", args, options))
    request = seen["kubernetes:autoscaling.x-k8s.io/v1:ProvisioningRequest"]
    assert request.replace_on_changes == ["spec"]
    assert request.delete_before_replace is True


def test_a_job_set_is_made_anew_where_it_cannot_be_changed_and_never_beside_its_successor() -> None:
    seen: dict[str, pulumi.ResourceOptions] = {}
    options = pulumi.ResourceOptions(
        transformations=[lambda found: seen.__setitem__(found.type_, found.opts)]
    )
    declare(lambda: spotproof.SpotJob("work", SPOT_JOB, options))  # pyright: ignore[reportArgumentType]
    made = seen["kubernetes:jobset.x-k8s.io/v1alpha2:JobSet"]
    assert "spec.replicatedJobs" in (made.replace_on_changes or ())
    assert "spec.ttlSecondsAfterFinished" not in (made.replace_on_changes or ())
    assert made.delete_before_replace is True


def test_addresses_may_be_outputs_of_other_resources() -> None:
    def program() -> None:
        location = pulumi.Output.from_input("gs://acme-runs/run-1")
        spotproof.SpotJob("work", {**SPOT_JOB, "checkpoint_location": location})  # type: ignore

    made = only(declare(program), "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet")
    (container,) = pod_of(made.props)["containers"]
    values = [one["value"] for one in container["env"]]
    assert "gs://acme-runs/run-1" in values


def test_a_preview_that_knows_no_output_is_the_same_plan() -> None:
    for component, several in EXAMPLES.items():
        for args in several:
            made = manifests(component, args)
            declared = declare(_program(component, args), preview=True)
            kinds = [one.type.rpartition(":")[2] for one in declared]
            assert sorted(kinds) == sorted([component, *(one["kind"] for one in made)])


def _program(component: str, args: dict[str, Any]) -> Callable[[], object]:
    given = {key: value for key, value in args.items() if value is not None}
    return lambda: getattr(spotproof, component)("work", given)


def _outputs(component: Callable[..., Any], args: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def program() -> None:
        made = component("work", args)
        made.minimum_version.apply(lambda known: found.__setitem__("minimum_version", known))

    declare(program)
    return found
