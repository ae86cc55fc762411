"""The tables of values: they name what exists, and each is asked of every property it names."""

from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.cloud.combinations import refused
from sandbox.cloud.problems import Refusal
from sandbox.cloud.schema import Field
from sandbox.cloud.types import kinds
from sandbox.cloud.types.base import Kind
from sandbox.cloud.types.limits import VALUES, paths
from sandbox.cloud.validate import found_wrong

# A validator refuses one of these at least, by the type of its property.
WRONG: dict[str, list[Any]] = {
    "int": [-(10**12), 10**12],
    "float": [-1e12],
    "string": ["~ ~", "~" * 300],
    "map": [{"~": ""}],
}


def inputs_at(kind: Kind, path: str, value: Any) -> dict[str, Any]:
    """Inputs with this value at this path, and nothing else."""
    first, *rest = path.split(".")
    fields: dict[str, Field] = kind.schema.fields
    holder = inputs = {}
    for name in (first, *rest):
        field = fields[name]
        here: Any = {}
        if field.fields and name != path.rpartition(".")[2]:
            holder[name] = [here] if field.kind == "blocks" else here
        else:
            holder[name] = [value] if field.kind == "list" else value
        holder, fields = here, field.fields
    return inputs


def at(kind: Kind, path: str) -> str:
    """The place of the first value at this path."""
    fields, written = kind.schema.fields, []
    for name in path.split("."):
        field = fields[name]
        written.append(f"{name}[0]" if field.kind in ("blocks", "list") else name)
        fields = field.fields
    return ".".join(written)


def wrong_values(kind: Kind, path: str) -> Iterator[Any]:
    field = kind.schema.field_at(path)
    validator = kind.checks[path]
    for value in WRONG[field.element if field.kind == "list" else field.kind]:
        if list(found_wrong(validator, path, value)):
            yield value


def said_of(kind: Kind, path: str, value: Any) -> list[Refusal]:
    return [
        each
        for each in refused(kind, inputs_at(kind, path, value))
        if each.at == at(kind, path) and "one of `" not in each.reason
    ]


def cases() -> list[Any]:
    return [pytest.param(kind, id=token) for token, kind in sorted(kinds().items())]


@pytest.mark.parametrize("kind", cases())
def test_a_table_names_properties_of_the_sdk(kind: Kind) -> None:
    unknown = [path for path in paths(kind.table) if not given(kind, path)]
    assert unknown == []


def given(kind: Kind, path: str) -> bool:
    fields = kind.schema.fields
    *above, last = path.split(".")
    for name in above:
        if name not in fields:
            return False
        fields = fields[name].fields
    return last in fields and not fields[last].output


def test_every_table_belongs_to_a_type() -> None:
    included = {"node_config"}
    assert {path.stem for path in VALUES.glob("*.yaml")} <= {
        kind.table for kind in kinds().values()
    } | included


@pytest.mark.parametrize("kind", cases())
def test_a_value_that_the_provider_does_not_take_is_refused_at_its_place(kind: Kind) -> None:
    silent = []
    for path in kind.checks:
        values = list(wrong_values(kind, path))
        if not values or not all(said_of(kind, path, value) for value in values):
            silent.append(path)
    assert silent == []


@pytest.mark.parametrize("kind", cases())
def test_every_value_of_an_enumeration_is_taken(kind: Kind) -> None:
    refusals = [
        refusal
        for path, words in kind.limits.allowed.items()
        for word in words
        for refusal in said_of(kind, path, word)
    ]
    assert refusals == []


@pytest.mark.parametrize("kind", cases())
def test_a_list_takes_no_fewer_and_no_more_items_than_its_limits(kind: Kind) -> None:
    wrong = []
    for path, (low, high) in kind.limits.items.items():
        for count in {low - 1, low, high, high + 1} - {-1, float("inf")}:
            inputs = inputs_at(kind, path, None)
            holder = inputs
            for name in path.split(".")[:-1]:
                holder = holder[name][0] if isinstance(holder[name], list) else holder[name]
            holder[path.rpartition(".")[2]] = [{}] * int(count)
            said = any("list items" in each.reason for each in refused(kind, inputs))
            if said != (not low <= count <= high):
                wrong.append((path, count))
    assert wrong == []
