"""Whatever a program sets, a second run of the same program wants no change.

Every property of every type is set in turn on a plain resource (tests/engine/refusals.yaml); what
the provider or the server refuses, it refuses, and what it accepts, it keeps.
"""

from copy import deepcopy
from typing import Any

import pytest

from sandbox.cloud.schema import Field
from sandbox.cloud.types import kinds
from sandbox.cloud.types.base import Kind
from sandbox.cloud.validate import found_wrong
from tests.cloud.harness import Emulated, Refused
from tests.cloud.test_refusals import ALWAYS_REFUSED, RESOURCES, SURROUNDINGS, laid_over

WORDS = ["10.0.0.0/28", "10.50.0.0/20", "03:00", "2026-01-03T12:00:00Z", "abc-name", "600s", "x"]
NUMBERS = [2, 1, 0, 100]
# The real provider wants the same change on every run (see provider.md): the default pool is gone,
# GKE adds to the metadata, the size stands in the initial one's place, an empty block is not kept.
ENDLESS = {
    "autopilot": ["nodeConfig"],
    "cluster": ["nodeConfig"],
    "pool": ["nodeConfig.metadata", "nodeCount"],
    "repository": ["dockerConfig"],
}


def scalar(kind: Kind, path: str, element: str) -> Any:
    if element == "bool":
        return True
    allowed = [word for word in kind.limits.allowed.get(path, ()) if word]
    validator = kind.checks.get(path)
    candidates = allowed or (WORDS if element == "string" else NUMBERS)
    for candidate in candidates:
        if validator is None or not list(found_wrong(validator, path, candidate)):
            return candidate
    return candidates[-1]


def some_value(kind: Kind, field: Field, path: str) -> Any:
    """A value that the provider could take, with what its blocks require."""
    if field.fields:
        inner = {
            name: some_value(kind, each, f"{path}.{name}")
            for name, each in field.fields.items()
            if each.required
        }
        return inner if field.kind == "block" else [inner]
    if field.kind in ("list", "map"):
        item = scalar(kind, path, field.element)
        return [item] if field.kind == "list" else {"a": str(item)}
    return scalar(kind, path, field.kind)


def with_value(kind: Kind, inputs: dict[str, Any], path: str) -> dict[str, Any]:
    """The inputs with a value at this path, and the blocks around it."""
    inputs = deepcopy(inputs)
    holder, fields, here = inputs, kind.schema.fields, ""
    *above, last = path.split(".")
    for name in above:
        field, here = fields[name], f"{here}.{name}".lstrip(".")
        block = holder.setdefault(name, some_value(kind, field, here))
        if isinstance(block, list):
            if not block:
                block += some_value(kind, field, here)
            block = block[0]
        holder, fields = block, field.fields
    holder[last] = some_value(kind, fields[last], path)
    return inputs


def paths_of(fields: dict[str, Field], prefix: str = "") -> list[str]:
    found = []
    for name, field in fields.items():
        if not field.output:
            found += [f"{prefix}{name}", *paths_of(field.fields, f"{prefix}{name}.")]
    return found


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Emulated:
    emulated = Emulated(tmp_path_factory.mktemp("cloud"))
    for number, (on, change) in enumerate(SURROUNDINGS):
        emulated.create(RESOURCES[on]["type"], f"base-{number}", laid_over(on, change))
    return emulated


@pytest.mark.parametrize("name", sorted(set(RESOURCES) - ALWAYS_REFUSED))
def test_a_second_run_wants_nothing_whatever_is_set(cloud: Emulated, name: str) -> None:
    token = RESOURCES[name]["type"]
    kind = kinds()[token]
    wanted: dict[str, str] = {}
    accepted = 0
    for path in paths_of(kind.schema.fields):
        # Pools within a cluster are pools, which are asked as such.
        if path.startswith(("nodePools", "nodeConfig.")) and token.endswith(":Cluster"):
            continue
        inputs = with_value(kind, laid_over(name, {}), path)
        try:
            recorded = cloud.create(token, name, inputs)
        except Refused:
            continue
        accepted += 1
        refreshed = cloud.refresh(recorded)
        assert refreshed is not None
        if refreshed.outputs != recorded.outputs:
            wanted[path] = "a refresh sees a change"
        for state in (recorded, refreshed):
            planned = cloud.plan(state, inputs)
            if planned.op != "same":
                wanted[path] = f"{planned.op} {planned.keys}"
        cloud.store.remove(token, recorded.id)
    assert sorted(wanted) == ENDLESS.get(name, []), wanted
    # What makes up an identity of a service agent is refused in all but one service.
    assert accepted > 0 or name == "service_identity"
