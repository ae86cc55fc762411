"""Files of levels and configuration name what exists; the engine passes over other names."""

import json
from pathlib import Path
from typing import Any

import pytest
from pulumi_policy import EnforcementLevel

from tests.policies.helpers import PACK_NAMES, PACKS, pack

LEVELS = sorted((PACKS / "levels").glob("*.json"))
EXAMPLES = sorted(PACKS.glob("*/config.example.json"))
VALID = {level.value for level in EnforcementLevel}
POLICIES = {name: {one.name: one for one in pack(name).POLICIES} for name in PACK_NAMES}
RULES = {rule.name: rule for name in PACK_NAMES for rule in pack(name).RULES}


def _level(value: Any) -> str | None:
    return value if isinstance(value, str) else value.get("enforcementLevel")


@pytest.mark.parametrize("file", LEVELS, ids=lambda file: file.stem)
def test_levels_are_levels_of_policies_that_exist(file: Path) -> None:
    known = {name for policies in POLICIES.values() for name in policies} | {"all"}
    levels = json.loads(file.read_text(encoding="utf-8"))

    assert set(levels) <= known
    assert {_level(value) for value in levels.values()} <= VALID


@pytest.mark.parametrize("file", LEVELS, ids=lambda file: file.stem)
def test_no_level_makes_what_is_unknown_fail_a_preview(file: Path) -> None:
    levels = json.loads(file.read_text(encoding="utf-8"))

    assert _level(levels.get("all", "advisory")) in ("advisory", "disabled")
    assert not [name for name in levels if name.endswith("-unknown")]


def test_what_is_to_be_mended_can_be_mended() -> None:
    levels = json.loads((PACKS / "levels" / "remediate.json").read_text(encoding="utf-8"))
    mended = {name for name, value in levels.items() if _level(value) == "remediate"}

    assert mended
    assert mended <= {name for name, rule in RULES.items() if rule.mend}


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.parent.name)
def test_an_example_configures_its_own_pack_and_every_property_of_it(file: Path) -> None:
    policies = POLICIES[file.parent.name]
    example = json.loads(file.read_text(encoding="utf-8"))

    shown = set()
    configured = example["policies"] if example.get("version") == 2 else example
    for name, value in configured.items():
        assert name in policies
        schema = policies[name].config_schema
        properties = set(schema.properties) if schema else set()
        given = set() if isinstance(value, str) else set(value) - {"enforcementLevel"}
        assert given <= properties, name
        shown |= given
    for exception in example.get("exceptions", {}).values():
        for match in exception["match"]:
            assert set(match["policies"]) <= set(policies)
    schemas = [one.config_schema for one in policies.values() if one.config_schema]
    assert shown == {key for schema in schemas for key in schema.properties}
