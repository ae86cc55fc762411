"""Changes of an exported state. All here works on the given state, and returns a new one.

An interrupted create becomes a resource of the state, with the id that it would have and a mark.
The refresh that follows finds it in the cloud and clears the mark, or forgets it.
"""

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from sandbox.cloud.naming import DEFAULTS
from sandbox.recovery.operations import (
    INSTEAD_OF_THE_OLD,
    MARK,
    UNREFRESHED,
    is_marked_create,
    provider_of,
    resources,
)
from spotproof_gke.stack_state.operations import Pending, Resource, pending_operations

Deployment = dict[str, Any]


def adopted(deployment: Mapping[str, Any], found: Iterable[tuple[Pending, str]]) -> Deployment:
    """The state with interrupted creates as resources that the next refresh looks for.

    What the state has under the same URN decides what the new resource is:

    - nothing, or only what waits for its deletion: the resource of this URN;
    - one that was deleted to be created anew: the same, and that one goes, for it is gone;
    - one of the same id: nothing, since that is the one that was there before;
    - one with another made-up name: the new one waits for its deletion, since which of the two
      came first cannot be told, and a next update makes whatever is missing;
    - one with another name of its own: the one that is replaced; `replaced` swaps them later.

    All pending operations are left out, since the engine drops them when it takes the state; what
    was being updated or deleted is marked, so that the refresh is not forgotten. Creates that an
    earlier recovery has taken in, and that are not among `found`, are left out too.
    """
    state = copy.deepcopy(dict(deployment))
    state["resources"] = [one for one in resources(state) if not is_marked_create(one)]
    interrupted = {one.urn for one in pending_operations(state) if one.kind != "creating"}
    state.pop("pending_operations", None)
    for one in state["resources"]:
        is_read = one.get("custom") and not one["type"].startswith("pulumi:")
        if one["urn"] in interrupted and is_read and not one.get("pendingReplacement"):
            one["initErrors"] = [*(one.get("initErrors") or []), UNREFRESHED]
    for pending, identifier in found:
        _adopt(state["resources"], pending, identifier)
    return state


def _adopt(there: list[Resource], pending: Pending, identifier: str) -> None:
    same = [one for one in there if one["urn"] == pending.urn]
    if any(one.get("id") == identifier and not one.get("pendingReplacement") for one in same):
        return
    new = _as_resource(pending, identifier, there)
    live = next((one for one in same if not one.get("delete")), None)
    if live is None:
        there.insert(_first_place(new, there), new)
    elif live.get("pendingReplacement"):
        there[there.index(live)] = new
    else:
        new["delete"] = True
        if not _is_another_attempt(new, live):
            new["initErrors"] = [INSTEAD_OF_THE_OLD]
        there.append(new)


def replaced(deployment: Mapping[str, Any], successors: Iterable[tuple[str, str]]) -> Deployment:
    """The state in which new resources (URN, id) stand in for those that they replace."""
    state = copy.deepcopy(dict(deployment))
    there = resources(state)
    for urn, identifier in successors:
        new = next((one for one in there if (one["urn"], one.get("id")) == (urn, identifier)), None)
        old = next((one for one in there if one["urn"] == urn and not one.get("delete")), None)
        if new is None:
            continue
        new.pop("delete", None)
        if old is None:
            continue
        there.remove(new)
        at = there.index(old)
        there.remove(old)
        there.insert(max(at, _first_place(new, there, earliest=True)), new)
        old["delete"] = True
        there.append(old)
    return state


def successors(deployment: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The resources (URN, id) that are to stand in for others, if they are in the cloud."""
    return [
        (one["urn"], one["id"])
        for one in resources(deployment)
        if INSTEAD_OF_THE_OLD in (one.get("initErrors") or [])
    ]


def _as_resource(pending: Pending, identifier: str, there: list[Resource]) -> Resource:
    new = copy.deepcopy(pending.resource)
    inputs = new.get("inputs") or {}
    new.pop("delete", None)
    new["id"] = identifier
    # Without outputs the provider of Google Cloud would import, which fails where nothing is.
    is_google = new["type"].startswith("gcp:")
    new["outputs"] = {k: v for k, v in inputs.items() if is_google and k != DEFAULTS}
    new["initErrors"] = [MARK]
    if (provider := provider_of(new, there)) is not None:
        new["provider"] = f"{provider['urn']}::{provider['id']}"
    known = {one["urn"] for one in there}
    new["dependencies"] = [urn for urn in new.get("dependencies") or [] if urn in known]
    new["propertyDependencies"] = {
        name: [urn for urn in urns or [] if urn in known]
        for name, urns in (new.get("propertyDependencies") or {}).items()
    }
    return new


def _first_place(new: Resource, there: list[Resource], earliest: bool = False) -> int:
    """Behind all that it needs, and before what waits for its deletion."""
    needed = {new.get("parent"), str(new.get("provider", "")).rpartition("::")[0]}
    needed.update(new.get("dependencies") or [], [new.get("deletedWith")])
    for urns in (new.get("propertyDependencies") or {}).values():
        needed.update(urns or [])
    first = {one["urn"]: i for i, one in reversed(list(enumerate(there)))}
    behind = max((first[urn] + 1 for urn in needed if urn in first), default=0)
    if earliest:
        return behind
    living = max((i + 1 for i, one in enumerate(there) if not one.get("delete")), default=0)
    return max(behind, living)


def _is_another_attempt(new: Resource, live: Resource) -> bool:
    """Whether the two have names made up for them: a third can be made beside them at any time."""
    made_up = set(_made_up(new)) & set(_made_up(live))
    mine, theirs = new.get("inputs") or {}, live.get("inputs") or {}
    return any(mine.get(name) != theirs.get(name) for name in made_up)


def _made_up(resource: Resource) -> list[str]:
    return (resource.get("inputs") or {}).get(DEFAULTS) or []
