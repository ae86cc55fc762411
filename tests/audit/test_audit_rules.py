"""The audit has the rules of the policy packs, and they say the same there and here."""

import pytest
from pulumi_policy import StackValidationArgs

from spotproof_gke.audit.catalogue import ENTRIES, LIVE_ONLY, NOT_AUDITED, Entry, Over
from spotproof_gke.audit.evidence import Evidence
from spotproof_gke.audit.judge import judge
from spotproof_gke.policy_adapter import resource_from, stack_from
from spotproof_gke.rules.finding import Finding
from tests.policies.helpers import (
    PACK_NAMES,
    Case,
    cases,
    pack,
    resource_args,
    run_rule,
    stack_resources,
)

RULES = {rule.name: rule for name in PACK_NAMES for rule in pack(name).RULES}
FIXTURES = [case for case in cases() if case.rule not in NOT_AUDITED]


def test_every_rule_of_the_packs_is_audited_or_left_out_for_a_reason() -> None:
    missing = [name for name in RULES if name not in {each.name for each in ENTRIES}]
    missing = [name for name in missing if not NOT_AUDITED.get(name)]

    assert not missing, (
        f"{', '.join(missing)}: add an Entry to ENTRIES in gke/spotproof_gke/audit/catalogue.py, "
        "or a reason to NOT_AUDITED"
    )


def test_what_is_left_out_is_a_rule_of_a_pack() -> None:
    assert set(NOT_AUDITED) <= set(RULES)
    assert not set(NOT_AUDITED) & {each.name for each in ENTRIES}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.name}-{entry.over.value}")
class TestEntry:
    def test_is_a_rule_of_a_pack_or_only_seen_in_a_running_cluster(self, entry: Entry) -> None:
        assert (entry.name in RULES) != (entry.name in LIVE_ONLY)

    def test_has_the_severity_of_the_policy(self, entry: Entry) -> None:
        if entry.name in RULES:
            assert entry.severity.value == RULES[entry.name].severity.value

    def test_takes_the_configuration_of_the_policy(self, entry: Entry) -> None:
        if entry.name in RULES:
            unknown = set(entry.options) - set(RULES[entry.name].config)
            assert not unknown
            if entry.over is not Over.RUNNING:
                assert set(entry.options) == set(RULES[entry.name].config)

    def test_judges_the_form_that_the_policy_judges(self, entry: Entry) -> None:
        """One resource at a time means inputs, all together means outputs."""
        if entry.name in RULES and entry.over is not Over.RUNNING:
            assert entry.takes_one == bool(RULES[entry.name].check_resource)

    def test_says_why_in_a_sentence(self, entry: Entry) -> None:
        assert 20 < len(entry.why) < 120
        assert entry.why[0].isupper()
        assert entry.why.endswith(".")


def test_entries_stand_worst_first() -> None:
    order = ["critical", "high", "medium", "low"]
    places = [order.index(each.severity.value) for each in ENTRIES]

    assert places == sorted(places)


def _evidence(case: Case) -> Evidence:
    """A fixture as an audit holds a state: inputs as policies for one resource get them, outputs
    as policies for all of them do."""
    stack = stack_from(StackValidationArgs(stack_resources(case), dict(case.config)), ("",))
    return Evidence(
        declared=[resource_from(args) for args in resource_args(case)],
        settled=list(stack.resources),
    )


@pytest.mark.parametrize("case", FIXTURES, ids=str)
def test_says_of_a_fixture_what_the_policy_says(case: Case) -> None:
    report = judge(_evidence(case), {case.rule: case.config})
    found = [*report.findings, *report.doubts]
    said = sorted(_said(each.finding) for each in found if each.entry.name == case.rule)

    assert said == sorted({(each.resource, each.message) for each in run_rule(case)})


def _said(finding: Finding) -> tuple[str, str]:
    return finding.urn.rsplit("::", 1)[-1], finding.without_rule()
