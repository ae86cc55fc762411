"""Resources of a plan or a state: what `pulumi preview` and `pulumi stack export` write.

The forms, as version 3.274 of the engine writes them: steps of `preview --json`, resource plans of
`preview --save-plan`, and the deployment of an export.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from spotproof_gke.audit import documents
from spotproof_gke.audit.evidence import InputError
from spotproof_gke.audit.state import properties, rows
from spotproof_gke.rules.finding import Resource
from spotproof_gke.rules.reading import (
    is_true,
    items,
    mapping,
    number,
    text,
    without_unknowns,
)

WRITERS = "`pulumi preview --json`, `pulumi preview --save-plan FILE` or `pulumi stack export`"
"""What writes the files that are read here, for messages."""

_PROVIDER = "pulumi:providers:"
_GONE = ("delete", "delete-replaced", "discard", "discard-replaced", "remove-pending-replace")


@dataclass(frozen=True)
class Plan:
    """What was read.

    Attributes:
        name: What it is called in the report.
        kind: `preview`, `plan` or `state`.
        resources: Its resources, without components and providers.
        notes: What it leaves out, each a sentence.
    """

    name: str
    kind: str
    resources: tuple[Resource, ...]
    notes: tuple[str, ...] = field(default=())


def read(path: str) -> Plan:
    """The plan or state in a file, `-` being standard input.

    Raises:
        InputError: The file cannot be read, or is neither.
    """
    name = documents.label(path)
    found = documents.documents(name, documents.read(path, WRITERS), WRITERS)
    if len(found) != 1:
        raise InputError(f"{name}: {len(found)} documents; expected one, what {WRITERS} prints")
    return plan_of(name, found[0])


def plan_of(name: str, document: Any) -> Plan:
    """The plan or state that a document is.

    Raises:
        InputError: It is neither.
    """
    parts = mapping(document)
    if isinstance(parts.get("steps"), (list, tuple)):
        stated = list(_of_steps(parts["steps"]))
        return Plan(name, "preview", _resources(stated), tuple(_unseen(parts)))
    planned = mapping(parts.get("plan")) or parts
    if isinstance(planned.get("resourcePlans"), Mapping):
        return Plan(name, "plan", _resources(list(_of_plan(planned["resourcePlans"]))))
    if documents.is_state(document):
        return Plan(name, "state", _resources([mapping(row) for row in rows(name, document)]))
    raise InputError(f"{name}: neither a plan nor a state; expected what {WRITERS} prints")


def _of_steps(steps: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    for step in steps:
        if text(mapping(step).get("op")) not in _GONE:
            yield mapping(mapping(step).get("newState"))


def _unseen(preview: Mapping[str, Any]) -> Iterator[str]:
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
        yield {
            "urn": urn,
            "type": goal.get("type"),
            "custom": goal.get("custom"),
            "parent": goal.get("parent"),
            "inputs": stated,
            "outputs": mapping(row).get("state"),
            "propertyDependencies": goal.get("propertyDependencies"),
        }


class _Stated(Resource):
    """A resource whose properties have been put together already."""

    def get(self, key: str) -> Any:
        return self.props.get(key)


def _resources(stated: list[Mapping[str, Any]]) -> tuple[Resource, ...]:
    providers = {
        text(row.get("urn")): properties(row, "inputs") or properties(row, "outputs")
        for row in stated
        if text(row.get("type")).startswith(_PROVIDER)
    }
    by_urn: dict[str, Resource] = {}
    for row in stated:
        urn, type_ = text(row.get("urn")), text(row.get("type"))
        leaving = is_true(row.get("delete")) or is_true(row.get("pendingReplacement"))
        if not urn or not type_ or leaving or row.get("custom") is False:
            continue
        if not type_.startswith("pulumi:"):
            # A resource that is replaced comes several times; the last is what will be.
            by_urn[urn] = _resource(row, urn, type_, providers)
    return tuple(by_urn.values())


def _resource(
    row: Mapping[str, Any], urn: str, type_: str, providers: Mapping[str, Mapping[str, Any]]
) -> Resource:
    dependencies = {
        text(key): tuple(text(each) for each in items(urns))
        for key, urns in mapping(row.get("propertyDependencies")).items()
    }
    inputs, outputs = properties(row, "inputs"), properties(row, "outputs")
    given = text(row.get("provider")).rpartition("::")[0]
    return _Stated(
        type=type_,
        name=urn.rpartition("::")[2],
        urn=urn,
        # What is stated counts, known or not; of what the cloud computes, what is known.
        props={**mapping(without_unknowns(outputs)), **inputs},
        dependencies=dependencies,
        parent=text(row.get("parent")),
        provider=providers.get(given, {}),
        provider_urn=given,
    )
