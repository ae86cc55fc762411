"""Resources of a plan or a state, as far as they say something of a price."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spotproof_gke import program_documents
from spotproof_gke.audit.evidence import printable
from spotproof_gke.audit.state import properties
from spotproof_gke.program_documents import Document
from spotproof_gke.rules.finding import Resource
from spotproof_gke.rules.reading import (
    UNKNOWN,
    is_true,
    items,
    mapping,
    text,
    without_unknowns,
)

_PROVIDER = "pulumi:providers:"
_COMPUTED = ("location", "name", "nodeConfig", "nodeLocations", "region", "storageClass", "zone")
# What the cloud computes that says something of the price. A cluster computes a list of all its
# pools too, which are resources of their own.


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
    return _plan(program_documents.read(path))


def plan_of(name: str, document: Any) -> Plan:
    """The plan or state that a document is.

    Raises:
        InputError: It is neither.
    """
    return _plan(program_documents.document_of(name, document))


def _plan(found: Document) -> Plan:
    read_only = sum(is_true(row.get("external")) for row in found.rows)
    own = [row for row in found.rows if not is_true(row.get("external"))]
    more = [f"{read_only} resources that the program only reads are left out"] if read_only else []
    return Plan(found.name, found.kind, _resources(own), (*found.notes, *more))


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
