"""An estimate as text and as JSON."""

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.text import Text

from spotproof_gke.commands.plain_table import print_table
from spotproof_gke.cost.amounts import money, money_span, rounded
from spotproof_gke.cost.estimate import Estimate
from spotproof_gke.cost.lines import MONTH_HOURS, Line
from spotproof_gke.quotas import Need

_UNKNOWN_QUOTA = "name not known"


def as_json(made: Estimate) -> dict[str, Any]:
    """The report as plain data; amounts in dollars a month, rounded as in the text."""
    return {
        "source": made.plan.name,
        "kind": made.plan.kind,
        "currency": "USD",
        "per": "month",
        "nodeHours": made.use.node_hours,
        "low": rounded(made.low),
        "highOfKnown": rounded(made.high),
        "unknownCount": len(made.unknown),
        "lines": [_line(line) for line in made.lines],
        "notPriced": dict(made.not_priced),
        "freeCount": made.free,
        "quotas": [_need(need) for need in made.needs],
        "surgeNodes": made.surge,
        "priceSources": [
            {
                "name": source.name,
                "address": source.address,
                "what": source.what,
                "dated": source.dated.isoformat() if source.dated else None,
                "readOn": source.read_on.isoformat(),
                "old": source.is_old(made.today),
            }
            for source in made.sources
        ],
        "notes": list(made.plan.notes),
    }


def _line(line: Line) -> dict[str, Any]:
    return {
        "name": line.name,
        "what": line.what,
        "low": rounded(line.low),
        "high": None if line.high is None else rounded(line.high),
        "unknown": line.unknown or None,
        "dependsOn": line.depends_on or None,
        "sources": list(line.sources),
    }


def _need(need: Need) -> dict[str, Any]:
    return {
        "quota": need.quota,
        "region": need.region,
        "amount": need.amount,
        "what": need.what,
        "askedBy": list(need.asked_by),
        "otherwise": need.otherwise or None,
    }


def print_text(made: Estimate, console: Console) -> None:
    """Print the report for people."""
    hours = made.use.node_hours
    when = "all the time" if hours == MONTH_HOURS else f"{hours:g} hours a month"
    _say(console, f"Estimate of {made.plan.name} ({made.plan.kind}), nodes running {when}.\n")
    for note in made.plan.notes:
        _say(console, f"Note: {note}.\n")
    if made.lines:
        columns = ("resource", "what", "$ a month", "depends on")
        print_table(console, columns, _line_rows(made), numbers=("$ a month",))
        _say(console, "")
    _say(console, _total(made))
    for line in _left_out(made):
        _say(console, line)
    if made.needs:
        _say(console, "\nQuotas that it needs at the most nodes\n")
        columns = ("quota", "region", "amount", "for")
        print_table(console, columns, _quota_rows(made), numbers=("amount",))
        if made.surge:
            nodes = f"{made.surge} more node{'' if made.surge == 1 else 's'}"
            _say(console, f"\nUpgrades take up to {nodes} while they last.")
    if made.sources:
        _say(console, "\nPrices")
        for line in _source_lines(made):
            console.print(Text(line), soft_wrap=True)


def _say(console: Console, text: str) -> None:
    console.print(Text(text))


def _line_rows(made: Estimate) -> Iterator[tuple[str, ...]]:
    before = ""
    for line in made.lines:
        name = "" if line.name == before else line.name
        amount = money_span(line.low, line.high).replace("$", "")
        yield name, line.what, amount, line.unknown or line.depends_on
        before = line.name


def _total(made: Estimate) -> str:
    unknown = len(made.unknown)
    if not unknown:
        return f"Total: {money_span(made.low, made.high)} a month."
    most = f", up to {money(made.high)} for what is known"
    parts = f"{unknown} unknown part{'' if unknown == 1 else 's'}"
    upper = most if made.high > made.low else ""
    return f"Total: at least {money(made.low)} a month{upper}, plus {parts}."


def _left_out(made: Estimate) -> Iterator[str]:
    if made.not_priced:
        named = ", ".join(f"{count} {type_}" for type_, count in made.not_priced.items())
        yield f"Not priced: {named}."
    if made.free:
        yield f"Free by themselves: {made.free} resource{'' if made.free == 1 else 's'}."
    yield (
        "Without taxes, commitments, credits, addresses, traffic between places, logs and metrics."
    )


def _quota_rows(made: Estimate) -> Iterator[tuple[str, ...]]:
    for need in made.needs:
        amount = "unknown" if need.amount is None else f"{need.amount:,g}"
        reason = f"{need.what}: {', '.join(need.asked_by)}"
        if need.otherwise:
            reason += f" ({need.otherwise})"
        yield need.quota or _UNKNOWN_QUOTA, need.region or "unknown", amount, reason


def _source_lines(made: Estimate) -> Iterator[str]:
    for source in made.sources:
        dated = source.dated.isoformat() if source.dated else "no date"
        old = ", old" if source.is_old(made.today) else ""
        yield f"  {source.name} ({dated}{old}): {source.address}"
    if made.old:
        yield (
            "  Prices that are old or bear no date may have changed; Spot prices change up to "
            "once a day."
        )
