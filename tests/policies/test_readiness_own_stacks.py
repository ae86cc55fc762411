"""Our own components keep every rule of the readiness pack, in the stacks of this repository."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
import yaml

from spotproof_gke.rules.finding import Finding, Resource, Stack
from tests.cloud.harness import Emulated
from tests.policies.helpers import pack, urn
from tests.unit.declared import declare

ROOT = Path(__file__).parents[2]
STACKS = sorted((ROOT / "stacks").glob("Pulumi.*.yaml"))


def _resources(
    config: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> list[Resource]:
    """What a stack declares, with the outputs of the emulated cloud; objects as they are stated."""
    cloud = Emulated(folder, project=config["gcp:project"], region="")
    found: list[Resource] = []

    def make(token: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        stated = {key: () for key in inputs}
        if token.startswith("kubernetes:"):
            found.append(Resource(token, name, urn(token, name), inputs, stated))
            return name, inputs
        recorded = cloud.create(token, name, inputs)
        found.append(Resource(token, name, urn(token, name), recorded.outputs, stated))
        return recorded.id, recorded.outputs

    texts = {key: v if isinstance(v, str) else json.dumps(v) for key, v in config.items()}
    monkeypatch.setenv("PULUMI_CONFIG", json.dumps(texts))
    program = str(ROOT / "infra" / "__main__.py")
    declare(lambda: runpy.run_path(program, run_name="__main__"), answer=make, asked=[])
    return found


def _findings(resources: list[Resource]) -> list[tuple[str, Finding]]:
    rules = pack("interruption_readiness").RULES
    return [
        (rule.name, finding)
        for rule in rules
        for finding in (
            rule.check_stack(Stack(resources), {})
            if rule.check_stack
            else (each for one in resources for each in rule.check_resource(one, {}))
        )
    ]


@pytest.mark.parametrize("path", STACKS, ids=lambda path: path.stem.removeprefix("Pulumi."))
def test_stack_of_this_repository_gives_no_remark(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = yaml.safe_load(path.read_text(encoding="utf-8"))["config"]
    resources = _resources(config, tmp_path, monkeypatch)

    assert any(each.type == "gcp:storage/bucket:Bucket" for each in resources)
    assert [(name, str(each)) for name, each in _findings(resources)] == []


def test_the_showcase_holds_what_the_pack_judges() -> None:
    shown = yaml.safe_load((ROOT / "stacks" / "Pulumi.showcase.yaml").read_text(encoding="utf-8"))

    assert {"spotproof:spotPools", "spotproof:workQueues"} <= set(shown["config"])
    assert {"spotproof:spotJobs", "spotproof:queueWorkers"} <= set(shown["config"])
