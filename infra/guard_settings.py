"""Judges how the guard of a stack and the stack's workloads fit each other."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from spotproof.reader import Reader, camel_case
from spotproof_gke.problems import Problem
from spotproof_gke.rules.reading import dig, is_true, items, text
from spotproof_gke.rules.system_pods import is_system_namespace
from work_settings import Note
from workload_sections import (
    FLEX_START_JOBS,
    GUARD,
    KUEUE_QUEUES,
    QUEUE_WORKERS,
    SPOT_JOBS,
    Layer,
)

_AT = camel_case(GUARD.key)


def wants_guard(
    has_settings: bool, args: Mapping[str, Any], layer: object, problems: list[Problem]
) -> bool:
    """Whether a stack is to have a guard.

    Args:
        has_settings: Whether the stack file has settings of the guard.
        args: The settings.
        layer: What the stack file says of the objects inside the cluster.
        problems: Takes what is wrong with that.
    """
    wanted = Reader(args, args, f"{_AT}.", camel_case, problems).boolean("enabled", default=True)
    inside = layer not in (None, "", Layer.NONE.value)
    if has_settings and wanted and not inside:
        rule = "the guard is an object inside the cluster, and workloads is none"
        fix = "set workloads to render or apply, or remove this"
        problems.append(Problem(_AT, "…", rule, fix))
    return wanted and inside


def fill_guard(args: dict[str, Any], manifests: Iterable[Mapping[str, Any]]) -> None:
    """Complete the guard's arguments in place with what follows from the stack's objects.

    What has another form than it must have is left for the component to judge.
    """
    if args.get("system_namespaces") is None:
        args["system_namespaces"] = []
    further = args.get("spot_classes")
    if further is None or isinstance(further, list):
        own = (text(dig(one, "metadata", "name")) for one in manifests if _may_end(one))
        args["spot_classes"] = [*(further or ()), *(n for n in own if n not in (further or ()))]


def _may_end(manifest: Mapping[str, Any]) -> bool:
    """Whether this is a compute class with nodes that can be taken away, or end."""
    return manifest["kind"] == "ComputeClass" and any(
        is_true(dig(one, "spot")) or is_true(dig(one, "flexStart", "enabled"))
        for one in items(dig(manifest, "spec", "priorities"))
    )


def judge_namespaces(
    system_namespaces: Sequence[str], sections: Mapping[str, Mapping[str, Any]], note: Note
) -> None:
    """Note workloads of the stack that its guard would refuse, all of which are on such nodes."""
    rule = f"{_AT} keeps this namespace off Spot and flex-start nodes"
    fix = f"choose another namespace, or take it out of {_AT}.systemNamespaces"
    for section in (SPOT_JOBS, FLEX_START_JOBS, QUEUE_WORKERS):
        for key, args in sections[section.key].items():
            namespace = text(args.get("namespace"))
            if is_system_namespace(namespace, system_namespaces):
                note(f"{camel_case(section.key)}.{key}.namespace", namespace, rule, fix)
    for key, args in sections[KUEUE_QUEUES.key].items():
        for queue in map(text, items(args.get("local_queues"))):
            if is_system_namespace(queue.partition("/")[0], system_namespaces):
                note(f"{camel_case(KUEUE_QUEUES.key)}.{key}.localQueues", queue, rule, fix)
