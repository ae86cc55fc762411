"""What an audit is given: dumps, states, a cluster, and the configuration of the rules."""

import json
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from spotproof_gke.audit import documents
from spotproof_gke.audit.catalogue import ENTRIES, Severity
from spotproof_gke.audit.dump import add_objects
from spotproof_gke.audit.evidence import Evidence, InputError, Source, printable
from spotproof_gke.audit.judge import Report
from spotproof_gke.audit.kubectl import Access, add_cluster
from spotproof_gke.audit.state import add_state

NOTHING_FOUND = 0
"""Exit code: no finding at or above `--fail-on`."""

FOUND = 1
"""Exit code: at least one finding at or above `--fail-on`."""

NOT_AUDITED = 2
"""Exit code: wrong usage, or an input that could not be read."""

NEVER = "never"
_ABSENT = object()
_LEVEL = "enforcementLevel"
_ALL = "all"
_LEVELS = ("advisory", "mandatory", "remediate", "disabled")


def exit_code(result: Report, fail_on: str) -> int:
    """1 when a finding is at or above a severity, else 0."""
    order = [each.value for each in Severity]
    if fail_on == NEVER:
        return NOTHING_FOUND
    bad = order[: order.index(fail_on) + 1]
    return FOUND if any(each.entry.severity.value in bad for each in result.findings) else 0


def gather(files: Sequence[str], cluster: Access | None = None) -> Evidence:
    """Read the files, `-` being standard input, and the cluster where access to one is given.

    Raises:
        InputError: Something cannot be read, or is neither a dump nor a state.
    """
    evidence = Evidence()
    names: dict[str, int] = {}
    if files.count(documents.STDIN) > 1:
        raise InputError("standard input (-) can be read once only")
    for path in files:
        name = documents.label(path)
        names[name] = names.get(name, 0) + 1
        if names[name] > 1:
            name = f"{name} ({names[name]})"
        add_file(evidence, name, documents.documents(name, documents.read(path)))
    dumps = [each for each in evidence.sources if each.kind == "dump"]
    if dumps and not any(each.read for each in dumps):
        read = ", ".join(each.name for each in dumps)
        raise InputError(
            f"{read}: no object that the audit judges, such as a node, pod or workload; "
            "ask kubectl for these kinds, as an account that may list them"
        )
    if cluster:
        add_cluster(evidence, cluster)
    return evidence


def add_file(evidence: Evidence, name: str, content: Sequence[Any]) -> None:
    """Add the documents of one file, all states or all dumps.

    Raises:
        InputError: They are neither.
    """
    if content and all(documents.is_state(each) for each in content):
        source = Source(name, "state")
        for each in content:
            add_state(evidence, source, each)
    elif content and all(documents.is_object(each) for each in content):
        source = Source(name, "dump")
        for each in content:
            add_objects(evidence, source, each if isinstance(each, list) else [each])
    else:
        raise documents.kind_error(name, content)
    evidence.sources.append(source)


def read_config(path: str | None) -> tuple[Mapping[str, Mapping[str, Any]], list[str]]:
    """The configuration of the rules, and what of it was passed over.

    Raises:
        InputError: The file is no configuration of the policy packs.
    """
    if path is None:
        return {}, []
    name = documents.label(path)
    try:
        given = json.loads(documents.read(path))
    except (ValueError, RecursionError) as error:
        why = f"{name}: not JSON"
        if isinstance(error, InputError):
            why = str(error).rpartition("; ")[0]
        raise InputError(f"{why}; --policy-config takes a policy pack's file") from None
    second = isinstance(given, Mapping) and given.get("version") == 2
    policies = given.get("policies", {}) if second else given
    if not isinstance(policies, Mapping):
        raise InputError(f"{name}: not the configuration of a policy pack, an object by policy")
    known = [each.name for each in ENTRIES]
    config: dict[str, Mapping[str, Any]] = {}
    notes: list[str] = []
    for policy, value in policies.items():
        if policy not in (_ALL, *known):
            continue
        if not isinstance(value, (str, Mapping)):
            raise InputError(f"{name}: {policy} is not a level or an object")
        config[policy] = {_LEVEL: value} if isinstance(value, str) else value
    for policy, value in config.items():
        options = {key for each in ENTRIES if each.name == policy for key in each.options}
        if unknown := sorted(set(value) - options - {_LEVEL}):
            hint = _likely(unknown[0], options)
            raise InputError(f"{name}: {policy} has no property {printable(unknown[0])}{hint}")
        if value.get(_LEVEL, _LEVELS[0]) not in _LEVELS:
            raise InputError(f"{name}: {policy}.{_LEVEL} is none of {', '.join(_LEVELS)}")
    general = config.pop(_ALL, {})
    config = {policy: {**general, **config.get(policy, {})} for policy in known}
    for entry in ENTRIES:
        for key in entry.options:
            given_value = config[entry.name].get(key, _ABSENT)
            wanted = None if given_value is _ABSENT else entry.wanted(key, given_value)
            if wanted:
                raise InputError(f"{name}: {entry.name}.{key} is not {wanted}")
    for policy in policies:
        if policy.removesuffix("-unknown") not in (_ALL, *known):
            hint = _likely(policy, known)
            notes.append(f"{name}: {printable(policy)} is no rule of the audit{hint}")
    if second and given.get("exceptions"):
        notes.append(f"{name}: its exceptions were not applied")
    return config, notes


def _likely(given: str, known: Collection[str]) -> str:
    close = get_close_matches(given, known, 1)
    return f"; did you mean {close[0]}?" if close else ""
