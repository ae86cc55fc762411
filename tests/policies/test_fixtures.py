"""Each rule says what its fixtures expect, and nothing else."""

from collections import Counter

import pytest

from tests.policies.helpers import KINDS, PACK_NAMES, Case, cases, pack, run_rule

CASES = list(cases())
RULES = [(name, rule) for name in PACK_NAMES for rule in pack(name).RULES]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rule_reports_what_its_fixture_expects(case: Case) -> None:
    reported = run_rule(case)

    found = Counter((each.resource, each.level) for each in reported)
    assert found == Counter((each["resource"], each["level"]) for each in case.expect), reported
    for expected in case.expect:
        for words in expected.get("says", ()):
            messages = [r.message for r in reported if r.resource == expected["resource"]]
            assert any(words in message for message in messages), messages


@pytest.mark.parametrize("case", CASES, ids=str)
def test_fixture_stands_in_the_right_file(case: Case) -> None:
    levels = {each["level"] for each in case.expect}
    if case.kind == "good":
        assert not levels
    if case.kind == "bad":
        rule = next(rule for _, rule in RULES if rule.name == case.rule)
        assert ("mandatory" if rule.mandatory else "advisory") in levels


@pytest.mark.parametrize(("pack_name", "rule"), RULES, ids=lambda each: getattr(each, "name", each))
def test_rule_has_fixtures_of_every_kind(pack_name: str, rule) -> None:
    kinds = {case.kind for case in CASES if case.rule == rule.name and case.pack == pack_name}

    assert kinds == set(KINDS)


def test_every_fixture_belongs_to_a_rule() -> None:
    assert {case.rule for case in CASES} == {rule.name for _, rule in RULES}
