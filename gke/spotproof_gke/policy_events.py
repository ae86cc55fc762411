"""What policy packs found, out of the engine's own JSON events.

Three commands write them, one JSON object a line: `pulumi policy analyze --json` and
`pulumi up --json` on standard output, and `pulumi preview --event-log FILE`, which needs
PULUMI_DEBUG_COMMANDS=true. The digest of `pulumi preview --json` leaves policies out
(read in pulumi 3.274.1, pkg/backend/display/json.go, 2026-11-30).

Only what a policy says about itself is taken. The properties of resources, which are in these
events too, are left where they are.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_COLOUR = re.compile(r"<\{%.*?%\}>")
_ROOT = "pulumi:pulumi:Stack"


class EventsError(ValueError):
    """These are no events of the engine; the text says why and what to do."""


@dataclass(frozen=True)
class Violation:
    """A policy that a resource breaks, or that mends it.

    Attributes:
        pack: name of the policy pack.
        policy: name of the policy.
        level: `mandatory`, `advisory`, or `remediate` for what the engine mends by itself.
        severity: `low`, `medium`, `high`, `critical`, or "" where the policy states none.
        rule: what must hold; "" when the event does not say.
        message: what was found, and what to do about it.
        urn: the resource's URN; "" for the stack as a whole.
        exceptions: id and reason of each exception that lets the violation through.
    """

    pack: str
    policy: str
    level: str
    severity: str = ""
    rule: str = ""
    message: str = ""
    urn: str = ""
    exceptions: tuple[tuple[str, str], ...] = ()

    @property
    def resource(self) -> str:
        """The resource's name in the program; "" for the stack as a whole."""
        return "" if f"::{_ROOT}::" in self.urn else self.urn.rpartition("::")[2]

    @property
    def type(self) -> str:
        """The resource's type, without the types of its parents; "" where there is no URN."""
        parts = self.urn.split("::")
        return parts[2].rpartition("$")[2] if len(parts) > 3 else ""

    @property
    def fails(self) -> bool:
        """Whether it fails the run."""
        return self.level == "mandatory" and not self.exceptions


@dataclass(frozen=True)
class Judgement:
    """What one run of the engine found.

    Attributes:
        packs: version of each pack that ran, by name.
        violations: in the order in which they were found, each once.
        whole: whether the run came to its end, so that what is not here was not found.
    """

    packs: Mapping[str, str]
    violations: tuple[Violation, ...]
    whole: bool


def read(lines: Iterable[str]) -> Judgement:
    """The judgement that a run's events hold.

    Raises:
        EventsError: these are no events of the engine, or there are none.
    """
    packs: dict[str, str] = {}
    found: dict[Violation, None] = {}
    ended, judged, stacks_judged = False, set(), set()
    for event in _events(lines):
        if one := _violation(event):
            found[one] = None
        for key, value in event.items():
            if not isinstance(value, Mapping):
                continue
            pack = _text(value, "policyPackName")
            if pack:
                packs[pack] = _text(value, "policyPackVersion")
            if key == "policyAnalyzeStackSummaryEvent":
                stacks_judged.add(pack)
            elif key == "policyAnalyzeSummaryEvent":
                judged.add(pack)
            elif key == "summaryEvent":
                ended = True
                packs |= _versions(value.get("PolicyPacks"))
    # A preview of a broken program has a summary too, and its stack policies have not run.
    return Judgement(packs, tuple(found), ended and judged <= stacks_judged)


def _events(lines: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    number = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, Mapping) or "sequence" not in event:
            raise EventsError(
                f"line {number} is no event of the engine. `pulumi policy analyze --json` and "
                "`PULUMI_DEBUG_COMMANDS=true pulumi preview --event-log FILE` write events; "
                "`pulumi preview --json` does not"
            )
        yield event
    if not number:
        raise EventsError("there are no events: the engine has not run, or could not start")


def _violation(event: Mapping[str, Any]) -> Violation | None:
    if isinstance(given := event.get("policyEvent"), Mapping):
        rule, _, message = _COLOUR.sub("", _text(given, "message")).strip().partition("\n")
        exceptions = given.get("exceptions")
        return Violation(
            pack=_text(given, "policyPackName"),
            policy=_text(given, "policyName"),
            level=_text(given, "enforcementLevel"),
            severity=_text(given, "severity"),
            rule=rule if message else "",
            message=message.strip() or rule,
            urn=_text(given, "resourceUrn"),
            exceptions=tuple(
                (_text(one, "id"), _text(one, "reason"))
                for one in (exceptions if isinstance(exceptions, list) else ())
                if isinstance(one, Mapping)
            ),
        )
    if isinstance(given := event.get("policyRemediationEvent"), Mapping):
        return Violation(
            pack=_text(given, "policyPackName"),
            policy=_text(given, "policyName"),
            level="remediate",
            message="The engine mends this by itself, at the level remediate.",
            urn=_text(given, "resourceUrn"),
        )
    return None


def _versions(packs: Any) -> dict[str, str]:
    """A preview adds where a pack lies to its name; a state's judgement does not."""
    given = packs if isinstance(packs, Mapping) else {}
    return {str(name).partition("|")[0]: str(version) for name, version in given.items()}


def _text(given: Mapping[str, Any], key: str) -> str:
    """A text of an event, without what a terminal would obey or no file can hold."""
    value = given.get(key)
    letters = value if isinstance(value, str) else ""
    return "".join(each if each.isprintable() or each in "\n\t" else "?" for each in letters)
