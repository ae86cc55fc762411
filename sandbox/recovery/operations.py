"""What a stack's exported state says of an update that was killed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.cloud.naming import urn_parts

Resource = dict[str, Any]
MARK = "make recover has not looked for this resource in the cloud yet"
"""In a resource's `initErrors`: its create was interrupted. A refresh that finds it clears this."""
INSTEAD_OF_THE_OLD = f"{MARK}; if it is there, the one that it replaces is to be deleted"
UNREFRESHED = "make recover has not refreshed this resource yet"
"""In `initErrors` as well: its update or delete was interrupted."""
_MARKS = (MARK, INSTEAD_OF_THE_OLD)


@dataclass(frozen=True)
class Pending:
    """An operation that an engine had begun when it died.

    Attributes:
        kind: `creating`, `updating`, `deleting`, `reading` or `importing`.
        resource: the resource as the engine meant to have it.
    """

    kind: str
    resource: Resource

    @property
    def urn(self) -> str:
        return self.resource["urn"]

    @property
    def name(self) -> str:
        """The name in the program."""
        return urn_parts(self.urn)[1]

    @property
    def makes_something(self) -> bool:
        """Whether it may have left something in a cloud: components and providers do not."""
        is_provider = self.resource["type"].startswith("pulumi:")
        return self.kind == "creating" and bool(self.resource.get("custom")) and not is_provider

    def describe(self) -> str:
        identifier = self.resource.get("id")
        shown = f", {identifier}" if identifier else ""
        return f"{self.kind} {self.resource['type']} {self.name!r}{shown}\n    {self.urn}"


def pending_operations(deployment: Mapping[str, Any]) -> list[Pending]:
    """The operations of which the engine does not know how they ended."""
    return [
        Pending(one["type"], one["resource"]) for one in deployment.get("pending_operations") or []
    ]


def resources(deployment: Mapping[str, Any]) -> list[Resource]:
    return deployment.get("resources") or []


def unfinished(deployment: Mapping[str, Any]) -> list[Resource]:
    """Resources that an earlier recovery has marked and not refreshed."""
    return [one for one in resources(deployment) if marks(one)]


def marked_creates(deployment: Mapping[str, Any]) -> list[Pending]:
    """The interrupted creates that an earlier recovery took into the state, as they were."""
    return [
        Pending("creating", {**one, "initErrors": []})
        for one in resources(deployment)
        if is_marked_create(one)
    ]


def is_marked_create(resource: Resource) -> bool:
    return bool(marks(resource) & set(_MARKS))


def marks(resource: Resource) -> set[str]:
    """The recovery's own notes on a resource."""
    return {*_MARKS, UNREFRESHED}.intersection(resource.get("initErrors") or [])


def provider_of(resource: Resource, there: Sequence[Resource]) -> Resource | None:
    """The provider of a resource: the very one, or the one that has taken its place."""
    urn, _, identifier = str(resource.get("provider", "")).rpartition("::")
    same = [one for one in there if one["urn"] == urn]
    exact = [one for one in same if one.get("id") == identifier]
    return (exact or same or [None])[0]
