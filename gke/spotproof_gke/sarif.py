"""A judgement of policy packs as SARIF 2.1.0, which code scanning services read.

Source: OASIS, Static Analysis Results Interchange Format 2.1.0 with errata 01 (docs.oasis-open.org,
read 2026-11-30). SARIF wants a place in a file for each result, and the engine knows none: a result
stands at the line that alone holds the resource's name, else at the start of the project file. Its
logical location is the resource's URN.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from spotproof_gke.policy_events import Judgement, Violation

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS = {"mandatory": "error", "advisory": "warning"}
_NOTE = "note"


@dataclass(frozen=True)
class PolicyFacts:
    """What a policy says about itself.

    Attributes:
        title: a few words.
        rule: what must hold.
        remediation: what to do about a violation.
        url: its page; "" where it has none.
        severity: `low`, `medium`, `high`, `critical` or "".
        level: its own level, before any configuration.
        tags: words to find it by.
    """

    title: str = ""
    rule: str = ""
    remediation: str = ""
    url: str = ""
    severity: str = ""
    level: str = ""
    tags: tuple[str, ...] = ()


Place = tuple[str, int]
"""A file, relative to the repository, and a line from 1 on."""
Facts = Mapping[str, PolicyFacts]
"""Facts about policies, by their names."""


def sarif(
    judgement: Judgement,
    place: Callable[[Violation], Place],
    facts: Facts | None = None,
    category: str = "",
) -> dict[str, Any]:
    """The judgement as a SARIF log with one run for each pack, also for one that found nothing.

    Args:
        judgement: what the packs found.
        place: where in the program a violation is shown.
        facts: what the policies say about themselves; events tell little of it.
        category: tells judgements of several stacks or environments apart.
    """
    names = {*judgement.packs, *(one.pack for one in judgement.violations)}
    runs = [_run(judgement, name, place, facts or {}, category) for name in sorted(names)]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": runs}


def _run(
    judgement: Judgement,
    pack: str,
    place: Callable[[Violation], Place],
    facts: Facts,
    category: str,
) -> dict[str, Any]:
    found = [one for one in judgement.violations if one.pack == pack]
    told = {
        one.policy: PolicyFacts(rule=one.rule, severity=one.severity, level=one.level)
        for one in found
    }
    policies = sorted(told)
    driver: dict[str, Any] = {
        "name": pack,
        "rules": [_rule(name, facts.get(name, told[name])) for name in policies],
    }
    if version := judgement.packs.get(pack):
        driver["version"] = version
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"{pack}/{category}/" if category else f"{pack}/"},
        "invocations": [{"executionSuccessful": judgement.whole}],
        "results": [_result(one, policies.index(one.policy), place(one)) for one in found],
    }
    return run


def _rule(name: str, facts: PolicyFacts) -> dict[str, Any]:
    title = facts.title or name
    more = f"More: {facts.url}" if facts.url else ""
    # GitHub takes no rule without a help text.
    help_text = "\n\n".join(one for one in (facts.rule or title, facts.remediation, more) if one)
    rule: dict[str, Any] = {
        "id": name,
        "shortDescription": {"text": title},
        "fullDescription": {"text": facts.rule or title},
        "help": {"text": help_text, "markdown": help_text},
        "defaultConfiguration": {"level": level(facts.level, facts.severity, name)},
        "properties": _without_blanks({"severity": facts.severity, "tags": list(facts.tags)}),
    }
    if facts.url:
        rule["helpUri"] = facts.url
    return rule


def level(of_policy: str, severity: str, policy: str) -> str:
    """SARIF's word for a violation: what fails a run is an error, what is slight or unsure a note.

    Args:
        of_policy: the policy's level.
        severity: the policy's severity.
        policy: its name; one that ends in `-unknown` tells of what could not be decided.
    """
    found = _LEVELS.get(of_policy, _NOTE if of_policy else "warning")
    if found == "warning" and (severity == "low" or policy.endswith("-unknown")):
        return _NOTE
    return found


def _result(one: Violation, index: int, place: Place) -> dict[str, Any]:
    file, line = place
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(file)},
            "region": {"startLine": line},
        }
    }
    if one.urn:
        name = one.resource or one.urn.rpartition("::")[2]
        location["logicalLocations"] = [
            {"name": name, "fullyQualifiedName": one.urn, "kind": "resource"}
        ]
    result: dict[str, Any] = {
        "ruleId": one.policy,
        "ruleIndex": index,
        "level": level(one.level, one.severity, one.policy),
        "message": {"text": one.message or one.policy},
        "locations": [location],
        "partialFingerprints": {"policyAndResource/v1": _fingerprint(one)},
        "properties": _without_blanks({"level": one.level, "severity": one.severity}),
    }
    if one.exceptions:
        result["suppressions"] = [
            {"kind": "external", "status": "accepted", "justification": f"{name}: {reason}"}
            for name, reason in one.exceptions
        ]
    return result


def _fingerprint(one: Violation) -> str:
    """The same for the same fault in the next run, wherever its line has gone."""
    parts = (one.pack, one.policy, one.urn, one.message)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _without_blanks(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in given.items() if value}
