"""The program that a picture is drawn of."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from spotproof_gke.audit.evidence import Evidence, Source
from spotproof_gke.audit.state import add_state
from spotproof_gke.program_documents import STATE, Document
from spotproof_gke.rules.finding import STACK_TYPE, Resource, Stack
from spotproof_gke.rules.reading import UNKNOWN


@dataclass(frozen=True)
class Program:
    """What is known of a stack.

    Attributes:
        kind: `STATE`, or what else a document is.
        resources: The resources that are there, or will be after the update, in their order. Each
            has what its program states and what the cloud has filled in; `UNKNOWN` stands for
            secrets and for what a preview does not know.
        notes: What is not known of it, in sentences.
    """

    kind: str
    resources: Sequence[Resource]
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


def program_of(document: Document) -> Program:
    """The program that a document is about."""
    evidence = Evidence()
    content = {"deployment": {"resources": document.rows}}
    add_state(evidence, Source(document.name, document.kind), content)
    pairs = zip(evidence.declared, evidence.settled, strict=True)
    is_state = document.kind == STATE
    merged = [_merged(declared, settled, is_state) for declared, settled in pairs]
    return Program(document.kind, merged, document.notes)


def _merged(declared: Resource, settled: Resource, is_state: bool) -> Resource:
    # What the program holds secret stays so, whatever the cloud says.
    hidden = {key for key, value in declared.props.items() if value is UNKNOWN}
    given = settled.props.items()
    known = {key: value for key, value in given if value is not UNKNOWN and key not in hidden}
    props = {**settled.props, **declared.props, **known}
    if is_state:
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
