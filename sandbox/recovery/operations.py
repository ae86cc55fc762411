"""What a stack's exported state says of an update that was killed."""

from collections.abc import Mapping, Sequence
from typing import Any

from spotproof_gke.stack_state.operations import Pending, Resource

MARK = "make recover has not looked for this resource in the cloud yet"
"""In a resource's `initErrors`: its create was interrupted. A refresh that finds it clears this."""
INSTEAD_OF_THE_OLD = f"{MARK}; if it is there, the one that it replaces is to be deleted"
UNREFRESHED = "make recover has not refreshed this resource yet"
"""In `initErrors` as well: its update or delete was interrupted."""
_MARKS = (MARK, INSTEAD_OF_THE_OLD)


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
