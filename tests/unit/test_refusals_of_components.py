"""What the emulated cloud refuses in a plain resource, a constructor refuses before anything."""

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

import pytest

import spotproof
from spotproof_gke.problems import Problem, ProblemsError
from tests.refusals import Tie, load
from tests.unit.declared import Declared, declare

COMPONENTS = load().components


def _construct(of: str, name: str, change: dict[str, Any]) -> list[Declared]:
    args = {**deepcopy(COMPONENTS[of]), **change}
    given = {key: value for key, value in args.items() if value is not None}
    return declare(lambda: getattr(spotproof, of)(name, given))


@pytest.mark.parametrize("of", COMPONENTS)
def test_the_arguments_that_the_rows_change_are_accepted_as_they_are(of: str) -> None:
    assert any(one.type.startswith("gcp:") for one in _construct(of, "work", {}))


@pytest.mark.parametrize("tie", load().constructors, ids=str)
def test_a_constructor_makes_the_same_promise(tie: Tie) -> None:
    with pytest.raises(ProblemsError) as refused:
        _construct(tie.of, tie.name or "work", tie.set)
    said = str(refused.value)
    assert [words for words in tie.words if words not in said] == [], said
    for problem in refused.value.problems:
        assert _names_what_was_set(problem, tie), f"{problem} is about something else"


def _names_what_was_set(problem: Problem, tie: Tie) -> bool:
    """Whether the key is one that the row set, and the value one that stands there."""
    if tie.name:
        return tie.name in str(problem.value)
    key = _argument(problem)
    if key not in tie.set:
        return False
    # What is left out has no value, or its default; an unknown key is shown without its value.
    left_out = tie.set[key] is None or problem.value in (None, "…")
    return left_out or problem.value in list(_within(tie.set[key]))


def _argument(problem: Problem) -> str:
    return re.split(r"[.\[]", problem.key)[0]


def _within(value: Any) -> Iterator[Any]:
    yield value
    for part in value if isinstance(value, (dict, list)) else ():
        yield from _within(part)
        # A problem may be about several items, or about one alone.
        yield [part]
    if isinstance(value, dict):
        for part in value.values():
            yield from _within(part)


AUTO_PROVISIONING = {"accelerators": {"nvidia-l4": 4}, "max_vcpus": 64, "max_memory_gb": 256}
NESTED = {
    "auto_provisioning": {**AUTO_PROVISIONING, "zones": None, "disk_size_gb": None},
    "maintenance_window": {"start_time": None, "duration_hours": None, "days": None},
}
WRONG: list[Any] = ["", "?", 3, -1, 0.5, True, [], [3], ["?"], {}, {"?": "b"}, {"a": [3]}]


def _wrongs(of: str) -> Iterator[dict[str, Any]]:
    """Each argument, and each part of one, with a value of every kind."""
    for key in getattr(spotproof, f"{of}Args").__annotations__:
        for wrong in WRONG:
            yield {key: wrong}
            for part in NESTED.get(key, ()):
                yield {key: {**NESTED[key], part: wrong}}


def _told(of: str, change: dict[str, Any]) -> Sequence[Problem]:
    try:
        _construct(of, "work", change)
    except ProblemsError as error:
        return [each for each in error.problems if _argument(each) in change]
    return ()


@pytest.mark.parametrize("of", COMPONENTS)
def test_a_wrong_value_is_told_once_and_as_it_was_written(of: str) -> None:
    for change in _wrongs(of):
        told = _told(of, change)
        strange = [each for each in told if not _names_what_was_set(each, Tie("", of, change, ()))]
        assert not strange, f"{change}: {strange[0]}"
        keys = [problem.key for problem in told]
        assert len(set(keys)) == len(keys), f"{change}: {'; '.join(map(str, told))}"
