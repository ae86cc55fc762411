"""The CI files for a user's own repository are right, safe, and about things that exist."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.paths import ALL_POLICY_PACKS
from tests.policies.helpers import pack
from tests.unit.ci_files import EXAMPLE, OURS, ROOT, WORKFLOWS, jobs, load, schema_problems, steps

ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"
BY_NAME = pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
STEPS = [
    pytest.param(step, id=f"{file.stem}-{number}")
    for file in WORKFLOWS
    for number, step in enumerate(steps(file))
]
RUNS = [one for one in STEPS if "run" in one.values[0]]


def test_workflows_keep_to_the_schema(tmp_path: Path) -> None:
    assert schema_problems("github-workflows", *WORKFLOWS, *OURS) == ""

    wrong = tmp_path / "wrong.yml"
    wrong.write_text(WORKFLOWS[-1].read_text().replace("runs-on:", "run-on:"))
    assert "wrong.yml" in schema_problems("github-workflows", wrong)


def test_workflows_pass_actionlint(tmp_path: Path) -> None:
    if shutil.which("go") is None:
        pytest.skip("actionlint is built with Go, which is not here")
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    (tmp_path / ".git").mkdir()  # where it takes a repository to be
    command = ["go", "run", ACTIONLINT]
    if subprocess.run([*command, "--version"], cwd=tmp_path, capture_output=True).returncode != 0:
        pytest.skip("the Go module of actionlint cannot be had")

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("step", RUNS)
def test_scripts_are_bash(step: dict[str, Any], tmp_path: Path) -> None:
    done = subprocess.run(["bash", "-n"], input=step["run"], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("step", RUNS)
def test_no_script_is_put_together_from_what_others_wrote(step: dict[str, Any]) -> None:
    # A branch's name or a title inside `${{ }}` would become part of the script.
    assert "${{" not in step["run"]


@pytest.mark.parametrize("step", STEPS)
def test_actions_are_pinned_and_keep_no_token(step: dict[str, Any]) -> None:
    if uses := step.get("uses"):
        assert re.fullmatch(r"[\w.-]+(/[\w.-]+)+@(v\d+|[0-9a-f]{40})", uses)
        if uses.startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] == "false"


@BY_NAME
def test_permissions_are_named_job_by_job_and_are_the_least(file: Path) -> None:
    assert load(file)["permissions"] == {}
    for name, job in jobs(file).items():
        given = job["permissions"]
        assert given["contents"] == "read", name
        text = yaml.safe_dump(job)
        needed = {
            "id-token": "google-github-actions/auth@" in text or "uses" in job,
            "pull-requests": "gh api" in text,
            "security-events": "upload-sarif@" in text,
        }
        written = {permission for permission, how in given.items() if how == "write"}
        assert written == {permission for permission, is_so in needed.items() if is_so}


@BY_NAME
def test_no_workflow_holds_a_key_or_trusts_a_fork(file: Path) -> None:
    text = file.read_text()

    assert "secrets." not in text
    assert "credentials_json" not in text
    assert "pull_request_target" not in load(file)["on"]
    if "pull_request" in load(file)["on"]:
        for job in jobs(file).values():
            assert "head.repo.full_name == github.repository" in job["if"]


@BY_NAME
def test_jobs_end_in_time_and_no_update_is_cancelled(file: Path) -> None:
    for job in jobs(file).values():
        assert "timeout-minutes" in job or "uses" in job
        if "pulumi up" in yaml.safe_dump(job):
            assert job["concurrency"]["cancel-in-progress"] == "false"
            assert job["environment"] == "${{ inputs.environment }}"


def test_what_a_workflow_uploads_is_the_report_and_never_the_events() -> None:
    for file in WORKFLOWS:
        for step in steps(file):
            assert "upload-artifact" not in step.get("uses", "")
            if "sarif_file" in step.get("with", {}):
                assert step["with"]["sarif_file"] == "policies.sarif"


def test_the_packs_that_are_fetched_are_those_of_this_version() -> None:
    project = (ROOT / "gke" / "pyproject.toml").read_text()
    version = re.search(r'^version = "(.+)"$', project, flags=re.M)
    assert version
    fetched = [
        step["with"]["ref"]
        for file in WORKFLOWS
        for step in steps(file)
        if step.get("with", {}).get("repository") == "spotproof/spotproof"
    ]
    loops = [
        re.findall(r"for pack in (.+); do", step["run"])
        for file in WORKFLOWS
        for step in steps(file)
        if "for pack in" in step.get("run", "")
    ]

    assert set(fetched) == {f"v{version[1]}"}
    assert len(loops) == 3
    for names in loops:
        assert [name.split() for name in names] == [list(ALL_POLICY_PACKS)]


def test_every_stack_has_its_file_of_levels_and_every_policy_in_it_exists() -> None:
    (preview,) = jobs(EXAMPLE / ".github" / "workflows" / "policies.yml").values()
    deployed = {
        job["with"]["environment"]
        for job in jobs(EXAMPLE / ".github" / "workflows" / "deploy.yml").values()
    }
    stacks = set(preview["strategy"]["matrix"]["stack"])
    known = {policy.name for name in ALL_POLICY_PACKS for policy in pack(name).POLICIES}

    assert stacks == deployed == {file.stem for file in (EXAMPLE / "policy").glob("*.json")}
    for stack in stacks:
        content = json.loads((EXAMPLE / "policy" / f"{stack}.json").read_text())
        assert set(content["policies"]) <= known | {"all"}
        assert content["version"] == 2


def test_the_files_for_a_repository_agree_with_the_levels_of_ours() -> None:
    for file in (EXAMPLE / "policy").glob("*.json"):
        ours = json.loads((ROOT / "policies" / "levels" / file.name).read_text())
        assert json.loads(file.read_text())["policies"] == ours
