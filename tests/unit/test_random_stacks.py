"""Whatever a stack file says: one clear error, or a plan that the emulated cloud accepts."""

import json
import re
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import settings
import stack_file
from spotproof_gke.problems import ProblemsError
from tests.cloud.harness import Emulated
from tests.random_stacks import stack
from tests.unit.declared import Declared, declare
from workload_sections import Layer

PROGRAM = Path(__file__).parents[2] / "infra" / "__main__.py"
POOLS = ("spotPools", "flexStartPools", "gpuPools", "cpuPools")
GUARD = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
STACKS = 300
SHARDS = 10


def as_engine(config: dict[str, Any]) -> dict[str, str]:
    """Configuration as the engine hands it to a program: texts, objects as JSON."""
    return {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in config.items()
        if value is not None
    }


def accepted(config: dict[str, Any], source: str) -> settings.Settings | None:
    """What the settings make of it; what they refuse must be one clear error, and is None."""
    try:
        return settings.load(stack_file.parsed(as_engine(config)), source)
    except ProblemsError as error:
        refusal = error
    lines = str(refusal).splitlines()
    assert re.fullmatch(rf"{re.escape(source)}: [1-9]\d* problems?", lines[0])
    assert len(lines) == len(refusal.problems) + 1
    for problem in refusal.problems:
        assert problem.key
        assert problem.rule
        assert problem.fix
    return None


def named(one: Mapping[str, Any]) -> tuple[str, str, str]:
    """Kind, namespace and name of an object."""
    about = one["metadata"]
    return str(one["kind"]), str(about.get("namespace", "")), str(about["name"])


def judge_objects(loaded: settings.Settings, declared: list[Declared], source: str) -> None:
    """What is declared in the cluster is what the settings say, the guard before all else."""
    inside = [
        named({"kind": one.type.rpartition(":")[2], **one.props})
        for one in declared
        if one.type.startswith("kubernetes:")
    ]
    if loaded.workloads is Layer.NONE:
        assert inside == [], source
        return
    homes = {"Namespace", "ServiceAccount"}
    wanted = [named(one) for one in loaded.manifests]
    assert sorted(one for one in inside if one[0] not in homes) == sorted(wanted), source
    if not loaded.create_namespaces:
        assert homes.isdisjoint(kind for kind, _, _ in inside), source
    guard = [one for one in wanted if one[0] in GUARD]
    assert sorted(inside[: len(guard)]) == sorted(guard), source


@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_stack_is_refused_in_words_or_accepted_by_the_cloud(
    shard: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = 0
    for seed in range(shard, STACKS, SHARDS):
        config = stack(seed)
        loaded = accepted(config, f"seed {seed}")
        if loaded is None:
            continue
        taken += 1
        folder = tmp_path / str(seed)
        folder.mkdir()
        cloud = Emulated(folder, project=config["gcp:project"], region="")

        def make(
            token: str, name: str, inputs: dict[str, Any], cloud: Emulated = cloud
        ) -> tuple[str, dict[str, Any]]:
            if token.startswith("kubernetes:"):
                return f"{name}-id", inputs
            recorded = cloud.create(token, name, inputs)
            return recorded.id, recorded.outputs

        monkeypatch.setenv("PULUMI_CONFIG", json.dumps(as_engine(config)))
        declared = declare(lambda: runpy.run_path(str(PROGRAM), run_name="__main__"), answer=make)
        pools = [d for d in declared if d.type == "gcp:container/nodePool:NodePool"]
        standard = "spotproof:mode" not in config
        wanted = sum(len(config.get(f"spotproof:{key}") or {}) for key in POOLS)
        assert len(pools) == wanted + standard, f"seed {seed}"
        judge_objects(loaded, declared, f"seed {seed}")
    assert 5 <= taken <= STACKS // SHARDS - 5
