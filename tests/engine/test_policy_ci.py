"""The scripts of the CI files do in a repository what the files say, with the real engine."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from sandbox.environment import Sandbox
from sandbox.paths import ROOT
from tests.engine.support import STACK, EmulatedProject, emulated_project, engine
from tests.unit.ci_files import EXAMPLE, script

POLICIES = EXAMPLE / ".github" / "workflows" / "policies.yml"
UP = EXAMPLE / ".github" / "workflows" / "up.yml"
SOUND = """
from pulumi_gcp import container

cluster = container.Cluster("train", location="us-central1", initial_node_count=1)
"""
BROKEN = (
    SOUND
    + """
container.NodePool(
    "batch", cluster=cluster.id, location="us-central1", node_count=1, node_config={"spot": True}
)
"""
)
GH = """#!/bin/sh
printf '%s\\n' "$*" >> "$CALLS"
case "$*" in *--paginate*) cat "$EARLIER";; esac
"""


def _repository(tmp_path: Path, program: str, levels: str) -> EmulatedProject:
    """A repository that has the packs where the workflow puts them."""
    project = emulated_project(tmp_path, program, config={"gcp:project": "acme-ml"})
    (project.folder / ".policy-packs").symlink_to(ROOT)
    policy = project.folder / "policy"
    policy.mkdir()
    (policy / f"{STACK}.json").write_text((EXAMPLE / "policy" / f"{levels}.json").read_text())
    (tmp_path / "runner").mkdir()
    return project


def _run(
    project: EmulatedProject, text: str, **env: str | Path
) -> "subprocess.CompletedProcess[str]":
    runner = project.folder.parent / "runner"
    files = {
        "RUNNER_TEMP": runner,
        "GITHUB_STEP_SUMMARY": runner / "summary.md",
        "STACK": STACK,
        "PULUMI_DEBUG_COMMANDS": "true",
    }
    added = {name: str(value) for name, value in (files | env).items()}
    return subprocess.run(
        ["bash", "-e", "-c", text],
        cwd=project.folder,
        env=Sandbox(project.sandbox.folder).environment(engine()) | added,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize(
    ("program", "levels", "code"), [(SOUND, "prod", 0), (BROKEN, "dev", 0), (BROKEN, "prod", 1)]
)
def test_a_pull_request_is_judged_reported_and_commented(
    tmp_path: Path, program: str, levels: str, code: int
) -> None:
    project = _repository(tmp_path, program, levels)

    preview = _run(project, script(POLICIES, "Preview with the packs"))
    report = _run(project, script(POLICIES, "Report"))

    assert min(preview.returncode, 1) == code, preview.stdout + preview.stderr
    assert report.returncode == 0, report.stderr
    log = json.loads((project.folder / "policies.sarif").read_text())
    found = [one for run in log["runs"] for one in run["results"]]
    expected = {"prod": "error", "dev": "warning"}[levels]
    assert [one["level"] for one in found] == ([expected] if program is BROKEN else [])
    for one in found:
        place = one["locations"][0]["physicalLocation"]["artifactLocation"]
        assert place["uri"] == "__main__.py"
    assert all(run["automationDetails"]["id"].endswith(f"/{STACK}/") for run in log["runs"])

    calls, earlier, bin_dir = (tmp_path / name for name in ("calls", "earlier", "bin"))
    bin_dir.mkdir()
    (bin_dir / "gh").write_text(GH)
    (bin_dir / "gh").chmod(0o755)
    here = {
        "PATH": f"{bin_dir}:{os.environ['PATH']}",
        "CALLS": calls,
        "EARLIER": earlier,
        "COMMENTS": "repos/acme/shop/issues/7/comments",
        "COMMENT": "repos/acme/shop/issues/comments",
    }
    for known, method in (("", "POST repos/acme/shop/issues/7/comments"), ("12\n13\n", "PATCH")):
        earlier.write_text(known)
        comment = _run(project, script(POLICIES, "Comment"), **here)
        assert comment.returncode == 0, comment.stderr
        assert method in calls.read_text()
    assert "PATCH repos/acme/shop/issues/comments/12 -F body=@comment.md" in calls.read_text()
    text = (project.folder / "comment.md").read_text()
    assert text.startswith(f"<!-- policies of stack {STACK} -->\n")
    assert ("spot-pool-taint" in text) == (program is BROKEN)


def test_a_deployment_stops_where_a_mandatory_policy_is_violated(tmp_path: Path) -> None:
    project = _repository(tmp_path, BROKEN, "prod")

    assert _run(project, script(UP, "Update")).returncode != 0
    assert not [one for one in project.resources() if one["type"].startswith("gcp:container/node")]

    project.write(SOUND)
    assert _run(project, script(UP, "Update")).returncode == 0
    assert [one for one in project.resources() if one["type"].startswith("gcp:container/cluster")]
