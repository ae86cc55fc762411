"""No remark of the readiness pack repeats what a container is given."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.policies.helpers import Case, cases, run_rule

SECRET = "correct-horse-battery-staple"
BAD = [each for each in cases() if each.pack == "interruption_readiness" and each.kind == "bad"]
GIVEN = ("command", "args", "env", "image")


def _secretive(value: Any, inside: bool = False) -> Any:
    """A value in which all words that containers are given hold a secret."""
    if isinstance(value, Mapping):
        return {key: _secretive(each, inside or key in GIVEN) for key, each in value.items()}
    if isinstance(value, list):
        return [_secretive(each, inside) for each in value]
    return f"{value} {SECRET}" if inside and isinstance(value, str) else value


def _named_again(before: Any, after: Any) -> Any:
    """Variables keep their names, so that a rule still looks at their values."""
    if isinstance(before, Mapping):
        return {
            key: each if key == "name" else _named_again(each, after[key])
            for key, each in before.items()
        }
    if isinstance(before, list):
        return [_named_again(old, new) for old, new in zip(before, after, strict=True)]
    return after


@pytest.mark.parametrize("case", BAD, ids=str)
def test_message_carries_no_argument_and_no_environment_value(case: Case) -> None:
    resources = {
        name: {**given, "props": _named_again(given.get("props"), _secretive(given.get("props")))}
        for name, given in case.resources.items()
    }
    spoilt = Case(case.pack, case.rule, case.kind, case.name, resources, [])

    assert SECRET not in "".join(each.message for each in run_rule(spoilt))
