"""Patterns of namespaces in admission policies: a name, or the beginning of names before a `*`."""

from collections.abc import Iterable

from spotproof_gke.admission.cel import either, literal
from spotproof_gke.kubernetes_names import namespace_problems
from spotproof_gke.problems import Problem
from spotproof_gke.rules.system_pods import SYSTEM_NAMESPACES


def pattern_problems(key: str, patterns: Iterable[str]) -> list[Problem]:
    """What is wrong with patterns for system namespaces of the user's own."""
    problems: list[Problem] = []
    for pattern in patterns:
        start = pattern.removesuffix("*")
        if namespace_problems(key, start.removesuffix("-") if start != pattern else pattern):
            rule = "this is the name of a namespace, or its beginning and a *"
            problems.append(Problem(key, pattern, rule, "write it like platform or platform-*"))
            continue
        taken = [each for each in SYSTEM_NAMESPACES if _overlap(pattern, each)]
        if taken:
            rule = f"GKE's own namespaces ({', '.join(taken)}) have an action of their own"
            problems.append(Problem(key, pattern, rule, "name namespaces of your own alone"))
    return problems


def _overlap(one: str, other: str) -> bool:
    starts = [each.removesuffix("*") for each in (one, other)]
    if one == starts[0] and other == starts[1]:
        return one == other
    if one == starts[0]:
        return one.startswith(starts[1])
    if other == starts[1]:
        return other.startswith(starts[0])
    return starts[0].startswith(starts[1]) or starts[1].startswith(starts[0])


def matches(text: str, patterns: Iterable[str], before: str = "") -> str:
    """Whether the CEL text `text` is `before` and one of the namespaces."""
    names = [f"{before}{each}" for each in patterns if not each.endswith("*")]
    starts = [f"{before}{each[:-1]}" for each in patterns if each.endswith("*")]
    return either(
        [
            *([f"{text} in {literal(names)}"] if names else []),
            *(f"{text}.startsWith({literal(start)})" for start in starts),
        ]
    )
