"""`spotproof advise` agrees with a table of cases, each of which follows guidance at an address."""

import datetime
import re
from math import inf
from pathlib import Path
from typing import Any

import pytest
import yaml

from spotproof_gke.strategy import Strategy, advise, read_question
from spotproof_gke.strategy.texts import facts
from tests.unit.advised import judged

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "advise_cases.yaml").read_text(encoding="utf-8")
)["cases"]
ADDRESS = re.compile(
    r"https://(docs\.cloud\.google\.com/(kubernetes-engine|compute|tpu)/docs/[a-z0-9/-]+"
    r"|kubernetes\.io/docs/[a-z0-9/-]+"
    r"|github\.com/[\w.-]+/[\w.-]+(/(blob|tree)/(main|[0-9a-f]{12,40})/[\w./-]+)?)"
)
LEAST_CASES, LEAST_NEITHER = 40, 10


def question_of(case: dict[str, Any]) -> Any:
    given = dict(case["question"])
    if given.get("hours") == "forever":
        given["hours"] = inf
    return read_question(given, complete=case.get("instead") != "find-out")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_advise_agrees_with_the_guidance(case: dict[str, Any]) -> None:
    answer = advise(question_of(case))

    assert answer.strategy.value == case["expected"]
    assert (answer.second.value if answer.second else "none") == case["second"]
    assert answer.silent is case.get("silent", False)
    if "instead" in case:
        form = facts("instead")[case["instead"]].partition("{")[0]
        assert answer.instead is not None
        assert answer.instead.startswith(form)
    sources = {(one.address, one.read_on) for each in answer.reasons for one in each.sources}
    if not answer.silent:
        assert (case["guidance"], str(case["read_on"])) in sources
    else:
        assert any("Guidance is silent" in each for each in answer.uncertain)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_what_advise_says_to_paste_is_a_right_stack_file(
    case: dict[str, Any], tmp_path: Path
) -> None:
    answer = advise(question_of(case))
    if answer.snippet is None:
        assert case["instead"] in ("other-place", "not-yet", "newer-version", "find-out")
        return

    assert judged(answer.snippet.text(), tmp_path).region == answer.region


def test_the_table_is_large_enough_and_names_where_it_comes_from() -> None:
    names = [case["name"] for case in CASES]
    neither = [case for case in CASES if case["expected"] == Strategy.NEITHER.value]
    read = {row["address"]: str(row["read_on"]) for row in facts("guidance").values()}

    assert len(set(names)) == len(names) >= LEAST_CASES
    assert len(neither) >= LEAST_NEITHER
    assert {case["expected"] for case in CASES} == {each.value for each in Strategy}
    for case in CASES:
        assert ADDRESS.fullmatch(case["guidance"]), case["name"]
        assert read[case["guidance"]] == str(case["read_on"]), case["name"]
        assert (case["expected"] == Strategy.NEITHER.value) == ("instead" in case), case["name"]


def test_every_guidance_has_an_address_and_a_day_and_is_used() -> None:
    used = {
        name
        for section in ("reasons", "conditions", "strategies")
        for row in facts(section).values()
        for name in row.get("guidance", ())
    }
    for name, row in facts("guidance").items():
        assert ADDRESS.fullmatch(row["address"]), name
        assert isinstance(row["read_on"], datetime.date), name
    assert used == set(facts("guidance"))


@pytest.mark.parametrize("section", ["reasons", "conditions"])
def test_every_sentence_follows_guidance_or_says_that_it_is_an_opinion(section: str) -> None:
    for name, row in facts(section).items():
        assert ("guidance" in row) != ("opinion" in row), name
