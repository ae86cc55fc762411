"""Our tables of flags say what the real provider's schema says."""

import json
from collections.abc import Iterator
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


def conflicts(fields: dict[str, Field], ours: dict[str, list[str]]) -> dict[str, list[str]]:
    """Our conflicts with the other properties as Terraform writes them."""

    def terraform(path: str) -> str:
        written, known = [], fields
        for part in path.split("."):
            written.append(known[part].tf)
            known = known[part].fields
        return ".0.".join(written)

    return {path: sorted(map(terraform, others)) for path, others in ours.items()}


def conflicts_of(theirs: dict[str, Any], path: str) -> Iterator[tuple[str, list[str]]]:
    for name, spec in theirs.items():
        if spec.get("conflictsWith"):
            yield f"{path}{name}", sorted(spec["conflictsWith"])
        yield from conflicts_of(spec.get("properties") or {}, f"{path}{name}.")
