"""Asks for what is missing, one thing at a time."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from spotproof_gke.commands.terminal import CommandError
from spotproof_gke.problems import Problem, ProblemsError
from spotproof_gke.strategy import Kind, read_question
from spotproof_gke.strategy.question import DEPENDS

_UNKNOWN = ("?", "unknown")


@dataclass(frozen=True)
class _Prompt:
    """How one thing is asked for.

    Attributes:
        text: The question.
        form: What its answer is: `word`, `yes` for yes or no, `count` or `hours`.
    """

    text: str
    form: str


_PROMPTS: Mapping[str, _Prompt] = {
    "kind": _Prompt(f"What sort of work is it ({', '.join(k.value for k in Kind)})", "word"),
    "accelerator": _Prompt("Which GPU, such as l4 or h100, or none", "word"),
    "interruptible": _Prompt("May it lose its node, since it goes on or begins again", "yes"),
    "hours": _Prompt("How many hours does it run, or forever", "hours"),
    "start_flexible": _Prompt("May its start wait, for hours or days", "yes"),
    "replicas": _Prompt("How many replicas serve", "count"),
}
_YES = {"y": True, "yes": True, "n": False, "no": False}


def ask(given: dict[str, Any]) -> None:
    """Complete `given` in place by asking for all that decides the answer and is missing.

    An answer that is not known (`?`) leaves it open. Questions go to standard error, so that
    standard output holds the answer alone.
    """
    asked: set[str] = set()
    while missing := [each for each in _problems(given) if each.key not in asked]:
        key = missing[0].key
        prompt = _PROMPTS[key]
        said = _said(f"{prompt.text} (? if not known): ")
        value = None if said in _UNKNOWN else _value(prompt.form, said)
        wrong = _wrong(given, key, value)
        if wrong is not None:
            print(f"{wrong.rule}; {wrong.fix}", file=sys.stderr)
            continue
        given[key] = value
        asked.add(key)
        if key == "kind" and value is None:
            return


def _said(text: str) -> str:
    print(text, end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        print(file=sys.stderr)
        raise CommandError(
            "standard input ended before an answer; answer ? to what is not known, or leave --ask "
            "out and give the options"
        )
    return line.strip().lower()


def _value(form: str, said: str) -> Any:
    if form == "yes":
        return _YES.get(said, said)
    if form == "hours" and said == "forever":
        return inf
    try:
        return {"count": int, "hours": float}.get(form, str)(said)
    except ValueError:
        return said


def _problems(given: Mapping[str, Any]) -> list[Problem]:
    """What is missing; nothing where something else is wrong, which is said afterwards."""
    try:
        read_question(given, complete=True)
    except ProblemsError as error:
        return [each for each in error.problems if each.rule == DEPENDS]
    return []


def _wrong(given: Mapping[str, Any], key: str, value: Any) -> Problem | None:
    if value is None:
        return None
    try:
        read_question({"kind": "batch", **given, key: value})
    except ProblemsError as error:
        return next((each for each in error.problems if each.key == key), None)
    return None
