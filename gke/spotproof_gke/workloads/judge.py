"""Judges a manifest by the rules of the policy packs, before there is a resource to judge."""

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from spotproof_gke.capacity import SPOT_TAINT
from spotproof_gke.problems import Problem
from spotproof_gke.rules import job_readiness, spot_isolation, stop_signal
from spotproof_gke.rules.finding import Finding, Resource, Stack
from spotproof_gke.rules.reading import dig

Predicate = Callable[[Stack], Iterator[Finding]]


def _system_workloads(stack: Stack) -> Iterator[Finding]:
    for resource in stack.resources:
        yield from spot_isolation.system_workloads(resource)


PREDICATES: dict[str, Predicate] = {
    "restart_policy": job_readiness.restart_policy,
    "failure_policy": job_readiness.failure_policy,
    "backoff_limit": job_readiness.retry_limit,
    "deadline_seconds": job_readiness.deadline,
    "command": stop_signal.shells_before_programs,
    "namespace": _system_workloads,
}
"""The rules about one workload, each by the argument that decides what it is about."""

_FIXES = {"namespace": "choose a namespace of your own"}
"""What to do about an argument, where the rule speaks of a manifest."""

_TEMPLATES: dict[str, tuple[str | int, ...]] = {
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
    "JobSet": ("spec", "replicatedJobs", 0, "template", "spec", "template"),
    "Pod": (),
}


def resource_of(manifest: Mapping[str, Any]) -> Resource:
    """A manifest as the rules see resources."""
    group_version, kind = str(manifest["apiVersion"]), str(manifest["kind"])
    if "/" not in group_version:
        group_version = f"core/{group_version}"
    name = str(dig(manifest, "metadata", "name") or kind)
    return Resource(f"kubernetes:{group_version}:{kind}", name, props=manifest)


def findings(manifest: Mapping[str, Any]) -> Iterator[tuple[str, Finding]]:
    """What the rules about one workload find, with the argument that each is about."""
    stack = Stack([resource_of(manifest)])
    for argument, predicate in PREDICATES.items():
        for found in predicate(stack):
            yield argument, found


def problems(manifest: Mapping[str, Any]) -> list[Problem]:
    """What is wrong with a workload that its author means to run on nodes that can be taken away.

    It is judged as one on Spot nodes, also where a compute class decides what nodes it gets. What
    cannot be known before the update is not judged here, but by the policy packs.
    """
    found: dict[str, Problem] = {}
    for argument, finding in findings(_on_spot(manifest)):
        if finding.certain and argument not in found:
            fix = _FIXES.get(argument, finding.fix)
            shown = _shown(argument, manifest)
            found[argument] = Problem(argument, shown, finding.rule, fix)
    return list(found.values())


def _on_spot(manifest: Mapping[str, Any]) -> dict[str, Any]:
    judged = copy.copy(dict(manifest))
    at: Any = judged
    for key in (*_template_at(manifest), "spec"):
        at[key] = copy.copy(at[key])
        at = at[key]
    at["tolerations"] = [*at.get("tolerations", ()), SPOT_TAINT.toleration()]
    return judged


def _template_at(manifest: Mapping[str, Any]) -> tuple[str | int, ...]:
    return _TEMPLATES.get(str(manifest["kind"]), ("spec", "template"))


def _shown(argument: str, manifest: Mapping[str, Any]) -> object:
    spec: Any = manifest
    for key in _template_at(manifest)[:-1] or ("spec",):
        spec = spec[key]
    if argument == "command":
        (container,) = dig(spec, "template", "spec", "containers")
        words = [*container.get("command", ()), *container.get("args", ())]
        return words[0] if words else None
    per_index = dig(spec, "backoffLimitPerIndex")
    return {
        "namespace": dig(manifest, "metadata", "namespace"),
        "backoff_limit": dig(spec, "backoffLimit") if per_index is None else per_index,
        "deadline_seconds": dig(spec, "activeDeadlineSeconds"),
    }.get(argument)
