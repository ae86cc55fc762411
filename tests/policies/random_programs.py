"""Programs of any shape: what fixtures and the provider's schema hold, put together anew."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

from pulumi_policy import Policy
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from sandbox.cloud.schema import Field
from sandbox.cloud.types import kinds
from tests.policies.helpers import cases

SECRET = "correct horse battery staple"
_STRINGS = (
    "us-central1",
    "us-central1-a",
    "US",
    "true",
    "spot",
    "train",
    "",
    "*",
    "86400s",
    "a/b/c",
)
_NUMBERS = (0, 1, 2, 30, 120, 604800, -1, 2.5, "3", float("nan"), float("inf"))
_ODD = (None, True, False, 7, -0.5, "", "odd", "[secret]", UNKNOWN_STRING_VALUE, SECRET, [], {})


@dataclass
class Shape:
    """What stands at one place in the fixtures: its scalars, the keys of mappings, and items."""

    scalars: list[Any] = field(default_factory=list)
    keys: dict[str, "Shape"] = field(default_factory=dict)
    items: "Shape | None" = None

    def learn(self, value: Any) -> None:
        if isinstance(value, Mapping):
            for key, each in value.items():
                self.keys.setdefault(str(key), Shape()).learn(each)
        elif isinstance(value, list):
            self.items = self.items or Shape()
            for each in value:
                self.items.learn(each)
        elif value not in self.scalars:
            self.scalars.append(value)


@cache
def shapes() -> dict[str, Shape]:
    """The shape of each type's properties in all fixtures; the provider's own under ""."""
    found: dict[str, Shape] = {"": Shape()}
    for case in cases():
        for given in case.resources.values():
            found.setdefault(given["type"], Shape()).learn(given.get("props") or {})
            found[""].learn((given.get("provider") or {}).get("props") or {})
    return found


def _names(shape: Shape) -> Iterator[str]:
    for key, inner in shape.keys.items():
        yield key
        yield from _names(inner)
    if shape.items:
        yield from _names(shape.items)


@cache
def _known_keys() -> frozenset[str]:
    """Keys that some rule reads, as its fixtures show."""
    return frozenset(name for shape in shapes().values() for name in _names(shape))


def _odd(rng: Random) -> Any:
    if rng.random() < 0.1:
        value: Any = rng.choice(_ODD)
        for level in range(rng.choice((3, 30, 150))):
            value = [value] if level % 3 == 0 else {rng.choice(("template", "spec")): value}
        return value
    return rng.choice(_ODD)


def _of_shape(shape: Shape, rng: Random) -> Any:
    if rng.random() < 0.04:
        return _odd(rng)
    if shape.keys and rng.random() < 0.95:
        return {key: _of_shape(each, rng) for key, each in shape.keys.items() if rng.random() < 0.8}
    if shape.items:
        return [_of_shape(shape.items, rng) for _ in range(rng.choice((1, 1, 2, 0)))]
    return rng.choice(shape.scalars) if shape.scalars else None


def _of_fields(fields: Mapping[str, Field], rng: Random) -> dict[str, Any]:
    chosen = [name for name in fields if rng.random() < (0.6 if name in _known_keys() else 0.04)]
    return {name: _of_field(fields[name], rng) for name in chosen}


def _of_field(spec: Field, rng: Random) -> Any:
    if rng.random() < 0.07:
        return _odd(rng)
    if spec.kind in ("block", "blocks"):
        block = _of_fields(spec.fields, rng)
        return block if spec.kind == "block" and rng.random() < 0.8 else [block] * rng.randrange(3)
    if spec.kind in ("list", "map"):
        values = [rng.choice(_STRINGS) for _ in range(rng.randrange(3))]
        return values if spec.kind == "list" else {f"k/{each}": each for each in values}
    if spec.kind == "bool":
        return rng.choice((True, True, False, "true"))
    return rng.choice(_STRINGS if spec.kind == "string" else _NUMBERS)


def _properties(type_: str, rng: Random) -> Any:
    if type_ in kinds() and rng.random() < 0.5:
        return _of_fields(kinds()[type_].schema.fields, rng)
    shape = shapes()[type_]
    return {key: _of_shape(inner, rng) for key, inner in shape.keys.items() if rng.random() < 0.8}


def program(rng: Random) -> dict[str, dict[str, Any]]:
    """Resources by name, as a fixture holds them."""
    names = ["a", "train", "kube-system", "default", *"bcdefgh"][: rng.randrange(1, 12)]
    types = sorted(type_ for type_ in shapes() if type_)
    resources: dict[str, dict[str, Any]] = {}
    for name in names:
        type_ = rng.choice(types)
        given: dict[str, Any] = {"type": type_, "props": _properties(type_, rng)}
        given["depends"] = {
            key: [other for other in names if rng.random() < 0.3] for key in given["props"]
        }
        # A parent may be the resource itself, or below it.
        given["parent"] = rng.choice([*names, "", "gone"])
        if rng.random() < 0.5:
            props = {key: _of_shape(inner, rng) for key, inner in shapes()[""].keys.items()}
            given["provider"] = {"name": rng.choice([*names, "default"]), "props": props}
        if rng.random() < 0.5:
            given["computed"] = {
                key: _odd(rng) for key in ("name", "nodeConfig", "nodePools", "id")
            }
        resources[name] = given
    return resources


def configured(policy: Policy, rng: Random) -> dict[str, Any]:
    """A configuration that the policy's schema allows."""
    schema = policy.config_schema.properties if policy.config_schema else {}
    values = {
        "array": lambda: [rng.choice(_STRINGS) for _ in range(rng.randrange(3))],
        "boolean": lambda: rng.random() < 0.5,
        "object": dict,
        "string": lambda: rng.choice(_STRINGS),
        "number": lambda: rng.randrange(1, 600),
        "integer": lambda: rng.randrange(1, 600),
    }
    return {
        key: values[spec["type"]]() if rng.random() < 0.3 else spec["default"]
        for key, spec in schema.items()
    }
