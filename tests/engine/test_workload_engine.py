"""Workload components with the real engine and the real Kubernetes provider, rendered to files."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.engine.support import EmulatedProject, emulated_project
from tests.unit.workload_examples import EXAMPLES, SPOT_JOB, manifests

PROGRAM = """
import pulumi
import pulumi_kubernetes
import spotproof

provider = pulumi_kubernetes.Provider("rendered", render_yaml_to_directory={folder!r})
options = pulumi.ResourceOptions(providers=[provider])
for component, name, args in {made!r}:
    made = getattr(spotproof, component)(name, args, options)
"""
# The provider takes a kubeconfig of the environment as its own, and refuses it where it renders.
ENV = {"KUBECONFIG": ""}
REFUSED = """
import spotproof

spotproof.SpotJob("work", {args!r})
"""


def _without_none(args: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in args.items() if value is not None}


def _made() -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (component, f"{component.lower()}-{number}", _without_none(args))
        for component, several in EXAMPLES.items()
        for number, args in enumerate(several)
    ]


def _rendered(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    found = {}
    for path in sorted(folder.rglob("*.yaml")):
        for one in yaml.safe_load_all(path.read_text()):
            if one:
                found[one["kind"], one["metadata"]["name"]] = one
    return found


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> EmulatedProject:
    folder = tmp_path_factory.mktemp("workloads")
    program = PROGRAM.format(folder=str(folder / "rendered"), made=_made())
    project = emulated_project(folder, program, env=ENV)
    project.up().check()
    return project


def test_what_is_rendered_is_what_the_plain_functions_say(project: EmulatedProject) -> None:
    rendered = _rendered(project.folder.parent / "rendered")
    expected = {}
    for component, name, args in _made():
        for one in manifests(component, args, name):
            expected[one["kind"], one["metadata"]["name"]] = one
    assert set(rendered) == set(expected)
    for key, manifest in expected.items():
        assert rendered[key] == manifest, key


def test_a_second_update_changes_nothing(project: EmulatedProject) -> None:
    project.up("--expect-no-changes").check()


KINDS = {
    "jobset": ("kubernetes:jobset.x-k8s.io/v1alpha2:JobSet::", "ttl_seconds_after_finished"),
    "job": ("kubernetes:batch/v1:Job::", "deadline_seconds"),
}
"""Of each kind of training: its type in a URN, and an argument that changes it in place."""


@pytest.mark.parametrize("kind", KINDS)
def test_another_image_remakes_the_training_and_says_so_in_a_preview(
    tmp_path: Path, kind: str
) -> None:
    type_, changeable = KINDS[kind]
    folder, args = str(tmp_path / "rendered"), {**SPOT_JOB, "kind": kind}
    project = emulated_project(
        tmp_path, PROGRAM.format(folder=folder, made=[("SpotJob", "work", args)]), env=ENV
    )
    project.up().check()
    newer = {**args, "image": SPOT_JOB["image"] + "1"}
    project.write(PROGRAM.format(folder=folder, made=[("SpotJob", "work", newer)]))
    steps = project.preview("--json").json()["steps"]
    ops = {step["op"] for step in steps if type_ in step["urn"]}
    assert "replace" in ops
    longer = {**args, changeable: 1_000_000}
    project.write(PROGRAM.format(folder=folder, made=[("SpotJob", "work", longer)]))
    steps = project.preview("--json").json()["steps"]
    ops = {step["op"] for step in steps if type_ in step["urn"]}
    assert ops == {"update"}


def test_a_refusal_names_every_mistake_without_a_traceback(tmp_path: Path) -> None:
    args = {**SPOT_JOB, "namespace": "kube-system", "command": ["sh", "-c", "a; b; c"]}
    run = emulated_project(tmp_path, REFUSED.format(args=args)).preview()
    assert not run.ok
    assert "SpotJob work: 2 problems" in run.text
    assert "namespace = 'kube-system'" in run.text
    assert "no shell stands between SIGTERM" in run.text
    assert "Traceback" not in run.text


SECRET = """
import pulumi
import pulumi_kubernetes
import spotproof

provider = pulumi_kubernetes.Provider("rendered", render_yaml_to_directory={folder!r})
options = pulumi.ResourceOptions(providers=[provider])
env = {{"PLAIN": pulumi.Output.secret("hunter2"), "OPEN": pulumi.Output.from_input("x")}}
spotproof.SpotJob("work", {{**{args!r}, "env": env}}, options)
"""


def test_a_secret_of_the_engine_is_rendered_nowhere(tmp_path: Path) -> None:
    """The provider itself writes it in clear, and warns."""
    folder = tmp_path / "rendered"
    program = SECRET.format(folder=str(folder), args=SPOT_JOB)
    project = emulated_project(tmp_path / "project", program, env=ENV)
    for run in (project.preview(), project.up()):
        assert not run.ok
        assert "env.PLAIN = '…': a secret stands in a Secret of the cluster" in run.text
        assert "Traceback" not in run.text
        assert "hunter2" not in run.text
    assert not [path for path in folder.rglob("*") if path.is_file()]


def test_a_yaml_program_takes_the_same_component(tmp_path: Path) -> None:
    program = yaml.safe_dump(
        {
            "packages": {"spotproof": str(Path(__file__).parents[2] / "components")},
            "resources": {
                "rendered": {
                    "type": "pulumi:providers:kubernetes",
                    "properties": {"renderYamlToDirectory": str(tmp_path / "rendered")},
                },
                "work": {
                    "type": "spotproof:SpotJob",
                    "properties": {
                        "namespace": "training",
                        "image": SPOT_JOB["image"],
                        "command": SPOT_JOB["command"],
                        "accelerator": "nvidia-l4",
                        "gpus": 1,
                        "checkpointLocation": SPOT_JOB["checkpoint_location"],
                        "deadlineSeconds": SPOT_JOB["deadline_seconds"],
                        "secretEnv": {"HF_TOKEN": {"secret": "hub", "key": "token"}},
                        "nodes": "pool",
                    },
                    "options": {"providers": ["${rendered}"]},
                },
            },
            "outputs": {"budget": "${work.terminationBudgetSeconds}", "name": "${work.jobName}"},
        }
    )
    project = emulated_project(tmp_path, program, runtime="yaml", env=ENV)
    project.up().check()
    args = {**SPOT_JOB, "secret_env": {"HF_TOKEN": {"secret": "hub", "key": "token"}}}
    (expected,) = manifests("SpotJob", args)
    assert _rendered(tmp_path / "rendered") == {("JobSet", "work"): expected}
    assert project.outputs() == {"budget": 15, "name": "work"}
