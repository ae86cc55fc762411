"""Creates of the plan whose resources are in the cloud already, as the person says.

A provider that crashes while its engine lives leaves no pending operation: what it had created is
in the cloud, in nobody's state, and the next update meets "already exists".
"""

import json
from collections.abc import Sequence
from typing import Any

from sandbox.cloud.wire import UNKNOWN_TEXT
from sandbox.recovery.command import Pulumi
from spotproof_gke.stack_state.operations import Pending, Resource

_HIDDEN = "[secret]"
"""What the engine shows for a secret: written into the state it would be a value."""


class PlanError(Exception):
    """There is no plan, or it does not create what was named; the text says which."""


def planned_creates(pulumi: Pulumi, words: Sequence[str]) -> list[Pending]:
    """The creates of the plan that are meant, as if they had been interrupted.

    Args:
        words: URNs, or names in the program.

    Raises:
        PlanError: the plan fails, or a word fits no create or several.
    """
    if not words:
        return []
    answer = pulumi.ask("preview", "-s", pulumi.stack, "--json")
    if answer.code != 0:
        raise PlanError(
            f"the plan, which tells what is to be created, fails:\n{answer.text.strip()}"
        )
    steps = json.loads(answer.output).get("steps") or []
    creates = [
        Pending("creating", _without_hidden(step["newState"]))
        for step in steps
        if step["op"] == "create" and step.get("newState")
    ]
    return [_meant(word, [one for one in creates if one.makes_something]) for word in words]


def _meant(word: str, creates: Sequence[Pending]) -> Pending:
    found = [one for one in creates if word in (one.urn, one.name)]
    if len(found) == 1:
        return found[0]
    if found:
        urns = ", ".join(one.urn for one in found)
        raise PlanError(f"--adopt {word}: several are called so; give one as a URN: {urns}")
    there = ", ".join(one.urn for one in creates) or "nothing"
    raise PlanError(f"--adopt {word}: the plan does not create it. It creates: {there}")


def _without_hidden(resource: Resource) -> Resource:
    inputs = resource.get("inputs") or {}
    return {**resource, "inputs": {k: v for k, v in inputs.items() if not _is_hidden(v)}}


def _is_hidden(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_is_hidden, value.values()))
    if isinstance(value, list):
        return any(map(_is_hidden, value))
    return value in (_HIDDEN, UNKNOWN_TEXT)
