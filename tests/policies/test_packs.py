"""What a pack promises to whoever adopts it."""

import json
import re
import subprocess
import sys

import pytest
import yaml
from pulumi_policy import EnforcementLevel, Policy

from tests.policies.helpers import PACK_NAMES, PACKS, pack

POLICIES = [(name, policy) for name in PACK_NAMES for policy in pack(name).POLICIES]
IDS = [policy.name for _, policy in POLICIES]


@pytest.mark.parametrize(("pack_name", "policy"), POLICIES, ids=IDS)
def test_policy_says_all_about_itself(pack_name: str, policy: Policy) -> None:
    assert policy.enforcement_level in (EnforcementLevel.MANDATORY, EnforcementLevel.ADVISORY)
    assert policy.severity
    assert policy.display_name
    assert policy.remediation_steps
    assert policy.tags
    # The description is printed above each violation.
    assert 20 < len(policy.description) < 250
    rule = policy.name.removesuffix("-unknown")
    assert policy.url == f"https://github.com/spotproof/spotproof/blob/main/docs/policies/{rule}.md"


@pytest.mark.parametrize(("pack_name", "policy"), POLICIES, ids=IDS)
def test_configuration_has_a_type_a_default_and_a_description(pack_name, policy: Policy) -> None:
    properties = policy.config_schema.properties if policy.config_schema else {}
    for schema in properties.values():
        assert {"type", "default", "description"} <= set(schema)
    json.dumps(properties)


def test_policy_names_are_unique() -> None:
    assert len(set(IDS)) == len(IDS)


def test_mandatory_rule_has_an_advisory_policy_for_what_is_unknown() -> None:
    levels = {policy.name: policy.enforcement_level for _, policy in POLICIES}
    for name, level in levels.items():
        if level is EnforcementLevel.MANDATORY:
            assert levels[f"{name}-unknown"] is EnforcementLevel.ADVISORY


@pytest.mark.parametrize("name", PACK_NAMES)
def test_pack_has_a_virtualenv_and_a_version(name: str) -> None:
    project = yaml.safe_load((PACKS / name / "PulumiPolicy.yaml").read_text(encoding="utf-8"))

    # Without a virtualenv the engine may install a pack into the system's Python.
    assert project["runtime"]["options"]["virtualenv"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", project["version"])
    assert project["description"]


@pytest.mark.parametrize("name", PACK_NAMES)
def test_pack_needs_no_provider_package(name: str) -> None:
    code = (
        "import sys; import policy; "
        "print([m for m in sys.modules if m.split('.')[0] in ('pulumi_gcp', 'pulumi_kubernetes',"
        " 'spotproof')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PACKS / name, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"


def test_rules_need_no_pulumi() -> None:
    code = (
        "import sys; from spotproof_gke.rules import region_match, spot_isolation; "
        "print([m for m in sys.modules if m.startswith('pulumi')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
