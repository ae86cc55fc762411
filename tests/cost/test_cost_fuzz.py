"""Whatever a file holds, there is an estimate that adds up, or one clear error."""

import io
import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from spotproof_gke.audit.evidence import InputError
from spotproof_gke.commands import cost_report as report
from spotproof_gke.cost.estimate import Estimate, estimate
from spotproof_gke.cost.lines import Use
from spotproof_gke.cost.plans import plan_of
from tests.cost import documents
from tests.cost.documents import SECRET, UNKNOWN, cluster, pool, row
from tests.spoiling import places, spoilt

_LIMITS = [{"resourceType": "nvidia-l4", "maximum": 8}, {"resourceType": "cpu", "maximum": 99}]
_ROWS = (
    cluster(clusterAutoscaling={"enabled": True, "resourceLimits": _LIMITS}),
    pool(
        "spot",
        "g2-standard-8",
        autoscaling={"totalMinNodeCount": 0, "totalMaxNodeCount": 4},
        nodeLocations=["us-central1-a", "us-central1-b"],
        upgradeSettings={"maxSurge": 1},
        config={"spot": True, "diskSizeGb": 200, "diskType": "pd-balanced"},
    ),
    pool(
        "t4",
        "n1-standard-8",
        nodeCount=1,
        config={"guestAccelerators": [{"type": "nvidia-tesla-t4", "count": 1}], "flexStart": True},
    ),
    row(documents.BUCKET, "b", location="US-CENTRAL1", storageClass="STANDARD"),
    row(documents.DISK, "d", type="pd-balanced", size=100, zone="us-central1-a"),
    row(documents.NAT, "n", region="us-central1"),
    row(documents.TOPIC, "t"),
    row("gcp:sql/databaseInstance:DatabaseInstance", "db"),
)
WHOLE = {
    "state": documents.state(*_ROWS),
    "preview": documents.preview(*_ROWS, changeSummary={"create": 8, "same": 0}),
    "plan": documents.plan(*_ROWS),
}
PLACES = {name: places(whole) for name, whole in WHOLE.items()}
_ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 300),
    st.sampled_from([10**400, -(10**400), float("inf"), float("nan"), 1e308, -1.5, "7", "1e999"]),
    st.text(max_size=8),
    st.sampled_from(
        ["us-central1", "EU", "true", "[secret]", "\x1b[31m", "\ud800", "n2-standard-" + "9" * 5000]
    ),
    st.sampled_from([[], {}, [None], [[]], [{}], {"": None}, {"a": {"a": []}}, SECRET, UNKNOWN]),
)


def _checked(made: Estimate) -> None:
    assert made.low == pytest.approx(sum(line.low for line in made.lines))
    known = (line.low if line.high is None else line.high for line in made.lines)
    assert made.high == pytest.approx(sum(known))
    assert made.low <= made.high
    assert len(made.unknown) == sum(line.high is None for line in made.lines)
    for line in made.lines:
        assert line.low >= 0
        assert line.high is None or line.low <= line.high < float("inf")
        assert (line.high is None) == bool(line.unknown)
    for need in made.needs:
        assert need.amount is None or 0 < need.amount < float("inf")


def _said(document: Any) -> str:
    try:
        plan = plan_of("test", document)
    except InputError as error:
        return str(error)
    made = estimate(plan, Use(), date(2026, 11, 30))
    _checked(made)
    json.dumps(report.as_json(made), allow_nan=False)
    out = io.StringIO()
    report.print_text(made, Console(file=out, width=100, color_system=None))
    return out.getvalue()


def _is_clean(text: str) -> bool:
    return bool(text) and text.replace("\n", "").isprintable()


@pytest.mark.parametrize("name", list(WHOLE))
def test_whole_document_has_an_estimate(name: str) -> None:
    said = _said(WHOLE[name])

    assert "Total: at least $" in said
    assert "PREEMPTIBLE_NVIDIA_L4_GPUS" in said


@pytest.mark.parametrize("name", list(WHOLE))
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_spoilt_values_never_raise(name: str, data: st.DataObject) -> None:
    value = WHOLE[name]
    for path in data.draw(st.lists(st.sampled_from(PLACES[name]), min_size=1, max_size=4)):
        value = spoilt(value, path, data.draw(_ODD))

    assert _is_clean(_said(value))


@settings(max_examples=40, deadline=None)
@given(
    value=st.recursive(
        _ODD,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["steps", "deployment", "resources", "resourcePlans", "plan", "x"]),
                inner,
                max_size=3,
            )
        ),
        max_leaves=8,
    )
)
def test_no_document_raises(value: Any) -> None:
    assert _is_clean(_said(value))
