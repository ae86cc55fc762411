"""Our tables of flags say what the real provider's schema says."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.cloud.schema import Field
from sandbox.cloud.types import kinds

PATH = Path(__file__).resolve().parents[3] / "shared" / "data" / "gcp-provider-schema.json"
SCHEMA = json.loads(PATH.read_text())["resources"] if PATH.is_file() else {}
# Set up by automatic naming, which is Pulumi's own.
NAMED = {"name", "accountId"}


@pytest.mark.parametrize("token", sorted(kinds()))
def test_table_agrees_with_the_schema_of_the_provider(token: str) -> None:
    if token not in SCHEMA:
        return  # the schema does not come with the project
    kind = kinds()[token]
    assert not list(differences(kind.schema.fields, SCHEMA[token], ""))
    assert conflicts(kind.schema.fields, kind.schema.conflicts) == {
        path: others
        for path, others in conflicts_of(SCHEMA[token], "")
        if not path.startswith("nodePools.")
    }
    assert {
        tuple(sorted(map(written(kind.schema.fields), g))) for g in kind.schema.exactly_one_of
    } == {group for group in exactly_one_of(SCHEMA[token]) if not group[0].startswith("node_pool.")}
    assert {path: most for path, most in kind.limits.items.items() if own(path)} == {
        path: most for path, most in items_of(kind.schema.fields, SCHEMA[token], "") if own(path)
    }


def own(path: str) -> bool:
    """Whether the table of the cluster's own pools does not say it."""
    return not path.startswith("nodePools.")


def differences(ours: dict[str, Field], theirs: dict[str, Any], path: str) -> Iterator[str]:
    """Where a flag is otherwise; properties that one side lacks are the SDK's newer ones."""
    for name, spec in theirs.items():
        field = ours.get(name)
        if field is None:
            continue
        here = f"{path}{name}"
        given = spec.get("optional") or spec.get("required")
        wanted = {
            "computed": bool(spec.get("computed") and given),
            "output": not given,
            "replaces": bool(spec.get("forcesReplacement")),
            "required": bool(spec.get("required")) and here not in NAMED,
            "default": spec.get("default"),
            "set": spec["type"] == "set",
        }
        for flag, value in wanted.items():
            if getattr(field, flag) != value:
                yield f"{here}: {flag} is {getattr(field, flag)!r} and should be {value!r}"
        if field.fields:
            yield from differences(field.fields, spec.get("properties") or {}, f"{here}.")


def written(fields: dict[str, Field]) -> Callable[[str], str]:
    """How Terraform writes the paths of these fields."""

    def terraform(path: str) -> str:
        parts, known = [], fields
        for part in path.split("."):
            parts.append(known[part].tf)
            known = known[part].fields
        return ".0.".join(parts)

    return terraform


def conflicts(fields: dict[str, Field], ours: dict[str, list[str]]) -> dict[str, list[str]]:
    """Our conflicts with the other properties as Terraform writes them."""
    terraform = written(fields)
    return {path: sorted(map(terraform, others)) for path, others in ours.items()}


def conflicts_of(theirs: dict[str, Any], path: str) -> Iterator[tuple[str, list[str]]]:
    for name, spec in theirs.items():
        if spec.get("conflictsWith"):
            yield f"{path}{name}", sorted(spec["conflictsWith"])
        yield from conflicts_of(spec.get("properties") or {}, f"{path}{name}.")


def exactly_one_of(theirs: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for spec in theirs.values():
        if spec.get("exactlyOneOf"):
            yield tuple(sorted(spec["exactlyOneOf"]))
        yield from exactly_one_of(spec.get("properties") or {})


def items_of(
    ours: dict[str, Field], theirs: dict[str, Any], path: str
) -> Iterator[tuple[str, tuple[float, float]]]:
    """How few and how many items the lists that programs give may have."""
    for name, spec in theirs.items():
        field = ours.get(name)
        if field is None or field.output:
            continue
        limits = (spec.get("minItems") or 0, spec.get("maxItems") or float("inf"))
        if field.kind in ("blocks", "list") and limits != (0, float("inf")):
            yield f"{path}{name}", limits
        yield from items_of(field.fields, spec.get("properties") or {}, f"{path}{name}.")
