"""The schema is what other languages see: it changes on purpose or not at all."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import spotproof
from spotproof.package import Components

ROOT = Path(__file__).parents[2]
RESERVED_KEYWORDS = {"category/infrastructure", "kind/component"}
GOLDEN = ROOT / "components" / "schema.json"


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return json.loads(Components().schema or "")


def test_the_committed_schema_is_that_of_the_components(schema: dict[str, Any]) -> None:
    assert schema == json.loads(GOLDEN.read_text(encoding="utf-8")), (
        "the components' schema changed: run `make schema` and say so in the changelog"
    )


def test_every_component_is_served(schema: dict[str, Any]) -> None:
    classes = {
        name for name in spotproof.__all__ if hasattr(getattr(spotproof, name), "register_outputs")
    }
    assert {token.rpartition(":")[2] for token in schema["resources"]} == classes


def test_every_property_is_documented_in_one_line(schema: dict[str, Any]) -> None:
    for token, shape in {**schema["resources"], **schema["types"]}.items():
        assert "\n" not in shape.get("description", ""), token
        for part in ("inputProperties", "properties"):
            for key, value in shape.get(part, {}).items():
                description = value.get("description", "")
                assert description, f"{token}.{key}"
                assert "\n" not in description, f"{token}.{key}"


def test_every_value_of_a_choice_is_documented(schema: dict[str, Any]) -> None:
    for token, shape in schema["types"].items():
        for value in shape.get("enum", []):
            assert value.get("description"), f"{token}: {value['name']}"


def test_a_registry_finds_all_that_it_lists(schema: dict[str, Any]) -> None:
    for key in ("displayName", "description", "homepage", "repository", "license", "publisher"):
        assert schema[key], key
    reserved = {word for word in schema["keywords"] if "/" in word}
    assert reserved == RESERVED_KEYWORDS
    icon = schema["logoUrl"].partition("/main/")[2]
    assert "<svg" in (ROOT / icon).read_text(encoding="utf-8")


def test_the_plugin_says_the_same_of_itself_as_the_schema(schema: dict[str, Any]) -> None:
    plugin = yaml.safe_load((ROOT / "components" / "PulumiPlugin.yaml").read_text())
    project = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())
    for key in ("name", "version", "description", "license"):
        assert plugin[key] == schema[key], key
    assert plugin["requiredPulumiVersion"] == project["requiredPulumiVersion"]


def test_the_schema_pins_no_version_of_another_package(schema: dict[str, Any]) -> None:
    assert "dependencies" not in schema
    assert '"$ref": "/' not in json.dumps(schema)
