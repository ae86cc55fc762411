"""A program's resources out of a file: an exported state, or the plan of a preview.

The form of a plan: pulumi/pulumi pkg/backend/display/json.go (`previewDigest`, `previewStep`), read
on 2026-11-30; that of a state stands in `audit.state`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from spotproof_gke.audit import documents
from spotproof_gke.audit.evidence import Evidence, InputError, Source
from spotproof_gke.audit.state import add_state
from spotproof_gke.rules.finding import STACK_TYPE, Resource, Stack
from spotproof_gke.rules.reading import UNKNOWN, items, mapping, number, text

STATE, PLAN = "state", "plan"
EXPECTED = "expected what `pulumi stack export` or `pulumi preview --json` prints"
_GOING = ("delete", "delete-replaced", "discard", "discard-replaced", "remove-pending-replace")


@dataclass(frozen=True)
class Program:
    """What a file says of a stack.

    Attributes:
        name: What the file is called in messages.
        kind: `STATE` or `PLAN`.
        resources: The resources that are there, or will be after the update, in their order. Each
            has what its program states and what the cloud has filled in; `UNKNOWN` stands for
            secrets and for what a preview does not know.
        operations: Of a plan, what is done to each URN: `create`, `update`, `same` and so on.
        notes: What the file does not show, in sentences.
    """

    name: str
    kind: str
    resources: Sequence[Resource]
    operations: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def stack(self) -> Stack:
        """The resources by URN and by type."""
        return Stack(self.resources)

    @property
    def stack_name(self) -> str:
        """The stack's name, "" when no resource tells."""
        return _urn_part(self.resources, 2)

    @property
    def project_name(self) -> str:
        """The Pulumi project's name, "" when no resource tells."""
        return _urn_part(self.resources, 3)


def read_program(path: str) -> Program:
    """Read a state or a plan from a file, or from standard input for `-`.

    Raises:
        InputError: It cannot be read, or is neither.
    """
    name = documents.label(path)
    found = documents.documents(name, documents.read(path, EXPECTED), EXPECTED)
    if len(found) != 1:
        count = "nothing" if not found else f"{len(found)} documents"
        raise InputError(f"{name}: holds {count}; {EXPECTED}, of one stack")
    return program_of(name, found[0])


def program_of(name: str, document: Any) -> Program:
    """The program in a document.

    Raises:
        InputError: It is neither a state nor a plan.
    """
    if documents.is_state(document):
        return Program(name, STATE, _resources(name, document, is_plan=False))
    parts = mapping(document)
    if "resourcePlans" in parts:
        raise InputError(
            f"{name}: an update plan (`--save-plan`), which holds differences alone; "
            "give it what `pulumi preview --json` prints"
        )
    if "steps" not in parts or not isinstance(parts["steps"], (list, tuple)):
        raise InputError(f"{name}: neither a Pulumi state nor a plan; {EXPECTED}")
    return _plan(name, parts)


def _plan(name: str, parts: Mapping[str, Any]) -> Program:
    rows: dict[str, Any] = {}
    operations: dict[str, str] = {}
    for step in map(mapping, items(parts["steps"])):
        urn, operation = text(step.get("urn")), text(step.get("op"))
        if urn and operation not in _GOING:
            rows[urn] = mapping(step.get("newState")) or mapping(step.get("oldState"))
            operations[urn] = operation
    document = {"deployment": {"resources": list(rows.values())}}
    resources = _resources(name, document, is_plan=True)
    return Program(name, PLAN, resources, operations, _notes(parts, operations))


def _notes(parts: Mapping[str, Any], operations: Mapping[str, str]) -> list[str]:
    notes = []
    same = number(mapping(parts.get("changeSummary")).get("same")) or 0
    left_out = int(min(same, 10**9)) - list(operations.values()).count("same")
    if left_out > 0:
        notes.append(
            f"the plan leaves out {left_out} unchanged resource{'' if left_out == 1 else 's'}; "
            "`pulumi preview --json --show-sames` has all"
        )
    said = [text(mapping(each).get("severity")) for each in items(parts.get("diagnostics"))]
    if "error" in said:
        notes.append("the preview ended with an error, so the plan may lack what comes after it")
    return notes


def _resources(name: str, document: Any, *, is_plan: bool) -> list[Resource]:
    evidence = Evidence()
    add_state(evidence, Source(name, PLAN if is_plan else STATE), document)
    pairs = zip(evidence.declared, evidence.settled, strict=True)
    return [_merged(declared, settled, is_plan) for declared, settled in pairs]


def _merged(declared: Resource, settled: Resource, is_plan: bool) -> Resource:
    # What the program holds secret stays so, whatever the cloud says.
    hidden = {key for key, value in declared.props.items() if value is UNKNOWN}
    given = settled.props.items()
    known = {key: value for key, value in given if value is not UNKNOWN and key not in hidden}
    props = {**settled.props, **declared.props, **known}
    if not is_plan:
        return replace(settled, props=props)
    # As policies see a preview: what no property states is only still to be computed.
    fields = {each: getattr(settled, each) for each in settled.__dataclass_fields__}
    return Resource(**{**fields, "props": props})


def _urn_part(resources: Sequence[Resource], index: int) -> str:
    for resource in sorted(resources, key=lambda each: each.type != STACK_TYPE):
        parts = resource.urn.replace("::", ":").split(":")
        if len(parts) > index and parts[:2] == ["urn", "pulumi"]:
            return parts[index]
    return ""
