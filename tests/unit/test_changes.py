"""What a change of each argument does to what is there: `tools/changes.yaml`, tried out."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

import spotproof
from spotproof.package import COMPONENTS
from tests.cloud.harness import Refused
from tests.unit.change_examples import EXAMPLES, PROJECT
from tests.unit.emulated_program import (
    CREATE,
    DELETE,
    REMAKE,
    REPLACE,
    SAME,
    UPDATE,
    EmulatedProgram,
)

TABLE: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(
    (Path(__file__).parents[2] / "tools" / "changes.yaml").read_text(encoding="utf-8")
)
WORDS = {
    CREATE: "adds",
    UPDATE: "updates",
    REPLACE: "replaces",
    REMAKE: "remakes",
    DELETE: "removes",
}
ROWS = [(component, argument) for component, rows in TABLE.items() for argument in rows]
POOLS = ("SpotGpuPool", "FlexStartPool", "GpuPool", "CpuPool", "SystemNodePool")
CLUSTERS = ("GkeCluster", "AutopilotCluster")


@pytest.fixture
def folder(furnished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(furnished, tmp_path / "cloud"))


def _program(folder: Path, component: str) -> EmulatedProgram:
    return EmulatedProgram(folder, getattr(spotproof, component), PROJECT)


def _example(component: str, argument: str) -> tuple[dict[str, Any], dict[str, Any]]:
    base, changes = EXAMPLES[component]
    change = changes[argument]
    before, after = change if isinstance(change, tuple) else ({}, change)
    return {**base, **before}, {**base, **before, **after}


def _said(row: dict[str, Any]) -> dict[str, list[str]]:
    return {word: row[word] for word in WORDS.values() if word in row}


def test_every_argument_of_every_component_has_its_row() -> None:
    for component in COMPONENTS:
        arguments = set(component.__init__.__annotations__["args"].__annotations__)
        assert set(TABLE.get(component.__name__, {})) == arguments, component.__name__
        assert set(EXAMPLES[component.__name__][1]) == arguments, component.__name__
    assert set(TABLE) == {component.__name__ for component in COMPONENTS}


def test_every_row_says_what_happens_and_nothing_else() -> None:
    for component, argument in ROWS:
        row = TABLE[component][argument]
        assert set(row) <= {*WORDS.values(), "nothing", "note"}
        assert bool(_said(row)) != bool(row.get("nothing")), f"{component}.{argument}"


@pytest.mark.parametrize(("component", "argument"), ROWS)
def test_a_change_does_what_the_table_says(folder: Path, component: str, argument: str) -> None:
    before, after = _example(component, argument)
    assert before.get(argument) != after.get(argument), "the example changes something else"
    program = _program(folder, component)
    program.up(before)
    seen: dict[str, set[str]] = {}
    for (token, _), op in program.up(after).items():
        if op != SAME:
            seen.setdefault(WORDS[op], set()).add(token.rpartition(":")[2])
    assert {word: sorted(kinds) for word, kinds in seen.items()} == _said(
        TABLE[component][argument]
    )
    assert set(program.up(after).values()) == {SAME}, "a second run changes something again"


@pytest.mark.parametrize("component", POOLS)
def test_a_pool_is_replaced_by_one_that_stands_before_the_old_one_goes(component: str) -> None:
    words = {word for row in TABLE[component].values() for word in _said(row)}
    assert words == {"updates", "replaces"}


@pytest.mark.parametrize("component", CLUSTERS)
def test_a_protected_cluster_refuses_to_be_made_anew(folder: Path, component: str) -> None:
    program = _program(folder, component)
    base, _ = EXAMPLES[component]
    program.up({**base, "deletion_protection": True})
    (cluster,) = (one for (token, _), one in program.state.items() if token.endswith(":Cluster"))
    with pytest.raises(Refused, match="deletion_protection"):
        program.cloud.delete(cluster)
