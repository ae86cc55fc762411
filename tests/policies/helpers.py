"""Runs policies over fixtures with the objects that the engine's own pack server builds."""

import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml
from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyCustomTimeouts,
    PolicyProviderResource,
    PolicyResource,
    PolicyResourceOptions,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, unknown_checking_proxy

PACKS = Path(__file__).resolve().parents[2] / "policies"
PACK_NAMES = ("region_match", "spot_isolation", "interruption_readiness")
KINDS = ("good", "bad", "absent", "unknown")


@cache
def pack(name: str) -> ModuleType:
    """The module `policy` of a pack, without starting the pack's server."""
    spec = importlib.util.spec_from_file_location(f"{name}_policy", PACKS / name / "policy.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def policy(pack_name: str, name: str) -> Policy:
    return next(each for each in pack(pack_name).POLICIES if each.name == name)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """YAML with `!unknown` for a value that a preview does not know."""


_Loader.add_constructor("!unknown", lambda loader, node: UNKNOWN_STRING_VALUE)


def load_yaml(text: str) -> Any:
    """The one document of a text, where `!unknown` stands for what a preview does not know."""
    return yaml.load(text, _Loader)


@dataclass(frozen=True)
class Case:
    """One case of a fixture file: resources by program name, and the findings to expect."""

    pack: str
    rule: str
    kind: str
    name: str
    resources: Mapping[str, Mapping[str, Any]]
    expect: list[dict[str, Any]]
    config: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.rule}-{self.kind}-{self.name.replace(' ', '_')}"


def cases() -> Iterator[Case]:
    for pack_name in PACK_NAMES:
        for path in sorted((PACKS / pack_name / "fixtures").glob("*/*.yaml")):
            for each in yaml.load_all(path.read_text(encoding="utf-8"), _Loader):
                yield Case(
                    pack=pack_name,
                    rule=path.parent.name,
                    kind=path.stem.split("_")[0],
                    name=each["case"],
                    resources=each["resources"],
                    expect=each["expect"],
                    config=each.get("config", {}),
                )


def urn(type_: str, name: str) -> str:
    return f"urn:pulumi:test::test::{type_}::{name}"


def options(parent: str | None = None) -> PolicyResourceOptions:
    return PolicyResourceOptions(False, [], None, [], PolicyCustomTimeouts(0, 0, 0), [], parent)


def _provider(given: Mapping[str, Any] | None, urns: Mapping[str, str]) -> Any:
    if given is None:
        return None
    type_ = "pulumi:providers:any"
    name = given.get("name", "default")
    props = unknown_checking_proxy(dict(given.get("props", {})))
    return PolicyProviderResource(type_, props, urns.get(name, urn(type_, name)), name)


def stack_resources(case: Case) -> list[PolicyResource]:
    """The resources as a stack policy gets them: stated properties and computed outputs."""
    urns = {name: urn(given["type"], name) for name, given in case.resources.items()}
    made = {}
    for name, given in case.resources.items():
        props = {**given.get("props", {}), **given.get("computed", {})}
        made[name] = PolicyResource(
            given["type"],
            unknown_checking_proxy(props),
            urns[name],
            name,
            options(urns.get(given.get("parent", ""))),
            _provider(given.get("provider"), urns),
            None,
            [],
            {},
        )
    for name, given in case.resources.items():
        made[name].parent = made.get(given.get("parent", ""))
        depends = given.get("depends", {})
        for key in given.get("props", {}):
            made[name].property_dependencies[key] = [made[other] for other in depends.get(key, [])]
    return list(made.values())


def resource_args(
    case: Case, config: Mapping[str, Any] | None = None
) -> Iterator[ResourceValidationArgs]:
    """The resources as a resource policy gets them, one at a time: inputs."""
    for name, given in case.resources.items():
        yield ResourceValidationArgs(
            given["type"],
            unknown_checking_proxy(dict(given.get("props", {}))),
            urn(given["type"], name),
            name,
            options(),
            _provider(given.get("provider"), {}),
            dict(case.config if config is None else config),
        )


@dataclass(frozen=True)
class Reported:
    resource: str
    level: str
    message: str


def config_of(one: Policy, case: Case) -> dict[str, Any]:
    """What of a case's configuration, which is for all its policies, belongs to one."""
    known = one.config_schema.properties if one.config_schema else {}
    return {key: value for key, value in case.config.items() if key in known}


def run(one: Policy, case: Case) -> list[Reported]:
    """What a policy reports on the resources of a case."""
    assert one.enforcement_level
    level = one.enforcement_level.value
    found: list[Reported] = []

    def report(message: str, where: str | None = None) -> None:
        found.append(Reported((where or "").rsplit("::", 1)[-1], level, message))

    config = config_of(one, case)
    if isinstance(one, StackValidationPolicy):
        one.validate(StackValidationArgs(stack_resources(case), config), report)
    elif isinstance(one, ResourceValidationPolicy):
        for args in resource_args(case, config):
            one.validate(args, report)
    return found


def run_rule(case: Case) -> list[Reported]:
    """What all policies of the case's rule report."""
    policies = [
        each
        for each in pack(case.pack).POLICIES
        if each.name in (case.rule, f"{case.rule}-unknown")
        and each.enforcement_level is not EnforcementLevel.DISABLED
    ]
    assert policies, f"no policy is named {case.rule}"
    return [reported for each in policies for reported in run(each, case)]
