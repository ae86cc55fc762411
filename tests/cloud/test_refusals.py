"""Each rule of the emulated cloud meets a plain resource that breaks it."""

import re
from copy import deepcopy
from typing import Any

import pytest

from tests.cloud.harness import Emulated, Refused
from tests.refusals import Row, load, parse

RESOURCES = load().resources
# Rows in which the resource itself is refused whatever is laid over it.
ALWAYS_REFUSED = {"account_member"}
# The provider never looks whether it is still there.
NEVER_GONE = {"service_identity"}
SURROUNDINGS: list[tuple[str, dict[str, Any]]] = [
    ("network", {"name": "net"}),
    ("network", {"name": "net2"}),
    (
        "subnetwork",
        {
            "name": "sub",
            "ipCidrRange": "10.0.0.0/20",
            "secondaryIpRanges": [{"rangeName": "pods", "ipCidrRange": "10.4.0.0/14"}],
        },
    ),
    ("router", {"name": "router"}),
    ("cluster", {"name": "base"}),
    ("cluster", {"name": "base-old", "minMasterVersion": "1.33"}),
    ("autopilot", {"name": "base-autopilot"}),
    ("pool", {"name": "sys", "initialNodeCount": 1}),
    ("bucket", {"name": "base-bucket", "publicAccessPrevention": "enforced"}),
    ("account", {"accountId": "base-account"}),
    ("firewall", {"name": "base-firewall"}),
    ("topic", {"name": "base-topic"}),
    ("subscription", {"name": "base-subscription"}),
    ("repository", {"repositoryId": "base-images"}),
]


def laid_over(on: str, change: dict[str, Any]) -> dict[str, Any]:
    inputs = {**deepcopy(RESOURCES[on]["inputs"]), **change}
    return {name: value for name, value in inputs.items() if value is not None}


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Emulated:
    emulated = Emulated(tmp_path_factory.mktemp("cloud"))
    for number, (on, change) in enumerate(SURROUNDINGS):
        emulated.create(RESOURCES[on]["type"], f"base-{number}", laid_over(on, change))
    return emulated


@pytest.mark.parametrize("row", load().rows, ids=lambda row: row.id)
def test_a_plain_resource_is_refused_in_the_words_of_the_cloud(cloud: Emulated, row: Row) -> None:
    before = len(cloud.store.everything())
    with pytest.raises(Refused) as refused:
        cloud.create(RESOURCES[row.base]["type"], row.base, laid_over(row.base, row.set))
    assert refused.value.stage == row.stage
    said = "\n".join(refused.value.texts)
    assert [words for words in row.words if words not in said] == [], said
    assert len(cloud.store.everything()) == before


@pytest.mark.parametrize("name", sorted(set(RESOURCES) - ALWAYS_REFUSED))
def test_the_resource_that_the_rows_change_is_accepted_as_it_is(cloud: Emulated, name: str) -> None:
    recorded = cloud.create(RESOURCES[name]["type"], name, laid_over(name, {}))
    refreshed = cloud.refresh(recorded)
    assert refreshed is not None
    assert refreshed.outputs == recorded.outputs
    assert cloud.plan(refreshed, laid_over(name, {})).op == "same"
    cloud.delete(recorded)
    assert (cloud.refresh(recorded) is None) is (name not in NEVER_GONE)


ROW = {"id": "a", "base": "router", "set": {}, "stage": "update", "words": ["x"]}
TIE = {"row": "a", "of": "Network", "set": {"region": "mars"}, "words": ["region"]}


def _content(row: Any = None, tie: Any = None, **changes: Any) -> dict[str, Any]:
    content = {"resources": {"router": {}}, "components": {"Network": {}}, "policies": []}
    content |= {"rows": [ROW | (row or {})], "constructors": [TIE | (tie or {})]}
    return content | changes


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (_content({"sett": {}}), "a: unknown keys ['sett']"),
        (_content({"stage": "previw"}), "a.stage: 'previw' is none of preview, update"),
        (_content({"words": "x"}), "a.words: 'x' is no list of texts"),
        (_content({"words": []}), "a.words: [] is no list"),
        (_content({"base": "rooter"}), "resource unused or unknown: ['rooter', 'router']"),
        (_content(tie={"set": {}}), "constructors: a: a constructor is given its mistake by"),
        (_content(tie={"name": "x"}), "constructors: a: a constructor is given its mistake by"),
        (_content(tie={"sets": {}}), "constructors: a: unknown keys ['sets']"),
        (_content(tie={"row": "b"}), "b-Network-region: there is no row b"),
        (_content(constructors=[]), "component unused or unknown: ['Network']"),
        (_content(policies=[TIE | {"name": "x"}]), "policies: a: unknown keys ['name']"),
        (_content(constructer=[]), "refusals.yaml: unknown keys ['constructer']"),
    ],
)
def test_a_key_that_nothing_reads_is_refused(content: dict[str, Any], words: str) -> None:
    assert parse(_content()).constructors[0].of == "Network"
    with pytest.raises(ValueError, match=re.escape(words)):
        parse(content)


def test_an_id_stands_once() -> None:
    content = _content()
    content["rows"] *= 2
    with pytest.raises(ValueError, match="each id stands once"):
        parse(content)
