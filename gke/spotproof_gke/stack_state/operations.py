"""The operations that an engine had begun when it died, as a stack's exported state notes them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Resource = dict[str, Any]
"""A resource as a state has it."""


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
        return self.urn.split("::", 3)[-1]

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


def unreached(deployment: Mapping[str, Any]) -> list[Resource]:
    """Resources that are there and did not come up: with errors of their start (`initErrors`)."""
    return [one for one in deployment.get("resources") or [] if one.get("initErrors")]


def left_over(deployment: Mapping[str, Any]) -> list[Resource]:
    """Resources that an interrupted replacement has left to be deleted, or to be made anew."""
    return [
        one
        for one in deployment.get("resources") or []
        if one.get("delete") or one.get("pendingReplacement")
    ]


def protected(deployment: Mapping[str, Any]) -> list[Resource]:
    """Resources that the engine refuses to delete."""
    return [one for one in deployment.get("resources") or [] if one.get("protect")]
