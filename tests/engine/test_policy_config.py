"""Levels, configuration and exceptions of the packs, as the engine takes them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sandbox.judging import LEVELS, pack_flags
from sandbox.paths import ALL_POLICY_PACKS, policy_pack
from tests.engine.policy_states import (
    BARE_SPOT_POOL,
    BROKEN,
    BROKEN_RULES,
    CLUSTER,
    resource,
    write_state,
)
from tests.engine.support import Run, run_pulumi

EXAMPLES = sorted((LEVELS.parent).glob("*/config.example.json"))
OTHER_POOL = resource(
    "gcp:container/nodePool:NodePool", "other", {"cluster": "train", "nodeConfig": {"spot": True}}
)


def _analyze(sandbox_dir: Path, resources: Any, config: Path | None, *packs: str) -> Run:
    folder = sandbox_dir.parent
    state = write_state(folder / "state.json", resources)
    flags = pack_flags([str(policy_pack(one)) for one in packs], str(config or ""))
    return run_pulumi(folder, ["policy", "analyze", "--file", state, *flags], sandbox_dir)


def _levels(run: Run) -> dict[str, str]:
    """The level at which each policy was reported."""
    return {
        policy: level
        for level, policy in re.findall(r"\[(\w+)\](?: \[severity: \w+\])?  (\S+)  \(", run.stdout)
    }


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda file: file.parent.name)
def test_the_engine_takes_the_example_of_a_configuration(sandbox_dir: Path, example: Path) -> None:
    run = _analyze(sandbox_dir, [CLUSTER], example, example.parent.name)

    assert run.check()
    assert "warning" not in run.text.lower()


@pytest.mark.parametrize(
    ("file", "expected", "ok"),
    [
        ("dev", {"mandatory": (), "advisory": ALL_POLICY_PACKS}, True),
        ("prod", {"mandatory": ALL_POLICY_PACKS, "advisory": ()}, False),
    ],
)
def test_levels_of_an_environment_decide_what_fails(
    sandbox_dir: Path, file: str, expected: dict[str, tuple[str, ...]], ok: bool
) -> None:
    run = _analyze(sandbox_dir, BROKEN, LEVELS / f"{file}.json", *ALL_POLICY_PACKS)

    levels = _levels(run)
    for level, packs in expected.items():
        for pack in packs:
            assert levels[BROKEN_RULES[pack]] == level
    assert run.ok == ok


def test_the_level_remediate_shows_what_would_be_mended(sandbox_dir: Path) -> None:
    run = _analyze(sandbox_dir, BROKEN, LEVELS / "remediate.json", "spot_isolation")

    assert re.search(r"\[remediate\].*spot-pool-taint.*\[diff: ~nodeConfig\]", run.stdout)


def _excepted(file: Path, **changes: Any) -> Path:
    exception = {
        "reason": "moves to its own cluster in December",
        "match": [{"policies": ["spot-pool-taint"], "targets": [BARE_SPOT_POOL["urn"]]}],
    } | changes
    exceptions = {"OPS-1": {key: value for key, value in exception.items() if value is not None}}
    file.write_text(json.dumps({"version": 2, "exceptions": exceptions}))
    return file


def test_an_exception_lets_one_resource_through_and_its_reason_is_shown(
    sandbox_dir: Path, tmp_path: Path
) -> None:
    config = _excepted(tmp_path / "config.json")

    run = _analyze(sandbox_dir, [CLUSTER, BARE_SPOT_POOL], config, "spot_isolation")

    assert run.check()
    assert "[exempted] [mandatory]" in run.stdout
    assert "OPS-1: moves to its own cluster in December" in run.stdout

    run = _analyze(sandbox_dir, [CLUSTER, BARE_SPOT_POOL, OTHER_POOL], config, "spot_isolation")

    assert not run.ok


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"reason": None}, '"reason" is required'),
        ({"reason": " "}, '"reason" is required'),
        ({"match": [{"policies": ["all"], "targets": ["x"]}]}, '"all" isn\'t allowed'),
        ({"match": [{"policies": ["spot-pool-taint"], "targets": ["batch"]}]}, "not a valid URN"),
    ],
    ids=["no reason", "blank reason", "all policies", "a name for a URN"],
)
def test_an_exception_without_reason_or_target_is_refused(
    sandbox_dir: Path, tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    config = _excepted(tmp_path / "config.json", **changes)

    run = _analyze(sandbox_dir, [CLUSTER, BARE_SPOT_POOL], config, "spot_isolation")

    assert not run.ok
    assert "OPS-1" in run.stderr
    assert says in run.stderr


def test_an_exception_from_a_policy_that_is_gone_is_a_warning(
    sandbox_dir: Path, tmp_path: Path
) -> None:
    match = [{"policies": ["gone"], "targets": [BARE_SPOT_POOL["urn"]]}]
    config = _excepted(tmp_path / "config.json", match=match)

    run = _analyze(sandbox_dir, [CLUSTER], config, "spot_isolation")

    assert run.check()
    assert 'names policy "gone"' in run.text
