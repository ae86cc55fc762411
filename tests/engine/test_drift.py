"""Drift of every type: refresh sees it, `up` mends it, and what the provider does not see is told.

`drift.yaml` has a resource of each type, and what may be changed in it behind the engine's back.
"""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.cloud import drift
from sandbox.cloud.store import Store
from sandbox.cloud.types import kinds
from sandbox.paths import ROOT
from tests.engine.support import EmulatedProject, emulated_project

CONFIG = {"gcp:project": "acme", "gcp:region": "europe-west4"}


@dataclass(frozen=True)
class Case:
    """A resource of `drift.yaml`; the keys are explained there."""

    type: str
    properties: dict[str, Any]
    after: list[str] = field(default_factory=list)
    changed: dict[str, Any] = field(default_factory=dict)
    unseen: dict[str, Any] = field(default_factory=dict)
    only_deleted: str = ""
    never_seen: str = ""


CASES = {
    name: Case(**entry)
    for name, entry in yaml.safe_load((Path(__file__).parent / "drift.yaml").read_text()).items()
}
SEEN = [name for name, case in CASES.items() if not case.never_seen]
CHANGED = [name for name, case in CASES.items() if case.changed]
UNSEEN = [name for name, case in CASES.items() if case.unseen]


def test_every_type_of_the_emulated_cloud_has_a_case() -> None:
    assert sorted(case.type for case in CASES.values()) == sorted(kinds())


@pytest.mark.parametrize("name", CASES)
def test_a_type_changes_or_says_why_it_cannot(name: str) -> None:
    case = CASES[name]
    assert sum(map(bool, (case.changed, case.only_deleted, case.never_seen))) == 1


def test_what_a_case_leaves_unseen_is_optional_computed_and_not_stated() -> None:
    for name in UNSEEN:
        for key in CASES[name].unseen:
            assert kinds()[CASES[name].type].schema.fields[key].computed, f"{name}.{key}"
            assert key not in CASES[name].properties, f"{name}.{key}"


@pytest.fixture
def project(tmp_path: Path) -> EmulatedProject:
    """A stack with one resource of each type."""
    resources = {
        name: {
            "type": case.type,
            "properties": case.properties,
            "options": {"dependsOn": [f"${{{other}}}" for other in case.after]},
        }
        for name, case in CASES.items()
    }
    program = yaml.safe_dump({"resources": resources}, sort_keys=False)
    made = emulated_project(tmp_path, program, CONFIG, runtime="yaml")
    made.up().check()
    return made


def recorded(project: EmulatedProject) -> dict[str, dict[str, Any]]:
    """The state's resources of Google Cloud, by name in the program."""
    found = project.resources()
    return {
        resource["urn"].rpartition("::")[2]: resource
        for resource in found
        if resource["type"].startswith("gcp:")
    }


def at(properties: dict[str, Any], path: str) -> Any:
    value: Any = properties
    for part in path.split("."):
        value = value[part]
    return value


def values(state: dict[str, dict[str, Any]], which: str) -> dict[str, Any]:
    """What the state has at the paths that the cases change."""
    return {
        f"{name}.{path}": at(state[name]["outputs"], path)
        for name in CASES
        for path in getattr(CASES[name], which)
    }


def put(project: EmulatedProject, state: dict[str, dict[str, Any]], which: str) -> dict[str, Any]:
    """Change all that the cases say, as somebody at the console would; what is there then."""
    store, there = Store(project.sandbox.folder), {}
    for name, case in CASES.items():
        for path, value in getattr(case, which).items():
            text = json.dumps(value)
            drift.set_value(store, case.type, state[name]["id"], path, text)
            there[f"{name}.{path}"] = value
    return there


def test_a_change_of_every_type_is_seen_by_refresh_and_mended_by_up(
    project: EmulatedProject,
) -> None:
    before = recorded(project)
    drifted = put(project, before, "changed")

    seen = project.refresh().check()
    assert f"{len(CHANGED)} updated" in seen.text, seen.text
    assert values(recorded(project), "changed") == drifted

    mended = project.up().check()
    assert f"{len(CHANGED)} updated" in mended.text, mended.text
    project.refresh("--expect-no-changes").check()
    project.up("--expect-no-changes").check()
    assert values(recorded(project), "changed") == values(before, "changed")


def test_a_deletion_of_every_type_is_seen_by_refresh_and_mended_by_up(
    project: EmulatedProject,
) -> None:
    before, store = recorded(project), Store(project.sandbox.folder)
    for name in reversed(CASES):
        drift.delete(store, CASES[name].type, before[name]["id"])
    assert store.everything() == []

    seen = project.refresh().check()
    assert f"{len(SEEN)} deleted" in seen.text, seen.text
    assert set(recorded(project)) == set(CASES) - set(SEEN)

    mended = project.up().check()
    assert f"{len(SEEN)} created" in mended.text, mended.text
    project.refresh("--expect-no-changes").check()
    assert {name: each["id"] for name, each in recorded(project).items()} == {
        name: each["id"] for name, each in before.items()
    }


def test_what_the_program_leaves_to_the_server_is_written_down_and_left(
    project: EmulatedProject,
) -> None:
    drifted = put(project, recorded(project), "unseen")

    project.refresh().check()
    project.up("--expect-no-changes").check()
    assert values(recorded(project), "unseen") == drifted


def change(project: EmulatedProject, *arguments: str) -> None:
    """A person's command."""
    folder = ["--sandbox", str(project.sandbox.folder)]
    command = [sys.executable, "-m", "sandbox.cloud", *folder, "drift", *arguments]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)


POOL = """
resources:
  base:
    type: gcp:container/cluster:Cluster
    properties:
      {name: base, location: europe-west4, initialNodeCount: 1, removeDefaultNodePool: true,
       deletionProtection: false}
  pool:
    type: gcp:container/nodePool:NodePool
    properties:
      name: workers
      cluster: ${base.id}
      nodeCount: 2
      nodeConfig:
        machineType: e2-standard-4
        spot: true
        taints: [{key: cloud.google.com/gke-spot, value: "true", effect: NO_SCHEDULE}]
"""
COMMANDS = {
    "taint": ("workers", "cloud.google.com/gke-spot=false:NoExecute"),
    "resize": ("workers", "5"),
    "set": ("NodePool", "workers", "nodeConfig.machineType", "e2-medium"),
    "delete": ("NodePool", "workers"),
}
SHOWN = {"taint": "NO_EXECUTE", "resize": "nodeCount", "set": "machineType", "delete": "1 deleted"}


def test_each_command_of_drift_is_seen_by_refresh_and_mended_by_up(tmp_path: Path) -> None:
    project = emulated_project(tmp_path, POOL, CONFIG, runtime="yaml")
    project.up().check()
    before = recorded(project)["pool"]["outputs"]
    for command, arguments in COMMANDS.items():
        change(project, command, *arguments)
        seen = project.refresh("--diff").check()
        assert SHOWN[command] in seen.text, f"{command}: {seen.text}"
        mended = project.up().check()
        assert ("1 created" if command == "delete" else "1 updated") in mended.text, mended.text
        project.refresh("--expect-no-changes").check()
        after = recorded(project)["pool"]["outputs"]
        for path in ("nodeCount", "nodeConfig.taints", "nodeConfig.machineType"):
            assert at(after, path) == at(before, path), f"{command}: {path}"
