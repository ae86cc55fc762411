"""Prints an answer for people: short, and each reason with the number of its source."""

import textwrap
from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.text import Text

from spotproof_gke.commands.terminal import CommandError, console
from spotproof_gke.strategy import Answer, Strategy
from spotproof_gke.strategy.diversity import Also
from spotproof_gke.strategy.needs import Need
from spotproof_gke.strategy.sentences import zones
from spotproof_gke.strategy.texts import Statement, facts

_MET = {True: "the cluster has it", False: "the cluster is older", None: "see which one it has"}


def print_snippet(answer: Answer) -> None:
    """Print the stack file of an answer, and nothing else.

    Raises:
        CommandError: There is nothing to declare.
    """
    if answer.snippet is None:
        raise CommandError(
            f"{_take(answer)} There is no stack file to paste; leave --snippet out to see why."
        )
    print(answer.snippet.text(), end="")


def print_answer(answer: Answer) -> None:
    """Print all of an answer."""
    out = console()
    numbers = {each.name: number for number, each in enumerate(answer.sources, 1)}
    _title(out, _take(answer))
    _lines(out, "Why", (_sentence(each, numbers) for each in answer.reasons))
    if answer.second is not None and answer.why_not is not None:
        title = facts("strategies")[answer.second.value]["title"]
        _lines(out, f"Not {title}, which comes second", [_sentence(answer.why_not, numbers)])
    if answer.also is not None:
        _lines(out, f"Allow at once, in {answer.region}", _also(answer.also, answer.region))
    if answer.nodes_from:
        _lines(out, "Where its nodes come from", [answer.nodes_from])
    if answer.snippet is not None:
        _title(out, "Paste")
        out.print(Text(answer.snippet.text()), end="", soft_wrap=True)
        _lines(out, "What runs", [answer.snippet.form])
    _lines(out, "Watch", (_sentence(each, numbers) for each in answer.conditions))
    _lines(out, "Needs", (_need(each) for each in answer.needs))
    _lines(out, "Not said", answer.assumptions)
    if answer.sources:
        _title(out, "Sources")
        for each in answer.sources:
            line = f"  [{numbers[each.name]}] {each.address} (read on {each.read_on})"
            out.print(Text(line), soft_wrap=True)


def _take(answer: Answer) -> str:
    if answer.strategy is Strategy.NEITHER:
        return f"Neither Spot nor flex-start. {answer.instead}"
    chain = ", then ".join(dict.fromkeys(each.value for each in answer.chain))
    return f"Take {answer.title}" + (f": {chain}." if chain else ".")


def _title(out: Console, text: str) -> None:
    for line in textwrap.wrap(text, out.width):
        out.print(Text(line, style="bold"), soft_wrap=True)


def _lines(out: Console, title: str, lines: Iterable[str]) -> None:
    found = list(lines)
    if not found:
        return
    _title(out, title)
    for each in found:
        for number, part in enumerate(each.splitlines()):
            first = "    " if number else "  - "
            for line in textwrap.wrap(
                part, out.width, initial_indent=first, subsequent_indent="    ",
                break_long_words=False, break_on_hyphens=False,
            ):  # fmt: skip
                out.print(Text(line, style="dim" if number else ""), soft_wrap=True)


def _sentence(statement: Statement, numbers: dict[str, int]) -> str:
    """A sentence with the numbers of its sources; where there are none, why, on a second line."""
    text = " ".join([statement.text, *(f"[{numbers[each.name]}]" for each in statement.sources)])
    if statement.opinion is None:
        return text
    return f"{text}\nGuidance is silent on this: ours is an opinion, because {statement.opinion}."


def _also(found: Also, region: str) -> Iterator[str]:
    if found.machine is not None:
        yield f"{found.machine}: {zones(found.zones) or 'zones not known'}"
    for each in found.machine_types:
        if isinstance(each, str):
            yield each
            continue
        there = zones(each.zones_in(region)) or "zones not known"
        yield f"{each.name} with {each.gpus} {each.accelerator}: {there}"
    if found.regions:
        yield "other regions: " + ", ".join(zones(there) for there in found.regions.values())
    if found.how:
        yield found.how
    if found.unknown:
        yield " ".join(found.unknown)


def _need(need: Need) -> str:
    return f"GKE {need.version} or newer, for {need.what}: {_MET[need.met]}"
