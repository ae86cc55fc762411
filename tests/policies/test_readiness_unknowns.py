"""A value that the preview does not know never hides a fault of the readiness pack."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.policies.helpers import UNKNOWN_STRING_VALUE, Case, cases, run_rule

CASES = [each for each in cases() if each.pack == "interruption_readiness"]
BAD = [each for each in CASES if each.kind == "bad"]
UNKNOWN_CASES = [each for each in CASES if each.kind == "unknown"]
ELSEWHERE = {"type": "random:index/randomPet:RandomPet"}


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    inner = value.items() if isinstance(value, Mapping) else enumerate(value)
    for key, each in inner if isinstance(value, (Mapping, list)) else ():
        found += (
            _places(each, (*path, key)) if isinstance(each, (Mapping, list)) else [(*path, key)]
        )
    return found


def _with(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, Mapping) else list(value)
    copy[path[0]] = _with(value[path[0]], path[1:], new)
    return copy


def _with_unknown(case: Case, name: str, path: tuple[Any, ...]) -> Case:
    given = case.resources[name]
    depends = given.get("depends", {})
    changed = {
        **given,
        "props": _with(given["props"], path, UNKNOWN_STRING_VALUE),
        "depends": {**depends, path[0]: [*depends.get(path[0], ()), "elsewhere"]},
    }
    resources = {**case.resources, name: changed, "elsewhere": ELSEWHERE}
    return Case(case.pack, case.rule, "unknown", str(path), resources, [])


@pytest.mark.parametrize("case", BAD, ids=str)
def test_each_fault_is_still_reported_when_any_one_value_is_unknown(case: Case) -> None:
    wanted = {each["resource"] for each in case.expect}
    for name, given in case.resources.items():
        for path in _places(given.get("props", {})):
            found = {each.resource for each in run_rule(_with_unknown(case, name, path))}
            assert wanted <= found, f"{name}: {path} unknown hides {wanted - found}"


@pytest.mark.parametrize("case", BAD, ids=str)
def test_fault_that_is_known_is_not_called_uncertain(case: Case) -> None:
    assert not [each.message for each in run_rule(case) if "cannot be known" in each.message]


@pytest.mark.parametrize("case", UNKNOWN_CASES, ids=str)
def test_what_depends_on_an_unknown_value_is_called_uncertain(case: Case) -> None:
    certain = {each.resource for each in run_rule(case) if "cannot be known" not in each.message}

    # One of them is a fault whatever the unknown value is.
    assert certain <= {"bare"}
