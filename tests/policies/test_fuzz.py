"""Rules say something or nothing about any properties; they never raise."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pulumi_policy import ResourceValidationPolicy
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from tests.policies.helpers import PACK_NAMES, PACKS, Case, cases, pack, resource_args, run
from tests.policies.random_programs import SECRET, configured, program
from tests.spoiling import places, spoilt

POLICIES = [(name, policy) for name in PACK_NAMES for policy in pack(name).POLICIES]
FIXTURES = [case for case in cases() if case.resources]

_odd = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["us-central1", "US", "true", "Exists", UNKNOWN_STRING_VALUE, "[secret]"]),
    st.just([]),
    st.just({}),
    st.just([{}, None, [UNKNOWN_STRING_VALUE]]),
    st.recursive(
        st.none() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
        ),
        max_leaves=5,
    ),
)


@st.composite
def _spoilt(draw: st.DrawFn, rule: str) -> Case:
    """A fixture with one to three values, anywhere in its properties, replaced by odd ones."""
    case = draw(st.sampled_from([case for case in FIXTURES if case.rule == rule]))
    resources = {name: dict(given) for name, given in case.resources.items()}
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from(sorted(resources)))
        props = resources[name].get("props", {})
        inside = [path for path in places(props) if path]
        if inside:
            path = draw(st.sampled_from(inside))
            resources[name]["props"] = spoilt(props, path, draw(_odd))
    return Case(case.pack, case.rule, case.kind, case.name, resources, [], case.config)


@pytest.mark.parametrize(
    ("pack_name", "policy"), POLICIES, ids=[policy.name for _, policy in POLICIES]
)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_policy_never_raises_on_odd_properties(pack_name: str, policy, data) -> None:
    case = data.draw(_spoilt(policy.name.removesuffix("-unknown")))

    for reported in run(policy, case):
        assert UNKNOWN_STRING_VALUE not in reported.message


@settings(max_examples=120, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_no_policy_raises_on_any_program(seed: int) -> None:
    rng = Random(seed)
    resources = program(rng)
    for pack_name, policy in POLICIES:
        case = Case(pack_name, policy.name, "bad", "any", resources, [], configured(policy, rng))
        for reported in run(policy, case):
            assert UNKNOWN_STRING_VALUE not in reported.message
            assert SECRET not in reported.message
        if isinstance(policy, ResourceValidationPolicy) and policy.has_remediation():
            for args in resource_args(case):
                policy.remediate(args)


def test_every_pack_is_among_those_that_are_tested() -> None:
    assert sorted(PACK_NAMES) == sorted(path.parent.name for path in PACKS.glob("*/policy.py"))
