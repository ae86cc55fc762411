"""The packs find the faults of programs like other people's, and invent none."""

from collections import Counter

import pytest
from _pytest.mark import ParameterSet

from tests.policies import corpus
from tests.policies.corpus import MAX_UNDECIDED, PENDING, Label, Program, levels, load, parse

DISAGREEMENTS = {
    # The first group is for the owners of the rules to decide on; the others are being built.
    "a hard taint with a key of the owner's keeps ordinary pods off as well": """
        2i2c-hub-with-dask-workers spot-pool-taint dask-worker
        claick-oliveira-two-tainted-pools spot-pool-taint spot
        cluster-toolkit-flex-start-h4d flex-start-pool-taint h4d-pool
        divviup-own-spot-taint spot-pool-taint spot_worker_nodes
        every-pool-dedicated spot-pool-taint team-blue
        home-in-an-inline-pool spot-pool-taint mixed-spot
        imported-state-tainted spot-pool-taint imported-batch
        inline-spot-pool-tainted spot-pool-taint kluster
        spot-job-by-own-pool-label spot-pool-taint cheap
    """,
    "a cluster whose pools are in another stack cannot be judged by this one": """
        first-try-bucket-far-from-cluster on-demand-home-for-system-pods primary
    """,
    "values with replicas are of no DaemonSet, so the blanket toleration is certain": """
        helm-release-puts-system-pods-on-spot system-workload-off-spot metrics-server
        helm-release-puts-system-pods-on-spot system-workload-off-spot-unknown metrics-server
    """,
    "ConfigMaps and configuration do not tie buckets yet": """
        config-ties-buckets-to-clusters checkpoint-bucket-in-cluster-region apac
        config-ties-buckets-to-clusters checkpoint-bucket-in-cluster-region us-old
        configmap-names-far-buckets checkpoint-bucket-in-cluster-region fast_scratch
        configmap-names-far-buckets checkpoint-bucket-in-cluster-region train_data
        configmap-names-far-buckets unlabelled-bucket-in-cluster-region fast_scratch
        configmap-names-far-buckets unlabelled-bucket-in-cluster-region train_data
    """,
    "pods of kinds that are not Kubernetes' own are not found yet": """
        pytorchjob-on-spot-with-shell pod-grace-within-budget ddp
        pytorchjob-on-spot-with-shell save-estimate-within-budget ddp
        pytorchjob-on-spot-with-shell spot-program-gets-stop-signal ddp
    """,
}
"""Where the rules disagree with labels that stand: program, policy and resource, by reason.

What a label expects is a missed fault, anything else a false alarm.
"""
KNOWN = {
    Label(*line.split()): reason
    for reason, lines in DISAGREEMENTS.items()
    for line in lines.strip().splitlines()
}
EXPECTED = {label for program in load() for label in program.expect}
KNOWN_ALARMS = sorted(set(KNOWN) - EXPECTED)


def _marked(label: Label) -> ParameterSet:
    reason = "no policy yet" if label.policy not in levels() else KNOWN.get(label)
    return pytest.param(label, id=str(label), marks=[_wrong(reason)] if reason else [])


def _wrong(reason: str) -> pytest.MarkDecorator:
    return pytest.mark.xfail(strict=True, raises=AssertionError, reason=reason)


@pytest.mark.parametrize("label", [_marked(label) for label in sorted(EXPECTED)])
def test_fault_is_reported(label: Label) -> None:
    assert label in corpus.reported(label.program)


@pytest.mark.parametrize("program", load(), ids=str)
def test_nothing_else_is_reported(program: Program) -> None:
    said = program.expect | program.undecided
    assert corpus.reported(program.name) - said - set(KNOWN_ALARMS) == set()


@pytest.mark.parametrize("label", [_marked(label) for label in KNOWN_ALARMS])
def test_false_alarm_is_gone(label: Label) -> None:
    assert label not in corpus.reported(label.program)


@pytest.mark.parametrize(
    "policy", [pytest.param(name, marks=_wrong("no policy yet")) for name in PENDING]
)
def test_pending_policy_exists(policy: str) -> None:
    assert policy in levels()


def test_corpus_is_wide_enough() -> None:
    programs = load()

    assert len(programs) >= 64
    assert sum(program.innocent for program in programs) * 2 >= len(programs)
    assert sum(bool(program.modelled_on) for program in programs) >= 20
    assert sum(len(program.undecided) for program in programs) <= MAX_UNDECIDED


def test_every_fault_has_at_least_two_programs_or_resources() -> None:
    faults = {name for name in (*levels(), *PENDING) if not name.endswith("-unknown")}
    labels = Counter(label.policy for program in load() for label in program.expect)

    assert {name for name in faults if labels[name] < 2} == set()


def test_summary_names_what_is_missed_invented_and_pending() -> None:
    program = parse(
        "shop",
        {
            "about": "A program.",
            "resources": {"a": {"type": "x:y:Z"}, "b": {"type": "x:y:Z"}},
            "expect": [
                {"policy": "spot-pool-taint", "resource": "a"},
                {"policy": "subnet-in-cluster-region", "resource": "a"},
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
        "pending, no policy yet (labels): subnet-in-cluster-region (1)",
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
