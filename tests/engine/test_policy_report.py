"""The report out of what the real engine writes: a preview, and the judgement of a state."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from sandbox.judging import pack_flags
from sandbox.paths import ALL_POLICY_PACKS, policy_pack
from tests.engine.policy_states import BROKEN, BROKEN_RULES, SECRET, write_state
from tests.engine.support import emulated_project, run_pulumi

PROGRAM = """
import pulumi
from pulumi_gcp import container, storage

container.Cluster("train", name="train", location="us-central1", initial_node_count=1)
container.NodePool(
    "batch",
    cluster="train",
    location="us-central1",
    node_count=1,
    node_config={"spot": True, "labels": {"token": pulumi.Output.secret("PASS")}},
)
storage.Bucket("runs", location="EU", labels={"spotproof-cluster": "train"})
""".replace("PASS", SECRET)
EVENTS = {"PULUMI_DEBUG_COMMANDS": "true"}
"""What makes the engine take --event-log."""


def _report(folder: Path, events: Path, *arguments: str) -> tuple[int, dict[str, Any], str]:
    """Exit code, SARIF and Markdown."""
    out, table = folder / "out.sarif", folder / "out.md"
    command = [sys.executable, "-m", "spotproof_gke.policy_report", str(events)]
    packs = [part for one in ALL_POLICY_PACKS for part in ("--policy-pack", str(policy_pack(one)))]
    files = ["--sarif", str(out), "--markdown", str(table)]
    done = subprocess.run(
        [*command, *packs, *files, *arguments], cwd=folder, env=dict(os.environ), text=True,
        capture_output=True, timeout=60,
    )  # fmt: skip
    assert done.returncode in (0, 3), done.stderr
    return done.returncode, json.loads(out.read_text()), table.read_text()


def _found(log: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["ruleId"]: one for run in log["runs"] for one in run["results"]}


def test_a_preview_becomes_a_report_with_lines_of_the_program(tmp_path: Path) -> None:
    project = emulated_project(
        tmp_path,
        PROGRAM,
        config={"gcp:project": "acme-ml"},
        packs=ALL_POLICY_PACKS,
        env=EVENTS,
    )
    events = tmp_path / "events.jsonl"

    run = project.preview("--event-log", events)

    assert not run.ok
    code, log, table = _report(project.folder, events, "--program", ".")
    found = _found(log)
    assert code == 0
    assert {one["tool"]["driver"]["name"] for one in log["runs"]} == {
        f"spotproof-{pack.replace('_', '-')}" for pack in ALL_POLICY_PACKS
    }
    lines = PROGRAM.splitlines()
    for rule, named in (
        ("spot-pool-taint", "batch"),
        ("checkpoint-bucket-in-cluster-region", "runs"),
    ):
        assert found[rule]["level"] == "error"
        place = found[rule]["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "__main__.py"
        assert f'"{named}"' in lines[place["region"]["startLine"] - 1]
        assert rule in table
    assert SECRET not in json.dumps(log) + table


def test_a_program_that_breaks_gives_a_report_that_says_so(tmp_path: Path) -> None:
    project = emulated_project(
        tmp_path,
        f"{PROGRAM}\nraise SystemError('no more')\n",
        config={"gcp:project": "acme-ml"},
        packs=["spot_isolation"],
        env=EVENTS,
    )
    events = tmp_path / "events.jsonl"

    assert not project.preview("--event-log", events).ok
    code, log, table = _report(project.folder, events)

    assert code == 3
    assert not log["runs"][0]["invocations"][0]["executionSuccessful"]
    assert "ended before all policies had judged" in table


def test_the_judgement_of_a_state_becomes_a_report(sandbox_dir: Path, tmp_path: Path) -> None:
    state = write_state(tmp_path / "state.json", BROKEN)
    flags = pack_flags([str(policy_pack(one)) for one in ALL_POLICY_PACKS])
    run = run_pulumi(
        tmp_path, ["policy", "analyze", "--json", "--file", state, *flags], sandbox_dir
    )
    events = tmp_path / "events.jsonl"
    events.write_text(run.stdout)

    code, log, table = _report(tmp_path, events)

    assert code == 0
    assert set(BROKEN_RULES.values()) <= set(_found(log))
    assert SECRET not in json.dumps(log) + table
