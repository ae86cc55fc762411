"""The result of an audit as text and as JSON."""

import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from spotproof_gke.audit.catalogue import Severity
from spotproof_gke.audit.evidence import Source
from spotproof_gke.audit.judge import Found, Report

FORMAT_VERSION = 1
"""Version of the JSON report; it changes when a key goes or means something else."""

_WIDTH = 100
_LABELS = 8


def as_text(report: Report) -> str:
    """The report for a reader: findings by severity, what could not be known, a summary."""
    parts = [_sources(report.evidence.sources)]
    for severity in Severity:
        found = [each for each in report.findings if each.entry.severity is severity]
        if found:
            parts.append(f"{severity.value.upper()} ({len(found)})")
            parts += _rules(found)
    if report.doubts:
        parts.append(_doubts(report.doubts))
    if report.notes:
        parts.append("\n".join(["Not seen or not judged", *(_bullet(n) for n in report.notes)]))
    parts.append(summary(report))
    return "\n\n".join(parts) + "\n"


def summary(report: Report) -> str:
    """One line: how much was found, and how much could not be known."""
    count = Counter(each.entry.severity for each in report.findings)
    kinds = ", ".join(f"{count[each]} {each.value}" for each in Severity if count[each])
    found = f"{len(report.findings)} finding{_s(report.findings)}" if report.findings else ""
    line = f"{found} ({kinds})" if found else "Nothing found"
    if report.doubts:
        line += f"; {len(report.doubts)} cannot be known from what was read"
    return line + "."


def _sources(sources: Sequence[Source]) -> str:
    lines = []
    for source in sources:
        read = sum(source.read.values())
        kind = "" if source.kind == "cluster" else f" ({source.kind})"
        line = f"Read {source.name}{kind}: {_counts(source.read) or 'nothing to judge'}"
        ignored = sum(source.ignored.values())
        if ignored:
            line += f"; {ignored} other{'' if ignored == 1 else 's'} not asked for by any rule"
            line += f" ({_counts(source.ignored)})" if read or len(source.ignored) < 6 else ""
        lines.append(_wrapped(line, "", "  "))
    return "\n".join(lines)


def _counts(count: Counter[str], most: int = 12) -> str:
    names = sorted(count, key=lambda name: (-count[name], name))
    words = [f"{count[name]} {name.rpartition(':')[2]}" for name in names[:most]]
    if len(names) > most:
        words.append(f"{sum(count[name] for name in names[most:])} more")
    return ", ".join(words)


def _rules(found: Sequence[Found]) -> Iterator[str]:
    several = len({each.source for each in found}) > 1
    for name, group in groupby(found, key=lambda each: each.entry.name):
        of_rule = list(group)
        lines = [f"  {name}", _field("why", of_rule[0].entry.why)]
        rows = sorted(of_rule, key=lambda each: each.finding.fix)
        for fix, same in groupby(rows, key=lambda each: each.finding.fix):
            for each in same:
                source = f", in {each.source}" if several or each.source else ""
                lines.append(_field("where", f"{each.where}{source}"))
                lines.append(_field("what", each.finding.value))
            lines.append(_field("fix", fix))
        lines.append(f"    {'docs':<{_LABELS - 2}}{of_rule[0].entry.docs}")
        yield "\n".join(lines)


def _doubts(doubts: Sequence[Found]) -> str:
    """How many of each rule; the JSON report has each of them."""
    count = Counter(each.entry.name for each in doubts)
    lines = ["Cannot be known from what was read (each one: --format json)"]
    lines += [f"  {number:>4}  {name}" for name, number in count.items()]
    return "\n".join(lines)


def _field(label: str, value: str) -> str:
    return _wrapped(value, f"    {label:<{_LABELS - 2}}", " " * (_LABELS + 2))


def _bullet(value: str) -> str:
    return _wrapped(value, "  - ", "    ")


def _wrapped(value: str, first: str, rest: str) -> str:
    return textwrap.fill(
        value,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _s(things: Sequence[Any]) -> str:
    return "" if len(things) == 1 else "s"


def as_json(report: Report) -> str:
    """The report for a program; keys in camelCase, `version` is `FORMAT_VERSION`."""
    count = Counter(each.entry.severity.value for each in report.findings)
    return (
        json.dumps(
            {
                "version": FORMAT_VERSION,
                "sources": [
                    {
                        "name": each.name,
                        "kind": each.kind,
                        "judged": dict(sorted(each.read.items())),
                        "ignored": dict(sorted(each.ignored.items())),
                    }
                    for each in report.evidence.sources
                ],
                "findings": [_row(each) for each in report.findings],
                "cannotBeKnown": [_row(each) for each in report.doubts],
                "notJudged": report.notes,
                "summary": {
                    **{each.value: count[each.value] for each in Severity},
                    "cannotBeKnown": len(report.doubts),
                },
            },
            indent=2,
        )
        + "\n"
    )


def _row(found: Found) -> dict[str, Any]:
    return {
        "rule": found.entry.name,
        "severity": found.entry.severity.value,
        "where": found.where,
        "source": found.source,
        "urn": found.urn or None,
        "what": found.finding.value,
        "mustHold": found.finding.rule,
        "why": found.entry.why,
        "fix": found.finding.fix,
        "docs": found.entry.docs,
    }
