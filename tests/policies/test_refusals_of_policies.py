"""What the emulated cloud refuses in a plain resource, a policy refuses in the preview."""

from copy import deepcopy
from typing import Any

import pytest

from tests.policies.helpers import PACK_NAMES, Case, Reported, pack, run_rule
from tests.refusals import Row, Tie, load

RESOURCES = load().resources
TIED = [(row, tie) for tie in load().policies for row in load().rows if row.id == tie.row]


def _judged(row: Row, tie: Tie, change: dict[str, Any]) -> list[Reported]:
    """What the rule reports on the row's resource in a stack with the cluster of the rows."""
    names = [name for name in PACK_NAMES if tie.of in {rule.name for rule in pack(name).RULES}]
    assert names, f"no pack has a rule {tie.of}"
    resources = {
        "cluster": _resource("cluster", {"name": "base"}),
        "it": _resource(row.base, change),
    }
    if row.base == "cluster":
        del resources["cluster"]
    case = Case(names[0], tie.of, "bad", row.id, resources, [])
    return [reported for reported in run_rule(case) if reported.level == "mandatory"]


def _resource(base: str, change: dict[str, Any]) -> dict[str, Any]:
    props = {**deepcopy(RESOURCES[base]["inputs"]), **change}
    given = {key: value for key, value in props.items() if value is not None}
    return {"type": RESOURCES[base]["type"], "props": given}


@pytest.mark.parametrize(("row", "tie"), TIED, ids=[str(tie) for _, tie in TIED])
def test_a_policy_makes_the_same_promise(row: Row, tie: Tie) -> None:
    assert _judged(row, tie, tie.set) == [], "without the mistake nothing is reported"

    reported = _judged(row, tie, {**tie.set, **row.set})
    assert [each.resource for each in reported] == ["it"]
    assert [words for words in tie.words if words not in reported[0].message] == [], reported
