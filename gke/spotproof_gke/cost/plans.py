"""Resources of a plan or a state: what `pulumi preview` and `pulumi stack export` write.

The forms, as version 3.274 of the engine writes them: steps of `preview --json`, resource plans of
`preview --save-plan`, and the deployment of an export.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from spotproof_gke.audit import documents
from spotproof_gke.audit.evidence import InputError, printable
from spotproof_gke.audit.state import properties, rows
from spotproof_gke.rules.clusters import CLUSTER
from spotproof_gke.rules.finding import Resource
from spotproof_gke.rules.reading import (
    UNKNOWN,
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
_COMPUTED = ("location", "name", "nodeConfig", "nodeLocations", "region", "storageClass", "zone")
# What the cloud computes that says something of the price. A cluster computes a list of all its
# pools too, which are resources of their own.
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
        return _plan(name, "preview", list(_of_steps(parts["steps"])), _unseen(parts))
    planned = mapping(parts.get("plan")) or parts
    if isinstance(planned.get("resourcePlans"), Mapping):
        stated = list(_of_plan(planned["resourcePlans"]))
        return _plan(name, "plan", stated, _unlisted(planned["resourcePlans"]))
    if documents.is_state(document):
        return _plan(name, "state", [mapping(row) for row in rows(name, document)])
    raise InputError(f"{name}: neither a plan nor a state; expected what {WRITERS} prints")


def _plan(name: str, kind: str, stated: list[Mapping[str, Any]], notes: Iterable[str] = ()) -> Plan:
    read_only = sum(is_true(row.get("external")) for row in stated)
    own = [row for row in stated if not is_true(row.get("external"))]
    more = [f"{read_only} resources that the program only reads are left out"] if read_only else []
    return Plan(name, kind, _resources(own), (*notes, *more))


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
            "inputs": stated,
            "outputs": computed,
            "propertyDependencies": goal.get("propertyDependencies"),
        }


_POOLS = "nodePools"


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


def _computed(outputs: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(without_unknowns({key: outputs.get(key, UNKNOWN) for key in _COMPUTED}))


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
        name=printable(urn.rpartition("::")[2]),
        urn=urn,
        # What is stated counts, known or not; of what the cloud computes, what is known.
        props={**_computed(outputs), **inputs},
        dependencies=dependencies,
        parent=text(row.get("parent")),
        provider=providers.get(given, {}),
        provider_urn=given,
    )
