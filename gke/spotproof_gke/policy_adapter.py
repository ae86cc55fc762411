"""Turns rules into Pulumi policies: the one place where what the engine hands over is read.

It stands in this package, and not beside the packs, so that a pack folder installs alone: the pack
asks for `spotproof-gke[policy]` and nothing else. No other module here imports it, so that
`spotproof-gke` itself needs no Pulumi.

What the engine hands over has traps that stop here. Reading an unknown value raises and would turn
a mandatory policy into a remark; here it becomes `UNKNOWN`, and what a rule cannot decide for it is
reported by a policy of its own, `<rule>-unknown`. Maps and lists are proxies; here they become
plain data.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyConfigSchema,
    PolicyResource,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import (
    UNKNOWN_ARCHIVE_VALUE,
    UNKNOWN_ARRAY_VALUE,
    UNKNOWN_ASSET_VALUE,
    UNKNOWN_BOOLEAN_VALUE,
    UNKNOWN_NUMBER_VALUE,
    UNKNOWN_OBJECT_VALUE,
    UNKNOWN_STRING_VALUE,
    UnknownValueError,
)
from pulumi_policy.secret import _ListSecretsProxy

from spotproof_gke.rules.finding import Finding, Mend, Resource, Stack, shown
from spotproof_gke.rules.reading import UNKNOWN

_DOCS = "https://github.com/spotproof/spotproof/blob/main/docs/policies"
_REDACTED = "[secret]"
_DEEPEST = 100
_UNREADABLE = {
    _REDACTED,
    # A remediation gets these as they are, where reading raises for the other policies.
    UNKNOWN_ARCHIVE_VALUE,
    UNKNOWN_ARRAY_VALUE,
    UNKNOWN_ASSET_VALUE,
    UNKNOWN_BOOLEAN_VALUE,
    UNKNOWN_NUMBER_VALUE,
    UNKNOWN_OBJECT_VALUE,
    UNKNOWN_STRING_VALUE,
}

Config = Mapping[str, Any]


@dataclass(frozen=True)
class Rule:
    """A rule with what its policies say about themselves.

    Attributes:
        name: Name of the policy, the docs page and the fixtures folder.
        display_name: A short title.
        description: What must hold, and why, in a sentence or two.
        remediation: What to do about a violation.
        severity: How bad a violation is.
        types: Beginnings of the resource types whose properties the rule reads.
        check_resource: Findings for one resource and the configuration, when one is enough.
        check_stack: Findings for all resources together and the configuration.
        mandatory: Whether a violation fails the run.
        config: JSON schema of each configuration property.
        tags: Words to find the policy by.
        mend: What certainly repairs one resource, or None. Applied at the level `remediate` only.
    """

    name: str
    display_name: str
    description: str
    remediation: str
    severity: Severity
    types: tuple[str, ...]
    check_resource: Callable[[Resource, Config], Iterable[Finding]] | None = None
    check_stack: Callable[[Stack, Config], Iterable[Finding]] | None = None
    mandatory: bool = True
    config: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    mend: Callable[[Resource, Config], Mend | None] | None = None


def policies_of(rules: Iterable[Rule]) -> list[Policy]:
    """The policies of a pack.

    A mandatory rule makes two, because the level belongs to a policy: `<rule>` for what is certain,
    and the advisory `<rule>-unknown` for what cannot be known before the update. An advisory rule
    makes one for both.
    """
    return [policy for rule in rules for policy in _policies_of(rule)]


def strings(config: Config, key: str, default: Sequence[str] = ()) -> tuple[str, ...]:
    """The configuration property `key` as strings; `default` when it is not set."""
    value = config.get(key)
    if not isinstance(value, (list, tuple)):
        return tuple(default)
    return tuple(each for each in value if isinstance(each, str))


def _policies_of(rule: Rule) -> Iterator[Policy]:
    if not rule.mandatory:
        yield _policy(rule, rule.name, rule.description, EnforcementLevel.ADVISORY, (True, False))
        return
    yield _policy(rule, rule.name, rule.description, EnforcementLevel.MANDATORY, (True,))
    unknown = f"What {rule.name} could not decide, because a value is unknown before the update."
    yield _policy(rule, f"{rule.name}-unknown", unknown, EnforcementLevel.ADVISORY, (False,))


def _policy(
    rule: Rule,
    name: str,
    description: str,
    level: EnforcementLevel,
    certainties: tuple[bool, ...],
) -> Policy:
    told = False

    def tell_slip(config: Config, to: ReportViolation) -> None:
        nonlocal told
        if not told and (slip := _slip(rule, config)):
            told = True
            to(slip, None)

    def report(findings: Iterable[Finding], to: ReportViolation) -> None:
        for finding in findings:
            if finding.certain in certainties:
                # The engine prints the policy's description, which is the rule, above the message.
                to(finding.without_rule(), finding.urn or None)

    def validate_resource(args: ResourceValidationArgs, to: ReportViolation) -> None:
        tell_slip(args.get_config(), to)
        if rule.check_resource and args.resource_type.startswith(rule.types):
            report(rule.check_resource(resource_from(args), args.get_config()), to)

    def validate_stack(args: StackValidationArgs, to: ReportViolation) -> None:
        tell_slip(args.get_config(), to)
        if rule.check_stack:
            report(rule.check_stack(stack_from(args, rule.types), args.get_config()), to)

    def remediate(args: ResourceValidationArgs) -> Any:
        if rule.mend and args.resource_type.startswith(rule.types):
            mend = rule.mend(resource_from(args), args.get_config())
            return _mended(args.props, mend) if mend else None
        return None

    common: dict[str, Any] = {
        "name": name,
        "description": description,
        "enforcement_level": level,
        "display_name": rule.display_name + ("" if True in certainties else " (not yet known)"),
        "severity": rule.severity if True in certainties else Severity.LOW,
        "remediation_steps": rule.remediation,
        "tags": list(rule.tags),
        "url": f"{_DOCS}/{rule.name}.md",
    }
    if rule.config:
        common["config_schema"] = PolicyConfigSchema(dict(rule.config))
    mends: dict[str, Any] = {"remediate": remediate} if rule.mend and True in certainties else {}
    if rule.check_resource:
        return ResourceValidationPolicy(validate=validate_resource, **mends, **common)
    if mends:
        return _MendingStackPolicy(
            validate=validate_stack,  # pyright: ignore[reportArgumentType]
            **mends,
            **common,
        )
    return StackValidationPolicy(validate=validate_stack, **common)


def _slip(rule: Rule, config: Config) -> str:
    """Words for a property that the rule does not have: the engine lets it pass, "" for none."""
    unknown = sorted(set(config) - set(rule.config))
    if not unknown:
        return ""
    known = ", ".join(rule.config)
    fix = f"use one of {known}" if known else "leave it out: only the level can be set"
    return f"its configuration has no property {shown(unknown[0])}. Fix: {fix}."


class _MendingStackPolicy(ResourceValidationPolicy):
    """A policy that judges the whole stack, and mends one resource at a time.

    The SDK has a class for either and asks by `isinstance` alone; both under one name keep the
    level of the rule in one place.
    """

    def has_validation(self) -> bool:
        """Not of single resources."""
        return False


StackValidationPolicy.register(_MendingStackPolicy)


def _mended(props: Any, mend: Mend) -> Any:
    """`props`, changed in place, so that all that is secret or unknown in it stays as it is."""
    holder = props
    for key in mend.path[:-1]:
        if holder.get(key) is None:
            holder[key] = {}
        holder = holder[key]
    if mend.item is None:
        holder[mend.path[-1]] = mend.value
        return props
    held = holder.get(mend.path[-1])
    # The proxy's own list still has its secrets marked; its items read one by one have not.
    inner = held["__target"] if isinstance(held, _ListSecretsProxy) else held
    holder[mend.path[-1]] = [*(inner or ()), dict(mend.item)]
    return props


def resource_from(args: ResourceValidationArgs) -> Resource:
    """One resource as its program declares it: inputs, filled in by the provider's defaults."""
    return Resource(
        type=args.resource_type,
        name=args.name,
        urn=args.urn,
        props=_properties(args.props),
        parent=args.opts.parent or "",
        provider=_properties(args.provider.props) if args.provider else {},
        provider_urn=args.provider.urn if args.provider else "",
    )


