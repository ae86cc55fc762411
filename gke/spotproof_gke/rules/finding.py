"""What rules take and give: resources as plain data, and findings."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spotproof_gke.rules.reading import UNKNOWN, has_unknown, without_unknowns

STACK_TYPE = "pulumi:pulumi:Stack"

_PUBLIC = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/+=*-]{0,80}")


def shown(value: object) -> str:
    """`value` for a message, when it has the form of a name, a location or a number.

    A policy gets secrets as plain text and cannot tell them apart, so anything that does not look
    like an identifier is left out of messages.
    """
    if value is UNKNOWN:
        return "(unknown)"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value) if isinstance(value, (str, int, float)) else ""
    return text if _PUBLIC.fullmatch(text) else "(not shown)"


@dataclass(frozen=True)
class Finding:
    """One broken rule at one resource.

    Attributes:
        resource: Name of the resource in the program.
        value: What was found; safe to print.
        rule: What must hold, in one clause.
        fix: What to do, in one imperative clause.
        certain: False when an unknown value stands in the way.
        urn: The resource's URN, where there is one.
    """

    resource: str
    value: str
    rule: str
    fix: str
    certain: bool = True
    urn: str = ""

    def without_rule(self) -> str:
        """The finding for a reader who has just been shown the rule."""
        doubt = "" if self.certain else "cannot be known before the update: "
        return f"{doubt}{self.resource}: {self.value}. Fix: {self.fix}."

    def __str__(self) -> str:
        return f"{self.without_rule()} Rule: {self.rule}."


@dataclass(frozen=True)
class Mend:
    """A change of a resource's properties that certainly makes it keep a rule.

    Attributes:
        path: Keys of mappings that lead to a list or a value; what is missing is made.
        item: What is appended to the list; None for a value.
        value: What is put there, when nothing is appended.
    """

    path: tuple[str, ...]
    item: Mapping[str, Any] | None = None
    value: Any = None


@dataclass(frozen=True)
class Resource:
    """A resource of a program, as plain data.

    Attributes:
        type: Type token, for example `gcp:container/nodePool:NodePool`.
        name: Name in the program.
        urn: The resource's URN.
        props: Properties in camelCase; a value that the preview does not know is `UNKNOWN`.
        dependencies: For each property that the program states, the URNs that its value depends on.
            None when only inputs are seen: then every property is one that the program states.
        parent: URN of the parent, or "".
        provider: The provider's own properties.
        provider_urn: URN of the provider, or "".
    """

    type: str
    name: str
    urn: str = ""
    props: Mapping[str, Any] = field(default_factory=dict)
    dependencies: Mapping[str, Sequence[str]] | None = None
    parent: str = ""
    provider: Mapping[str, Any] = field(default_factory=dict)
    provider_urn: str = ""

    def get(self, key: str) -> Any:
        """The property `key`, or None.

        A preview also shows outputs that only the provider computes as unknown. These are not the
        program's doing, so they count as absent: a whole property that the program does not state,
        and unknown parts of one whose stated value depends on nothing.
        """
        value = self.props.get(key)
        if self.dependencies is None or not has_unknown(value):
            return value
        if key not in self.dependencies:
            return without_unknowns(value)
        if value is UNKNOWN or self.dependencies[key]:
            return value
        return without_unknowns(value)

    def depends_on(self, key: str) -> tuple[str, ...]:
        """The URNs that the value of the property `key` depends on."""
        return tuple((self.dependencies or {}).get(key, ()))

    def finding(self, value: str, rule: str, fix: str, certain: bool = True) -> Finding:
        """A finding at this resource."""
        return Finding(self.name, value, rule, fix, certain, self.urn)


class Stack:
    """All resources of a stack, by URN and by type."""

    def __init__(self, resources: Sequence[Resource]) -> None:
        self.resources: tuple[Resource, ...] = tuple(resources)
        self.by_urn: dict[str, Resource] = {
            resource.urn: resource for resource in self.resources if resource.urn
        }

    def of_type(self, *types: str) -> list[Resource]:
        """The resources of one of `types`, in the order of the stack."""
        return [resource for resource in self.resources if resource.type in types]

    def ancestors(self, resource: Resource) -> Iterator[str]:
        """URNs above `resource`, nearest first, without the stack itself."""
        seen = {resource.urn}
        urn = resource.parent
        while urn and urn not in seen:
            seen.add(urn)
            above = self.by_urn.get(urn)
            if f"::{STACK_TYPE}::" in urn or (above and above.type == STACK_TYPE):
                return
            yield urn
            urn = above.parent if above else ""
