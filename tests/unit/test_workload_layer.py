"""What is inside the cluster, as a stack file says it: judged with the stack around it."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import in_cluster
import prerequisites
import settings
import stack_file
from sandbox import stacks
from spotproof_gke.problems import ProblemsError
from workload_sections import Layer

ROOT = Path(__file__).parents[2]
SHOWCASE, _ = stack_file.read(ROOT / "stacks" / "Pulumi.showcase.yaml")
JOB = {
    "namespace": "training",
    "image": "us-central1-docker.pkg.dev/spotproof-showcase/images/trainer:1",
    "command": ["python", "-m", "trainer"],
    "serviceAccount": "trainer",
    "accelerator": "nvidia-l4",
    "deadlineSeconds": 1000,
}
AUTOPILOT = {
    "gcp:project": "spotproof-test",
    "spotproof:mode": "autopilot",
    "spotproof:region": "us-central1",
    "spotproof:clusterName": "train",
    "spotproof:checkpoints": {"workloads": ["training/trainer"]},
}


def _values(base: dict[str, Any] = SHOWCASE, **changes: Any) -> dict[str, Any]:
    values = copy.deepcopy(base)
    for key, value in changes.items():
        values[f"spotproof:{key}"] = value
    return {key: value for key, value in values.items() if value is not None}


def _load(base: dict[str, Any] = SHOWCASE, **changes: Any) -> settings.Settings:
    return settings.load(_values(base, **changes), "test")


def _error(base: dict[str, Any] = SHOWCASE, **changes: Any) -> str:
    with pytest.raises(ProblemsError) as caught:
        _load(base, **changes)
    return str(caught.value)


def _job(**changes: Any) -> dict[str, Any]:
    return {"a": {key: value for key, value in {**JOB, **changes}.items() if value is not None}}


def test_a_stack_that_says_nothing_has_no_objects_in_its_cluster() -> None:
    loaded = _load(AUTOPILOT)
    assert loaded.workloads is Layer.NONE
    assert loaded.manifests == ()


def test_only_the_showcase_has_objects_in_its_cluster() -> None:
    for path in sorted((ROOT / "stacks").glob("Pulumi.*.yaml")):
        values, _ = stack_file.read(path)
        expected = Layer.RENDER if "showcase" in path.name else Layer.NONE
        assert settings.load(values, path.name).workloads is expected, path.name


def test_a_job_has_what_follows_from_its_stack() -> None:
    loaded = _load(spotJobs=_job(serviceAccount="trainer"))
    assert loaded.sections["spot_jobs"]["a"] == {
        "namespace": "training",
        "image": JOB["image"],
        "command": JOB["command"],
        "service_account": "trainer",
        "accelerator": "nvidia-l4",
        "deadline_seconds": 1000,
        "job_name": "a",
        "checkpoint_prefix": "a",
        # The Spot pool with L4s says so.
        "shutdown_grace_seconds": 120,
        "critical_shutdown_grace_seconds": 15,
    }


def test_the_only_service_account_with_access_need_not_be_named() -> None:
    loaded = _load(identities=None, spotJobs=_job(serviceAccount=None))
    assert loaded.sections["spot_jobs"]["a"]["service_account"] == "trainer"


def test_a_workload_on_autopilot_gets_its_nodes_from_autopilot() -> None:
    queue = {
        "gangs": {
            "localQueues": ["training/gangs"],
            "flavors": [
                {
                    "name": "l4",
                    "capacity": "flex-start-queued",
                    "accelerator": "nvidia-l4",
                    "gpus": 8,
                    "cpu": "8",
                    "memory": "8Gi",
                }
            ],
        }
    }
    loaded = _load(AUTOPILOT, spotJobs=_job(), kueueQueues=queue)
    assert loaded.sections["spot_jobs"]["a"]["nodes"] == "autopilot"
    assert loaded.sections["kueue_queues"]["gangs"]["flavors"][0]["nodes"] == "autopilot"
    pods = next(one for one in loaded.manifests if "train" in json.dumps(one["spec"]))
    assert "gke-nodepool" not in json.dumps(pods)


def test_keys_inside_settings_are_spelt_as_all_others() -> None:
    loaded = _load()
    first = loaded.sections["capacity_classes"]["l4-first-spot"]["priorities"][1]
    assert first["max_node_lifetime_seconds"] == 604_800
    classes = {"a": {"priorities": [{"capacity": "spot", "machine_type": "g2-standard-8"}]}}
    text = _error(capacityClasses=classes)
    assert "capacityClasses.a.priorities[0].machine_type = '…': there is no such setting" in text
    assert 'did you mean "machineType"?' in text


def _policies(loaded: settings.Settings) -> dict[str, dict[str, Any]]:
    return {
        one["metadata"]["name"]: dict(one)
        for one in loaded.manifests
        if one["kind"] == "ValidatingAdmissionPolicy"
    }


def _actions(loaded: settings.Settings) -> dict[str, list[str]]:
    return {
        one["metadata"]["name"].rpartition("-")[2]: one["spec"]["validationActions"]
        for one in loaded.manifests
        if one["kind"] == "ValidatingAdmissionPolicyBinding"
    }


def test_the_guard_only_watches_unless_the_stack_says_more() -> None:
    loaded = _load(systemPlacementGuard=None)
    assert _actions(loaded) == {"gke": ["Audit", "Warn"], "critical": ["Audit", "Warn"]}
    assert {one["spec"]["failurePolicy"] for one in _policies(loaded).values()} == {"Ignore"}


def test_the_guard_denies_in_the_namespaces_that_the_stack_names_and_where_it_says_so() -> None:
    loaded = _load(systemPlacementGuard={"systemNamespaces": ["platform"], "gkeAction": "deny"})
    assert _actions(loaded) == {"own": ["Deny"], "gke": ["Deny"], "critical": ["Audit", "Warn"]}


def test_the_guard_is_the_first_of_all_objects_and_knows_the_classes_of_the_stack() -> None:
    guard = {"systemNamespaces": ["platform"], "spotClasses": ["theirs", "l4-first-spot"]}
    loaded = _load(systemPlacementGuard=guard)
    assert [one["kind"][:10] for one in loaded.manifests[:6]] == ["Validating"] * 6
    assert loaded.sections["system_placement_guard"]["spot_classes"] == ["theirs", "l4-first-spot"]
    without_end = {"a": {"priorities": [{"capacity": "on-demand", "machineType": "g2-standard-8"}]}}
    steady = _load(systemPlacementGuard=None, capacityClasses=without_end)
    assert steady.sections["system_placement_guard"]["spot_classes"] == []


@pytest.mark.parametrize(
    "changes",
    [
        {"systemPlacementGuard": {"enabled": False, "systemNamespaces": ["platform"]}},
        {"systemPlacementGuard": {"enabled": False}, "workloads": "none"},
        {"systemPlacementGuard": None, "workloads": "none"},
    ],
)
def test_there_is_no_guard_where_the_stack_wants_none(changes: dict[str, Any]) -> None:
    assert _policies(_load(**changes)) == {}


@pytest.mark.parametrize("workloads", ["none", None])
def test_a_guard_without_a_layer_to_be_in_is_an_error(workloads: str | None) -> None:
    text = _error(systemPlacementGuard={"systemNamespaces": []}, workloads=workloads)
    assert "1 problem\n" in text
    assert "systemPlacementGuard = '…': the guard is an object inside the cluster" in text
    assert "set workloads to render or apply" in text


def test_the_guard_needs_a_version_that_serves_admission_policies() -> None:
    alone = dict.fromkeys(("capacityClasses", "kueueQueues", "spotJobs", "flexStartJobs"))
    loaded = _load(**alone, queueWorkers=None)
    found = prerequisites.of(loaded)
    assert found["leastVersion"] == "1.30.0"
    assert found["controllers"] == ["admission-policies"]
    none = _load(**alone, queueWorkers=None, systemPlacementGuard={"enabled": False})
    assert prerequisites.of(none)["leastVersion"] == ""


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"workloads": "on"}, "workloads = 'on': this is one of none, render, apply"),
        ({"workloads": "Apply"}, 'did you mean "apply"?'),
        ({"workloadsFolder": "/tmp/x"}, "workloadsFolder = '/tmp/x': this is a folder inside"),
        ({"workloadsFolder": "../x"}, "workloadsFolder = '../x': this is a folder inside"),
        ({"createNamespaces": "yes"}, "createNamespaces = 'yes': this is true or false"),
        ({"spotJob": {}}, 'did you mean "spotJobs"?'),
        (
            {"systemPlacementGuard": {"systemNamespaces": ["kube-system"]}},
            "systemPlacementGuard.systemNamespaces = 'kube-system': GKE's own namespaces",
        ),
        (
            {"systemPlacementGuard": {"gkeAction": "Deny"}},
            "systemPlacementGuard.gkeAction = 'Deny': this is one of audit, deny; did you mean",
        ),
        ({"systemPlacementGuard": {"systemNamespace": []}}, 'did you mean "systemNamespaces"?'),
        ({"systemPlacementGuard": "deny"}, "systemPlacementGuard = 'deny': this is a mapping"),
        ({"systemPlacementGuard": {"enabled": "no"}}, "systemPlacementGuard.enabled = 'no'"),
        (
            {"systemPlacementGuard": {"systemNamespaces": ["train*"]}},
            "spotJobs.pretraining.namespace = 'training': systemPlacementGuard keeps this",
        ),
        (
            {"systemPlacementGuard": {"systemNamespaces": ["training"]}},
            "kueueQueues.gangs.localQueues = 'training/gangs': systemPlacementGuard keeps this",
        ),
        (
            {"systemPlacementGuard": {"systemNamespaces": ["batch"]}},
            "queueWorkers.scorers.namespace = 'batch': systemPlacementGuard keeps this",
        ),
        ({"spotJobs": _job(image=None)}, "spotJobs.a.image: a text is required"),
        ({"spotJobs": _job(nodes="autopilot")}, "spotJobs.a.nodes = 'autopilot': this cluster is"),
        (
            {"spotJobs": _job(accelerator="nvidia-tesla-a100")},
            "spotJobs.a.accelerator = 'nvidia-tesla-a100': the stack has no spot pool with",
        ),
        (
            {"spotJobs": _job(checkpointPrefix="/a")},
            "spotJobs.a.checkpointPrefix = '/a': a prefix is a path without",
        ),
        (
            {"spotJobs": _job(checkpointLocation="gs://ours/a", checkpointPrefix="a")},
            "leave it or checkpointLocation out",
        ),
        (
            {"spotJobs": _job(checkpointClaim="ours")},
            "spotJobs.a.checkpointLocation: a text is required",
        ),
        (
            {"spotJobs": _job(serviceAccount=None)},
            "several service accounts may reach what it needs; name one of training/trainer, "
            "training/evaluator",
        ),
        (
            {"spotJobs": _job(serviceAccount="other")},
            "spotJobs.a.serviceAccount = 'other': this service account may not reach",
        ),
        (
            {"spotJobs": _job(serviceAccount=None, namespace="other")},
            "no service account of namespace other may reach what it needs; add other/NAME to "
            "checkpoints.workloads",
        ),
        (
            {"spotJobs": {"a": JOB, "b": {**JOB, "checkpointPrefix": "a"}}},
            "spotJobs.b.checkpointPrefix = 'a': spotJobs.a has this prefix",
        ),
        (
            {"spotJobs": {"tuning": {**JOB, "kind": "job", "checkpointPrefix": "x"}}},
            "flexStartJobs.tuning = 'tuning': spotJobs.tuning makes the Job tuning already",
        ),
        ({"workQueues": None}, "queueWorkers.scorers.workQueue = 'jobs': this is not one of"),
        (
            {"workQueues": {"jobs": {"workers": ["batch/other"]}}},
            "add batch/worker to workQueues.jobs.workers, or use batch/other",
        ),
    ],
)
def test_a_mistake_is_named_by_its_key_with_value_rule_and_mend(
    changes: dict[str, Any], words: str
) -> None:
    assert words in _error(**changes)


def test_one_mistake_is_one_problem_and_all_are_in_one_error() -> None:
    assert "1 problem\n" in _error(spotJobs=_job(accelerator="nvidia-tesla-a100"))
    text = _error(spotJobs=_job(image=None, deadlineSeconds=-1), workloads="x", region="nowhere")
    for key in ("spotJobs.a.image", "spotJobs.a.deadlineSeconds = -1", "workloads = ", "region = "):
        assert key in text


def test_a_broken_pool_is_not_said_to_be_missing() -> None:
    text = _error(spotPools={"l4": {"machineType": "g2-standard-9", "maxNodes": 1}})
    assert "spotPools.l4.machineType" in text
    assert "the stack has no" not in text


def test_a_database_address_in_the_place_of_its_secret_is_never_shown() -> None:
    workers = copy.deepcopy(SHOWCASE["spotproof:queueWorkers"])
    workers["scorers"]["database"] = "postgres://user:hush@db/results"
    assert "hush" not in _error(queueWorkers=workers)


def test_the_kubeconfig_names_the_cluster_alone_and_holds_no_secret() -> None:
    config = yaml.safe_load(in_cluster.kubeconfig("train", "gke-1.us-central1.gke.goog"))
    assert config["clusters"] == [
        {"name": "train", "cluster": {"server": "https://gke-1.us-central1.gke.goog"}}
    ]
    (user,) = config["users"]
    assert set(user["user"]) == {"exec"}
    assert user["user"]["exec"]["command"] == "gke-gcloud-auth-plugin"


def test_a_rendered_folder_is_the_same_on_each_machine_and_the_sandbox_has_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SPOTPROOF_SANDBOX_DIR", raising=False)
    assert in_cluster.rendered_folder(None, "dev") == "../.spotproof/rendered/dev"
    assert in_cluster.rendered_folder("rendered/dev", "dev") == "../rendered/dev"
    monkeypatch.setenv("SPOTPROOF_SANDBOX_DIR", "/sandbox")
    assert in_cluster.rendered_folder("rendered/dev", "dev") == "/sandbox/rendered"


@pytest.mark.parametrize("key", ["spotproof:workloads", "workloads"])
def test_a_setting_of_a_copied_stack_file_is_found_and_set_in_either_spelling(
    key: str, tmp_path: Path
) -> None:
    file = tmp_path / "Pulumi.x.yaml"
    file.write_text(f"config:\n  gcp:project: spotproof-test\n  {key}: apply # on the cluster\n")
    assert stacks.value(file, "spotproof:workloads") == "apply"
    stacks.set_value(file, "spotproof:workloads", "render")
    assert yaml.safe_load(file.read_text())["config"][key] == "render"
    assert stacks.value(file, "spotproof:workloads") == "render"
    assert stacks.value(file, "spotproof:nothing") == ""
