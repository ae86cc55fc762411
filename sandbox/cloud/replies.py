"""The parts of the protocol between engine and provider that are pure translation."""

from collections.abc import Callable
from typing import Any

from pulumi.runtime.proto import provider_pb2

from sandbox.cloud.diff import Change
from sandbox.cloud.naming import DEFAULTS, auto_name
from sandbox.cloud.types.base import Kind
from sandbox.cloud.types.values import Properties


def namer(request: Any, logical: str) -> Callable[[str], str | None]:
    """How the engine wants names made up for this resource."""
    options = request.autonaming if request.HasField("autonaming") else None
    modes = provider_pb2.CheckRequest.AutonamingOptions.Mode
    if options is None:
        return lambda _: auto_name(logical, request.randomSeed)
    if options.mode == modes.Value("DISABLE"):
        return lambda _: None
    return lambda _: options.proposed_name or auto_name(logical, request.randomSeed)


def ignoring(news: Properties, old: Properties, ignored: Any) -> Properties:
    """The new inputs with the recorded values at the ignored paths (without list indices)."""
    for path in ignored:
        news = _with_old(news, old, path.split("."))
    return news


def _with_old(news: Properties, old: Properties, parts: list[str]) -> Properties:
    name, rest = parts[0], parts[1:]
    kept = dict(news)
    before, now = old.get(name), news.get(name)
    if rest and isinstance(now, dict):
        kept[name] = _with_old(now, before if isinstance(before, dict) else {}, rest)
    elif rest:
        return kept
    elif before is None:
        kept.pop(name, None)
    else:
        kept[name] = before
    return kept


def label_changes(
    kind: Kind, old: Properties, inputs: Properties, changes: list[Change]
) -> list[Change]:
    """The label outputs follow the labels that the program sets."""
    return [
        Change(change.path.replace(kind.labels, output, 1), change.kind)
        for change in changes
        if change.top == kind.labels
        for output in ("effectiveLabels", "pulumiLabels")
    ]


def diff_response(
    kind: Kind, changes: list[Change], old: Properties, checked: Properties
) -> provider_pb2.DiffResponse:
    """The changes as the engine wants to have them."""
    replaces = sorted({change.top for change in changes if change.replaces})
    detailed = {change.path: _property_diff(change) for change in changes}
    fixed = kind.named_by and kind.named_by not in (checked.get(DEFAULTS) or ())
    unchanged = old.get(kind.named_by) == checked.get(kind.named_by)
    changed = "DIFF_SOME" if changes else "DIFF_NONE"
    return provider_pb2.DiffResponse(
        changes=provider_pb2.DiffResponse.DiffChanges.Value(changed),
        replaces=replaces,
        diffs=sorted({change.top for change in changes}),
        detailedDiff=detailed,
        hasDetailedDiff=True,
        # A name that the program fixes can be given to one resource at a time.
        deleteBeforeReplace=bool(replaces and fixed and unchanged),
    )


def _property_diff(change: Change) -> provider_pb2.PropertyDiff:
    name = change.kind.upper() + ("_REPLACE" if change.replaces else "")
    return provider_pb2.PropertyDiff(kind=provider_pb2.PropertyDiff.Kind.Value(name))