def stack_from(args: StackValidationArgs, types: tuple[str, ...]) -> Stack:
    """All resources of a stack: outputs. Only `types` get their properties read, to be quick."""
    return Stack([_stack_resource(resource, types) for resource in args.resources])


def _stack_resource(resource: PolicyResource, types: tuple[str, ...]) -> Resource:
    wanted = resource.resource_type.startswith(types)
    provider = resource.provider
    parent = resource.parent.urn if resource.parent else resource.opts.parent
    return Resource(
        type=resource.resource_type,
        name=resource.name,
        urn=resource.urn,
        props=_properties(resource.props) if wanted else {},
        dependencies={
            key: tuple(each.urn for each in dependencies)
            for key, dependencies in resource.property_dependencies.items()
        },
        parent=parent or "",
        provider=_properties(provider.props) if wanted and provider else {},
        provider_urn=provider.urn if provider else "",
    )


class Properties(Mapping[str, Any]):
    """Properties as plain data, each read when a rule asks for it: it asks for few of many."""

    def __init__(self, given: Callable[[], Mapping[str, Any]]) -> None:
        self._get = given
        self._known: dict[str, Any] = {}

    @cached_property
    def given(self) -> Mapping[str, Any]:
        """The properties as they came."""
        return self._get()

    def __getitem__(self, key: str) -> Any:
        if key not in self._known:
            self._known[key] = _read(self.given, key, 0)
        return self._known[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.given)

    def __len__(self) -> int:
        return len(self.given)


def _properties(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return given if isinstance(given, Properties) else Properties(lambda: given)


def plain(value: Any, depth: int = 0) -> Any:
    """A value of the engine as plain data, with `UNKNOWN` for what the preview does not know.

    `UNKNOWN` too for a secret that `policy analyze` could not decrypt, and for anything nested
    deeper than any real resource.
    """
    if isinstance(value, str):
        return UNKNOWN if value in _UNREADABLE else value
    if isinstance(value, Mapping):
        if depth > _DEEPEST:
            return UNKNOWN
        return {key: _read(value, key, depth) for key in value}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        if depth > _DEEPEST:
            return UNKNOWN
        return [_read(value, index, depth) for index in range(len(value))]
    return value


def _read(container: Any, key: Any, depth: int) -> Any:
    try:
        value = container[key]
    except UnknownValueError:
        return UNKNOWN
    return plain(value, depth + 1)
