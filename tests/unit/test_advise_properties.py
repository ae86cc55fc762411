"""Whatever is asked: one answer, that promises nothing which the work forbids."""

import json
import re
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import settings as runs
from hypothesis import strategies as some

from spotproof_gke import locations
from spotproof_gke.capacity import Capacity
from spotproof_gke.gpu_names import SHORT
from spotproof_gke.problems import ProblemsError
from spotproof_gke.strategy import Answer, ClusterMode, Kind, Strategy, advise, read_question
from spotproof_gke.versions import FEATURES, parse
from tests.unit.advised import declared, judged

FLEX = (Strategy.FLEX_START, Strategy.FLEX_START_QUEUED)
EXAMPLES = 120
VERSIONS = ("1.29.4-gke.1043000", "1.31.5-gke.1", "1.32.4-gke.1", "1.33.5-gke.2000000", "1.36.1")


def perhaps(values: some.SearchStrategy[Any]) -> some.SearchStrategy[Any]:
    return some.one_of(some.none(), values)


QUESTIONS = some.fixed_dictionaries(
    {
        "kind": some.sampled_from([*(each.value for each in Kind), "training", "training"]),
        "accelerator": some.sampled_from([*SHORT, "none", "none", "tpu-v5e"]),
        "nodes": some.sampled_from([1, 1, 1, 2, 4, 32]),
        "interruptible": perhaps(some.booleans()),
        "start_flexible": perhaps(some.booleans()),
        "hours": perhaps(some.sampled_from([0.5, 3, 24, 25, 168, 168.1, 500, inf])),
        "replicas": perhaps(some.sampled_from([1, 2, 3, 40])),
        "latency_critical": some.sampled_from([False, False, False, True]),
        "local_state": some.sampled_from([False] * 9 + [True]),
        "sla": some.sampled_from([False] * 9 + [True]),
        "save_seconds": perhaps(some.sampled_from([0, 5, 90, 4000])),
        "region": perhaps(some.sampled_from(sorted(locations.REGIONS))),
        "mode": some.sampled_from([each.value for each in ClusterMode]),
        "version": perhaps(some.sampled_from(VERSIONS)),
        "reservation": some.sampled_from([None, None, None, "ours"]),
    },
    optional={"checkpoints": some.booleans(), "gpus": some.sampled_from([1, 2, 8])},
)


def sensible(values: dict[str, Any]) -> dict[str, Any]:
    """`values` without what can't be said of this kind of work."""
    less = {"training": ("replicas", "latency_critical"), "stateless": ("checkpoints",)}
    less |= {"batch": less["training"], "ci": less["stateless"]}
    return {key: value for key, value in values.items() if key not in less.get(values["kind"], ())}


def asked(values: dict[str, Any]) -> Answer | None:
    """The answer; None for a question that is wrong in itself."""
    try:
        question = read_question(values)
    except ProblemsError:
        return None
    return advise(question)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pasted")


@given(values=QUESTIONS.map(sensible))
@example(values={"kind": "training", "accelerator": "h100", "interruptible": False,
                 "start_flexible": True, "hours": 168.1, "nodes": 4})  # fmt: skip
@runs(max_examples=EXAMPLES, deadline=None, derandomize=True)
def test_an_answer_promises_nothing_that_the_work_forbids(
    folder: Path, values: dict[str, Any]
) -> None:
    answer = asked(values)
    if answer is None:
        return
    question = answer.question
    takes = {answer.strategy, *(Strategy.SPOT for each in answer.chain if each is Capacity.SPOT)}
    if question.interruptible is False:
        assert Strategy.SPOT not in takes
    stays = question.local_state or question.sla
    if question.kind in (Kind.SYSTEM, Kind.STATEFUL) or (stays and not question.tpu):
        assert takes.isdisjoint({Strategy.SPOT, *FLEX})
    alone = question.replicas in (None, 1) or question.latency_critical
    if question.kind is Kind.STATELESS and alone:
        assert Strategy.SPOT not in takes
    if answer.strategy in FLEX:
        too_long = question.hours is None or question.hours > 168
        assert not too_long or question.checkpoints is True
        feature = FEATURES["flex-start" if question.nodes == 1 else "flex-start-queued"]
        version = question.version
        assert version is None or parse(version) >= parse(feature.version)
    assert (answer.instead is not None) == (answer.strategy is Strategy.NEITHER)
    assert answer.reasons
    assert (answer.second is None) == (answer.why_not is None)
    assert answer.second is not answer.strategy
    for each in answer.statements:
        assert not re.search(r"[{}]|\bNone\b", each.text), each
    assert keys(answer.as_data()) == SCHEMA
    assert json.loads(json.dumps(answer.as_data())) == answer.as_data()
    if answer.snippet is not None:
        judged(answer.snippet.text(), folder)


def keys(data: dict[str, Any]) -> dict[str, list[str]]:
    """The keys of an answer in JSON, and of what is in it."""
    found = {"": sorted(data)}
    for name, value in data.items():
        for each in _mappings(value):
            found[name] = sorted(each)
    fixed = {name: names for name, names in SCHEMA.items() if name not in found}
    return {**fixed, **found}


def _mappings(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    elif isinstance(value, list):
        yield from (each for each in value if isinstance(each, dict))


_SENTENCE = ["name", "opinion", "sources", "text"]
SCHEMA: dict[str, list[str]] = {
    "": sorted([
        "question", "strategy", "title", "instead", "chain", "reasons", "second", "whyNot",
        "region", "allowAlso", "nodesFrom", "conditions", "needs", "uncertain", "snippet",
        "workload", "sources",
    ]),
    "question": sorted([
        "kind", "accelerator", "tpu", "gpus", "nodes", "interruptible", "checkpoints",
        "startFlexible", "hours", "replicas", "latencyCritical", "localState", "sla",
        "saveSeconds", "region", "mode", "version", "reservation",
    ]),
    "reasons": _SENTENCE,
    "conditions": _SENTENCE,
    "whyNot": _SENTENCE,
    "allowAlso": ["how", "machineType", "machineTypes", "regions", "unknown", "zones"],
    "needs": ["met", "version", "what"],
    "sources": ["address", "name", "readOn", "says"],
}  # fmt: skip
"""What programs that read the JSON rely on."""


@pytest.mark.parametrize(
    "values",
    [
        {"kind": "training", "interruptible": True, "accelerator": "t4"},
        {"kind": "batch", "interruptible": True, "start_flexible": False, "accelerator": "l4"},
        {"kind": "stateless", "replicas": 3, "accelerator": "none"},
        {"kind": "training", "interruptible": False, "start_flexible": True, "hours": 60,
         "accelerator": "a100"},
        {"kind": "training", "interruptible": False, "start_flexible": True, "hours": 60,
         "accelerator": "h100", "gpus": 8, "nodes": 2},
        {"kind": "batch", "interruptible": True, "mode": "autopilot", "accelerator": "t4"},
        {"kind": "training", "interruptible": False, "hours": 400, "accelerator": "gb200",
         "reservation": "racks"},
    ],
    ids=lambda values: f"{values['kind']}-{values['accelerator']}",
)  # fmt: skip
def test_what_is_pasted_is_made_by_the_program_and_taken_by_the_cloud(
    values: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = asked(values)
    assert answer is not None
    assert answer.snippet is not None

    made = declared(answer.snippet.text(), tmp_path, monkeypatch)

    assert any(each.type == "gcp:container/cluster:Cluster" for each in made)
    section, _, key = answer.snippet.form.partition(".")
    if f"spotproof:{section}" in answer.snippet.settings:
        assert any(each.props.get("metadata", {}).get("name") == key for each in made)
