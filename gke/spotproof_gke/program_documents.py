"""What `pulumi preview` and `pulumi stack export` write, as rows of resources in one form.

The forms, as version 3.274 of the engine writes them: steps of `preview --json`, resource plans of
`preview --save-plan`, and the deployment of an export.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spotproof_gke.audit import documents
from spotproof_gke.audit.evidence import InputError, printable
from spotproof_gke.audit.state import rows
from spotproof_gke.rules.clusters import CLUSTER
from spotproof_gke.rules.reading import is_true, items, mapping, number, text

WRITERS = "`pulumi preview --json`, `pulumi preview --save-plan FILE` or `pulumi stack export`"
"""What writes the files that are read here, for messages."""

PREVIEW, PLAN, STATE = "preview", "plan", "state"

_GONE = ("delete", "delete-replaced", "discard", "discard-replaced", "remove-pending-replace")
_POOLS = "nodePools"


@dataclass(frozen=True)
class Document:
    """What a file says of a stack.

    Attributes:
        name: What the file is called in messages.
        kind: `PREVIEW`, `PLAN` or `STATE`.
        rows: The resources that are there, or will be after the update, in the form of a state.
        notes: What the file leaves out, each a sentence.
    """

    name: str
    kind: str
    rows: Sequence[Mapping[str, Any]]
    notes: Sequence[str] = ()


def read(path: str) -> Document:
    """The preview, plan or state in a file, `-` being standard input.

    Raises:
        InputError: The file cannot be read, or is neither.
    """
    name = documents.label(path)
    found = documents.documents(name, documents.read(path, WRITERS), WRITERS)
    if len(found) != 1:
        raise InputError(f"{name}: {len(found)} documents; expected one, what {WRITERS} prints")
    return document_of(name, found[0])


def document_of(name: str, content: Any) -> Document:
    """The preview, plan or state that plain data is.

    Raises:
        InputError: It is neither.
    """
    parts = mapping(content)
    if isinstance(parts.get("steps"), (list, tuple)):
        # A resource that is replaced comes several times; the last is what will be.
        last = {text(row.get("urn")): row for row in _of_steps(parts["steps"])}
        return Document(name, PREVIEW, list(last.values()), list(_unseen(parts)))
    planned = mapping(parts.get("plan")) or parts
    if isinstance(planned.get("resourcePlans"), Mapping):
        resource_plans = planned["resourcePlans"]
        stated = list(_of_plan(resource_plans))
        return Document(name, PLAN, stated, list(_unlisted(resource_plans)))
    if documents.is_state(content):
        return Document(name, STATE, [mapping(row) for row in rows(name, content)])
    raise InputError(f"{name}: neither a plan nor a state; expected what {WRITERS} prints")


def _of_steps(steps: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    for step in steps:
        if text(mapping(step).get("op")) not in _GONE:
            yield mapping(mapping(step).get("newState"))


def _unseen(preview: Mapping[str, Any]) -> Iterator[str]:
    said = [text(mapping(each).get("severity")) for each in items(preview.get("diagnostics"))]
    if "error" in said:
        yield "the preview ended with an error, so it may lack what comes after that"
    unchanged = number(mapping(preview.get("changeSummary")).get("same")) or 0
    shown = sum(text(mapping(step).get("op")) == "same" for step in preview["steps"])
    if unchanged > shown:
        yield (
            f"the preview leaves out {unchanged - shown:.0f} unchanged resources; "
            "make it with --show-sames"
        )


def _of_plan(planned: Mapping[Any, Any]) -> Iterator[Mapping[str, Any]]:
    for urn, row in planned.items():
        goal = mapping(mapping(row).get("goal"))
        steps = [text(step) for step in items(mapping(row).get("steps"))]
        if not goal or (steps and all(step in _GONE for step in steps)):
            continue
        difference = mapping(goal.get("inputDiff"))
        stated = {**mapping(difference.get("adds")), **mapping(difference.get("updates"))}
        computed = mapping(row).get("state")
        if "create" not in steps:
            # Only what differs is in the plan; the rest is in the state.
            known = {k: v for k, v in mapping(computed).items() if k != _POOLS}
            stated = {**known, **stated}
        yield {
            "urn": urn,
            "type": goal.get("type"),
            "custom": goal.get("custom"),
            "parent": goal.get("parent"),
            "provider": goal.get("provider"),
            "inputs": stated,
            "outputs": computed,
            "propertyDependencies": goal.get("propertyDependencies"),
        }


def _unlisted(planned: Mapping[Any, Any]) -> Iterator[str]:
    for row in planned.values():
        goal, known = mapping(mapping(row).get("goal")), mapping(mapping(row).get("state"))
        steps = items(mapping(row).get("steps"))
        if goal.get("type") != CLUSTER or "create" in steps or not items(known.get(_POOLS)):
            continue
        if not is_true(known.get("removeDefaultNodePool")):
            yield (
                f"pools that the cluster {printable(text(goal.get('name')))} lists itself are "
                "left out; use `pulumi preview --json --show-sames` or `pulumi stack export`"
            )
