"""What a plan holds, apart from who declared it: to show that two programs ask for the same."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

DEFAULTS = "__defaults"
OPTIONS = ("protect", "ignoreChanges", "customTimeouts", "deleteBeforeReplace", "retainOnDelete")
PROVIDER_TYPES = ("gcp:", "kubernetes:")

Resource = Mapping[str, Any]
Key = tuple[str, str]
"""Type and name of a resource."""


def key_of(urn: str) -> Key:
    """Type and name, without the components that the resource is in."""
    _, _, types, name = urn.split("::", 3)
    return types.rpartition("$")[2], name


def provider_resources(resources: Iterable[Resource]) -> dict[Key, Resource]:
    """The resources that a provider makes, in the order of the plan."""
    return {key_of(one["urn"]): one for one in resources if one["type"].startswith(PROVIDER_TYPES)}


def differences(one: Sequence[Resource], other: Sequence[Resource]) -> list[str]:
    """How two plans differ in what providers are asked for; empty when they do not.

    The same resources with the same inputs and options, each after the same others. Values that
    the provider fills in are the provider's affair, such as an automatic name.
    """
    first, second = _essence(one), _essence(other)
    found = [f"{_shown(key)} is in one plan only" for key in sorted(first.keys() ^ second.keys())]
    for key in first.keys() & second.keys():
        mine, theirs = first[key], second[key]
        found += [
            f"{_shown(key)}, {part}: {mine[part]!r} and {theirs[part]!r}"
            for part in mine
            if mine[part] != theirs[part]
        ]
    return found


def _essence(resources: Sequence[Resource]) -> dict[Key, dict[str, Any]]:
    before = predecessors(resources)
    return {
        key: {
            **{option: one.get(option) or None for option in OPTIONS},
            "inputs": stated(one["inputs"]),
            "after": sorted(before[key]),
        }
        for key, one in provider_resources(resources).items()
    }


def stated(inputs: Any) -> Any:
    """The inputs that a program states, without those that the provider has filled in."""
    if isinstance(inputs, dict):
        filled = inputs.get(DEFAULTS) or ()
        return {
            name: stated(value)
            for name, value in inputs.items()
            if name != DEFAULTS and name not in filled
        }
    return [stated(item) for item in inputs] if isinstance(inputs, list) else inputs


def predecessors(resources: Sequence[Resource]) -> dict[Key, set[Key]]:
    """For each resource of a provider all others that must be there before it."""
    by_urn = {one["urn"]: one for one in resources}
    known: dict[str, set[str]] = {}

    def before(urn: str) -> set[str]:
        if urn not in known:
            known[urn] = set()
            for needed in set(_named(by_urn[urn])) & by_urn.keys():
                known[urn] |= {needed, *before(needed)}
        return known[urn]

    return {
        key: {key_of(urn) for urn in before(one["urn"])} & provider_resources(resources).keys()
        for key, one in provider_resources(resources).items()
    }


def _named(resource: Resource) -> Iterator[str]:
    # A child is registered after its component, and that after what it depends on.
    if resource.get("parent"):
        yield resource["parent"]
    yield from resource.get("dependencies") or ()
    for urns in (resource.get("propertyDependencies") or {}).values():
        yield from urns or ()


def _shown(key: Key) -> str:
    return f"{key[0]} {key[1]}"
