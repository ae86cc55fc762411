"""The packs find the faults of programs like other people's, and invent none."""

from collections import Counter

import pytest

from tests.policies import corpus
from tests.policies.corpus import MAX_UNDECIDED, Label, Program, levels, load, parse

EXPECTED = sorted({label for program in load() for label in program.expect})


@pytest.mark.parametrize("label", EXPECTED, ids=str)
def test_fault_is_reported(label: Label) -> None:
    assert label in corpus.reported(label.program)


@pytest.mark.parametrize("program", load(), ids=str)
def test_nothing_else_is_reported(program: Program) -> None:
    said = program.expect | program.undecided
    assert corpus.reported(program.name) - said == set()


def test_corpus_is_wide_enough() -> None:
    programs = load()

    assert len(programs) >= 64
    assert sum(program.innocent for program in programs) * 2 >= len(programs)
    assert sum(bool(program.modelled_on) for program in programs) >= 20
    assert sum(len(program.undecided) for program in programs) <= MAX_UNDECIDED


def test_every_fault_has_at_least_two_programs_or_resources() -> None:
    faults = {name for name in levels() if not name.endswith("-unknown")}
    labels = Counter(label.policy for program in load() for label in program.expect)

    assert {name for name in faults if labels[name] < 2} == set()


def test_summary_names_what_is_missed_and_what_is_invented() -> None:
    program = parse(
        "shop",
        {
            "about": "A program.",
            "resources": {"a": {"type": "x:y:Z"}, "b": {"type": "x:y:Z"}},
            "expect": [
                {"policy": "spot-pool-taint", "resource": "a"},
            ],
            "undecided": [{"policy": "spot-job-deadline", "resource": "b"}],
        },
    )
    found = {
        Label("shop", "spot-pool-taint", "b"),
        Label("shop", "spot-job-deadline", "b"),
    }
    present = {"spot-pool-taint": "mandatory", "spot-job-deadline": "advisory"}

    lines = corpus.Score((program,), present, frozenset(found)).lines()

    assert lines == [
        "1 programs: 0 innocent, 1 faulty; 0 modelled on public programs",
        "mandatory: 0 of 1 faults found, 1 false alarms",
        "  missed: shop-spot-pool-taint-a",
        "  false alarm: shop-spot-pool-taint-b",
        "advisory: 0 of 0 faults found, 0 false alarms",
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"comment": "x"}, "unknown keys ['comment']"),
        ({"resources": {"a": {"type": "x:y:Z", "properties": {}}}}, "unknown keys ['properties']"),
        ({"resources": {"a": {"type": "x:y:Z", "parent": "b"}}}, "there is no resource b"),
        ({"resources": {"a": {"type": "x:y:Z", "depends": {"k": ["b"]}}}}, "no resource b"),
        ({"expect": [{"policy": "spot-pool-tain", "resource": "a"}]}, "no policy spot-pool-tain"),
        ({"expect": [{"policy": "spot-pool-taint", "resource": "b"}]}, "there is no resource b"),
        ({"expect": [{"policy": "spot-pool-taint"}]}, "missing ['resource']"),
        ({"expect": [{"policy": "spot-pool-taint", "resource": "a"}] * 2}, "said twice"),
        ({"config": {"region": {}}}, "there is no pack region"),
        ({"modelled_on": "https://github.com/a/b/blob/main/c.tf"}, "no file at a commit"),
    ],
    ids=lambda each: each if isinstance(each, str) else None,
)
def test_a_mistake_in_a_program_is_refused(change: dict[str, object], words: str) -> None:
    good = {"about": "A program.", "resources": {"a": {"type": "x:y:Z"}}, "expect": []}
    assert parse("shop", good)

    with pytest.raises(ValueError, match=r"^shop") as caught:
        parse("shop", {**good, **change})

    assert words in str(caught.value)
