"""Changes of a stack in use, by the real engine: what goes first, and what stays untouched."""

import json
import shutil
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.emulated import EmulatedStack
from sandbox.environment import Sandbox
from sandbox.paths import ROOT, VENV
from spotproof_gke.cost.estimate import estimate
from spotproof_gke.cost.lines import Use
from spotproof_gke.cost.plans import plan_of
from tests.engine.support import engine

NODE_POOL = "gcp:container/nodePool:NodePool"
CLUSTER = "gcp:container/cluster:Cluster"
RELEASED: dict[str, list[str]] = yaml.safe_load(
    (Path(__file__).parent / "released_resources.yaml").read_text(encoding="utf-8")
)


class ChangingStack:
    """The project's `dev` stack in a sandbox, whose file can be changed between runs."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.root.mkdir()
        for name in ("infra", "stacks"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, self.root / name, ignore=ignored)
        shutil.copy(ROOT / "Pulumi.yaml", self.root)
        (self.root / ".venv").symlink_to(VENV)
        self.file = self.root / "stacks" / "Pulumi.dev.yaml"
        self.emulated = EmulatedStack(Sandbox(folder / "sandbox"), "dev", engine(), self.root)

    def setting(self, key: str, value: Any) -> None:
        content = yaml.safe_load(self.file.read_text())
        content["config"][f"spotproof:{key}"] = value
        self.file.write_text(yaml.safe_dump(content, sort_keys=False))

    def up(self) -> list[dict[str, Any]]:
        """Bring the stack up; the requests that this made of the cloud, reads left out."""
        log = self.emulated.sandbox.request_log
        before = len(log.read_text().splitlines()) if log.exists() else 0
        self.emulated.prepare()
        result = self.emulated.capture("up", "--stack", "dev", "--yes", "--skip-preview")
        assert result.returncode == 0, result.stdout
        requests = [json.loads(line) for line in log.read_text().splitlines()[before:]]
        return [one for one in requests if one["method"] in ("create", "update", "delete")]

    def ids(self, token: str) -> set[str]:
        return {one["id"] for one in self.emulated.resources() if one["type"] == token}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> ChangingStack:
    changing = ChangingStack(tmp_path_factory.mktemp("changes"))
    changing.up()
    return changing


def _short(requests: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(one["method"], one["type"]) for one in requests]


def test_a_pool_comes_and_goes_without_a_touch_of_anything_else(stack: ChangingStack) -> None:
    before = stack.ids(NODE_POOL) | stack.ids(CLUSTER)
    pools = {"l4": {"machineType": "g2-standard-8", "maxNodes": 4}}
    stack.setting("spotPools", {**pools, "more": {"machineType": "g2-standard-4", "maxNodes": 2}})
    assert _short(stack.up()) == [("create", NODE_POOL)]
    stack.setting("spotPools", pools)
    assert _short(stack.up()) == [("delete", NODE_POOL)]
    assert stack.ids(NODE_POOL) | stack.ids(CLUSTER) == before


def test_a_replaced_pool_stands_before_the_old_one_goes(stack: ChangingStack) -> None:
    before = stack.ids(NODE_POOL)
    pool = {"machineType": "g2-standard-8", "maxNodes": 4, "maxNodeLifetimeSeconds": 86_400}
    stack.setting("spotPools", {"l4": pool})
    requests = stack.up()
    assert _short(requests) == [("create", NODE_POOL), ("delete", NODE_POOL)]
    new, old = (one["id"] for one in requests)
    assert new != old
    assert stack.ids(NODE_POOL) == before - {old} | {new}
    prefix = "spot-l4-pool-"
    assert new.rpartition("/")[2].startswith(prefix)
    assert old.rpartition("/")[2].startswith(prefix)


def test_a_change_in_place_is_one_update(stack: ChangingStack) -> None:
    before = stack.ids(NODE_POOL) | stack.ids(CLUSTER)
    stack.setting("systemPool", {"minNodes": 1, "maxNodes": 4})
    assert _short(stack.up()) == [("update", NODE_POOL)]
    assert stack.ids(NODE_POOL) | stack.ids(CLUSTER) == before


@pytest.mark.parametrize("name", RELEASED)
def test_a_stack_in_use_keeps_every_resource(tmp_path: Path, name: str) -> None:
    """A child that gets another name or parent needs an alias, and its new place in the list."""
    emulated = EmulatedStack(Sandbox(tmp_path / "sandbox"), name, engine())
    emulated.prepare()
    file = tmp_path / "plan.json"
    result = emulated.capture("preview", "--stack", name, "--json", "--save-plan", str(file))
    assert result.returncode == 0, result.stdout
    preview = json.loads(result.stdout[result.stdout.index("{") :])
    costs_the_same(preview, json.loads(file.read_text()))
    steps = preview["steps"]
    urns = {step["urn"].partition("::spotproof::")[2] for step in steps}
    assert set(RELEASED[name]) - urns == set()


def costs_the_same(*documents: dict[str, Any]) -> None:
    """Both forms of a plan, as the engine writes them, have the same estimate, pools and all."""
    first, second = (
        estimate(plan_of("plan", each), Use(stored_gib=1, traffic_gib=1), date(2026, 11, 30))
        for each in documents
    )
    assert {line.what for line in first.lines} == {line.what for line in second.lines}
    assert first.high == pytest.approx(second.high)
    assert first.low > 150
    assert not first.unknown
