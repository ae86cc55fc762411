"""The commands of docs/how-to/policies-in-ci.md work as they stand, one after the other."""

import json
import re
import shutil
import subprocess
from pathlib import Path

from sandbox.environment import Sandbox
from sandbox.paths import ROOT
from tests.engine.support import STACK, emulated_project, engine

PAGE = ROOT / "docs" / "how-to" / "policies-in-ci.md"
PROGRAM = """
from pulumi_gcp import container, storage

container.Cluster("train", name="train", location="us-central1", initial_node_count=1)
storage.Bucket("runs", location="us-central1", labels={"spotproof-cluster": "train"})
"""
EXPECTED = {"git": 1, "python3": 1, "pulumi": 5, ".policy-packs": 2}
"""How many commands there are of each kind, so that none is missed."""


def _commands() -> list[str]:
    blocks = re.findall(r"^```console\n(.*?)^```$", PAGE.read_text(), flags=re.M | re.S)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]


def _kind(command: str) -> str:
    return re.sub(r"^\w+=\S+ ", "", command).split()[0].split("/")[0]


def test_the_commands_of_the_page_run_in_a_repository_that_is_not_ours(tmp_path: Path) -> None:
    project = emulated_project(tmp_path, PROGRAM, config={"gcp:project": "acme-ml"})
    project.up().check()
    folder = project.folder
    commands = _commands()

    assert {kind: [_kind(one) for one in commands].count(kind) for kind in EXPECTED} == EXPECTED
    assert len(commands) == sum(EXPECTED.values())
    for command in commands:
        if command.startswith("git clone "):
            # Nothing is published yet: what a clone would bring is copied.
            ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
            for name in ("gke", "policies"):
                shutil.copytree(ROOT / name, folder / ".policy-packs" / name, ignore=ignored)
            continue
        done = subprocess.run(
            ["bash", "-e", "-c", command],
            cwd=folder,
            env=Sandbox(project.sandbox.folder).environment(engine()),
            capture_output=True,
            text=True,
            timeout=300,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"

    assert STACK in (folder / "state.json").read_text()
    (run,) = json.loads((folder / "policies.sarif").read_text())["runs"]
    assert run["tool"]["driver"]["name"] == "spotproof-region-match"
    assert "Nothing was found." in (folder / "policies.md").read_text()
