"""What the region rules take from a pack's configuration, and what they refuse."""

import json
import re
from typing import Any

import pytest

from spotproof_gke.locations import DUAL_REGIONS, REGIONS
from spotproof_gke.rules.bucket_location import regions_of_dual_region
from spotproof_gke.rules.region_config import configuration_problems
from tests.policies.helpers import PACKS, pack, policy

EXAMPLE = json.loads((PACKS / "region_match/config.example.json").read_text(encoding="utf-8"))[
    "policies"
]
NAMES = [each.name for each in pack("region_match").POLICIES]
RULE = "checkpoint-bucket-in-cluster-region"


def _properties(policy_name: str) -> dict[str, dict[str, Any]]:
    schema = policy("region_match", policy_name).config_schema
    return dict(schema.properties) if schema else {}


def _fits(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a value keeps a schema, as far as schemas go in this pack."""
    if schema["type"] == "array":
        return isinstance(value, list) and all(_fits(each, schema["items"]) for each in value)
    if schema["type"] == "object":
        inner = schema["additionalProperties"]
        return isinstance(value, dict) and all(_fits(each, inner) for each in value.values())
    return isinstance(value, str) and bool(re.search(schema.get("pattern", ""), value))


@pytest.mark.parametrize("name", sorted(EXAMPLE))
def test_example_configuration_keeps_the_schema(name: str) -> None:
    assert name in NAMES
    properties = _properties(name)
    for key, value in EXAMPLE[name].items():
        if key == "enforcementLevel":
            level = policy("region_match", name).enforcement_level
            assert level
            assert value == level.value
        else:
            assert _fits(value, properties[key]), key


def test_example_configuration_shows_every_property() -> None:
    for name in NAMES:
        if name in EXAMPLE:
            assert set(_properties(name)) <= set(EXAMPLE[name]), name
        else:
            assert not _properties(name), name


def test_example_configuration_tells_the_unknown_policy_the_same() -> None:
    told = {key: value for key, value in EXAMPLE[RULE].items() if key != "enforcementLevel"}

    assert EXAMPLE[f"{RULE}-unknown"] == told


def test_example_configuration_has_no_problem() -> None:
    given = EXAMPLE[RULE]

    assert not list(configuration_problems(given["allowedDualRegions"], given["clusters"]))


@pytest.mark.parametrize("words", [*DUAL_REGIONS, "nam4", " us-east1 + US-CENTRAL1 ", "a-b1+c-d2"])
def test_dual_region_in_any_writing_is_taken(words: str) -> None:
    assert _fits([words], _properties(RULE)["allowedDualRegions"])
    assert len(regions_of_dual_region(words)) == 2


@pytest.mark.parametrize(
    "words", ["US", "us-east1", "us-east1,us-west1", "us-east1+us-west1+us-west2", "us-east1+", ""]
)
def test_dual_region_that_could_match_nothing_is_refused_by_the_engine(words: str) -> None:
    assert not _fits([words], _properties(RULE)["allowedDualRegions"])
    assert not regions_of_dual_region(words)
    assert [finding.certain for finding in configuration_problems([words])] == [True]


@pytest.mark.parametrize("location", [*list(REGIONS)[:3], "US-CENTRAL1-F", " us-east1-b "])
def test_cluster_location_in_any_letter_case_is_taken(location: str) -> None:
    assert _fits({"train": location}, _properties(RULE)["clusters"])
    assert not list(configuration_problems((), {"train": location}))


@pytest.mark.parametrize("location", ["US", "iowa", "us-central", "us-central1-a-b", "nam4", ""])
def test_cluster_location_that_is_none_is_refused_by_the_engine(location: str) -> None:
    assert not _fits({"train": location}, _properties(RULE)["clusters"])
    assert [finding.certain for finding in configuration_problems((), {"train": location})] == [
        True
    ]


def test_bucket_without_a_cluster_is_refused_by_the_engine() -> None:
    assert not _fits({"acme-data": " "}, _properties(RULE)["buckets"])


def test_problem_of_the_configuration_names_the_key_and_what_to_write() -> None:
    (finding,) = configuration_problems(["us-east1 + us-east1"])

    assert "allowedDualRegions: us-east1+us-east1" in finding.value
    assert "us-central1+us-east1" in finding.fix
