"""Whatever a file holds, the audit gives a report or one error; it never raises anything else."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotproof_gke.audit import report
from spotproof_gke.audit.documents import documents
from spotproof_gke.audit.evidence import Evidence, InputError
from spotproof_gke.audit.judge import Report, judge
from spotproof_gke.audit.reading import add_file
from tests.audit import examples
from tests.audit.objects import listed, node, pod
from tests.spoiling import places, spoilt

_ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([10**400, -(10**400), float("inf"), float("nan"), 1e308]),
    st.text(max_size=8),
    st.sampled_from(
        ["us-central1", "US", "true", "Exists", "[secret]", "\x1b[31m", "\ud800", "a:\x1b[1m"]
    ),
    st.sampled_from([[], {}, [None], [[]], [{}], {"": None}, {"a": {"a": []}}]),
    st.just(examples.SECRET),
    st.just({examples.SIGNATURE: None}),
    st.recursive(
        st.none() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
        ),
        max_leaves=5,
    ),
)


WHOLE = {
    "cluster": examples.faulty_cluster(),
    "state": examples.faulty_state(),
    "checkpoint": examples.checkpoint(examples.faulty_state()),
}
PLACES = {name: places(whole) for name, whole in WHOLE.items()}


def _is_clean(text: str) -> bool:
    """Whether a text says something, can be printed, and does nothing to a terminal."""
    return bool(text) and text.isprintable()


def audited(*contents: Any) -> Report:
    evidence = Evidence()
    for number, content in enumerate(contents):
        add_file(evidence, f"file-{number}", [content])
    return judge(evidence)


def said(*contents: Any) -> str:
    """What the audit of these documents says to a person: its report, or its one error."""
    try:
        result = audited(*contents)
    except InputError as error:
        return str(error)
    json.loads(report.as_json(result))
    return report.as_text(result).replace("\n", "")


@pytest.mark.parametrize("name", list(WHOLE))
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_spoilt_values_never_raise(name: str, data: st.DataObject) -> None:
    value = WHOLE[name]
    for path in data.draw(st.lists(st.sampled_from(PLACES[name]), min_size=1, max_size=4)):
        value = spoilt(value, path, data.draw(_ODD))

    assert _is_clean(said(value, examples.innocent_cluster()))


@settings(max_examples=150, deadline=None)
@given(_ODD)
def test_odd_documents_never_raise(value: Any) -> None:
    for whole in (
        value,
        [value],
        listed(value),
        {"deployment": value},
        {"deployment": {"resources": value}},
        {"deployment": {"resources": [value, {"type": value, "urn": value}]}},
        {"checkpoint": value},
        {"checkpoint": {"latest": value}},
        {"kind": "PodList", "items": [value]},
        {"kind": value, "apiVersion": value, "metadata": value},
    ):
        assert _is_clean(said(whole))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40) | st.text("{}[]:,-\"'&*!|> \n\tab1", max_size=30))
def test_odd_texts_are_read_or_refused(content: str) -> None:
    try:
        found = documents("given", content)
    except InputError as error:
        refusal = str(error)
    else:
        with pytest.raises(InputError) as caught:
            add_file(Evidence(), "given", found)
        refusal = str(caught.value)
    assert _is_clean(refusal)


@pytest.mark.parametrize("depth", [90, 300, 900])
def test_deep_nesting_is_a_doubt_at_most(depth: int) -> None:
    deep: Any = "end"
    for _ in range(depth):
        deep = {"nodeSelector": deep} if depth % 2 else [deep]
    cluster = listed(node("home", "system"), pod("p", "kube-system", "home", spec={"a": deep}))
    state = examples.state(
        examples.row(examples.POOL, "pool", {"name": deep, "nodeConfig": deep, "x": deep})
    )

    assert audited(cluster) is not None
    assert audited(state) is not None


def test_null_items_are_passed_over_and_counted() -> None:
    cluster = examples.faulty_cluster()
    cluster["items"][1:1] = [None, 3, "x", [], {}, {"kind": "Pod"}, {"kind": "List", "items": None}]
    state = examples.faulty_state()
    state["deployment"]["resources"][1:1] = [None, 3, [], {}]
    result = audited(cluster, state)

    assert result
    found = {(each.entry.name, each.where) for each in result.findings}
    assert found == examples.CLUSTER_FAULTS | examples.STATE_FAULTS
    assert result.evidence.sources[0].ignored["(no object)"] == 6
    assert result.evidence.sources[1].ignored["(no resource)"] == 4


def test_number_too_long_for_a_float_is_no_number() -> None:
    cluster = examples.faulty_cluster()
    for each in cluster["items"]:
        if each["kind"] == "Job":
            each["spec"]["backoffLimit"] = 10**400
            each["spec"]["activeDeadlineSeconds"] = -(10**400)

    assert audited(cluster)
