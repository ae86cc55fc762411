"""Whether what a pod needs to end in order fits into the time that it has when its node goes.

The budget is that of the pools of the stack which the pod's selector finds, the least of them.
Where the stack holds no such pool it is what the pod tells its program by
SPOTPROOF_TERMINATION_BUDGET_SECONDS, else 15 s, since GKE extends the shutdown only of pools that
ask for it.
Sources: those of `spotproof_gke.grace`; kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle
(30 s of grace when a pod states none), read on 2026-11-30.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from spotproof_gke.capacity import Capacity
from spotproof_gke.contract import SAVE_ESTIMATE_VARIABLE, TERMINATION_BUDGET_VARIABLE
from spotproof_gke.grace import SHUTDOWN_SECONDS, Budget, termination_budget
from spotproof_gke.rules.finding import Finding, Stack, shown
from spotproof_gke.rules.interruptible_pods import Landing, interruptible_pods
from spotproof_gke.rules.reading import UNKNOWN, dig, items, mapping, number, text
from spotproof_gke.rules.workloads import containers

DEFAULT_GRACE_SECONDS = 30
"""What Kubernetes fills in. It stands in the state of every workload, so nobody's decision is seen
in it, and it is not judged."""

GRACE_RULE = "the grace period of a pod fits into what it has when its node is taken away"
SAVE_RULE = "the save that a program states fits into what it has when its node is taken away"

_GRACE_FIX = (
    "lower terminationGracePeriodSeconds, or extend the shutdown of a Spot pool; drains and "
    "upgrades honour the longer period, preemption does not"
)
_SAVE_FIX = "make the save smaller or asynchronous, or extend the shutdown of a Spot pool"


@dataclass(frozen=True)
class _Judgement:
    """What a number of seconds exceeds, and whether that is certain."""

    clause: str
    certain: bool


def pod_grace(stack: Stack) -> Iterator[Finding]:
    """Findings for pods whose grace period is longer than the budget of their pool."""
    for resource, pod, landing in interruptible_pods(stack):
        value = dig(pod.spec, "terminationGracePeriodSeconds")
        if value is UNKNOWN:
            found = "terminationGracePeriodSeconds"
            yield resource.finding(found, GRACE_RULE, _GRACE_FIX, False)
        seconds = _seconds(value)
        if seconds is None or seconds == DEFAULT_GRACE_SECONDS:
            continue
        judged = _exceeded(seconds, landing, pod.spec)
        if judged:
            found = f"terminationGracePeriodSeconds is {shown(seconds)}, {judged.clause}"
            yield resource.finding(found, GRACE_RULE, _GRACE_FIX, judged.certain)


def save_estimates(stack: Stack) -> Iterator[Finding]:
    """Findings for stated save estimates that are too long, or that are no number of seconds."""
    for resource, pod, landing in interruptible_pods(stack):
        for value in _estimates(pod.spec):
            if value is UNKNOWN:
                found = f"the value of {SAVE_ESTIMATE_VARIABLE}"
                yield resource.finding(found, SAVE_RULE, _SAVE_FIX, False)
                continue
            seconds = _seconds(value)
            if seconds is None:
                found = f"{SAVE_ESTIMATE_VARIABLE} is no number of seconds"
                fix = "state the seconds alone, for example 10"
                yield resource.finding(found, SAVE_RULE, fix, landing.may_end is True)
                continue
            judged = _exceeded(seconds, landing, pod.spec)
            if judged:
                found = f"{SAVE_ESTIMATE_VARIABLE} is {shown(seconds)}, {judged.clause}"
                yield resource.finding(found, SAVE_RULE, _SAVE_FIX, judged.certain)


def _estimates(spec: object) -> Iterator[Any]:
    """The stated values; one that another object holds (`valueFrom`) is not seen.

    `UNKNOWN` where the variable, or its value, may stand in what is not known.
    """
    listed = mapping(spec).get("containers")
    if UNKNOWN in (spec, listed, *items(listed)):
        yield UNKNOWN
    for container in containers(spec):
        variables = container.get("env")
        for variable in [UNKNOWN] if variables is UNKNOWN else items(variables):
            parts = mapping(variable)
            if UNKNOWN in (variable, parts.get("name")):
                yield UNKNOWN
            if text(parts.get("name")) != SAVE_ESTIMATE_VARIABLE:
                continue
            value = parts.get("value")
            # Kubernetes puts other variables in the place of $(NAME).
            if value is not None and "$(" not in text(value):
                yield value


def _seconds(value: object) -> float | None:
    seconds = number(value)
    return seconds if seconds is not None and math.isfinite(seconds) and seconds >= 0 else None


def _exceeded(seconds: float, landing: Landing, spec: object) -> _Judgement | None:
    """Which budget a number of seconds exceeds; None when it fits into all."""
    budgets = [(f" on pool {shown(pool.name)}", pool.budget) for pool in landing.pools]
    known = [(where, budget) for where, budget in budgets if _length(budget) is not None]
    if not budgets:
        known = [("", _stated_budget(spec) or termination_budget(Capacity.SPOT))]
    over = [(where, budget) for where, budget in known if seconds > (_length(budget) or 0)]
    if over:
        where, budget = min(over, key=lambda each: _length(each[1]) or 0)
        why = budget.why if budget else ""
        clause = f"and the pod has {_length(budget)} s{where} ({why})"
        return _Judgement(clause, landing.may_end is True)
    if any(budget is None for _, budget in budgets) and seconds > _least():
        return _Judgement("and the budget of its pool", False)
    return None


def _stated_budget(spec: object) -> Budget | None:
    """What a pod says of a pool of another stack; at most what an extended shutdown can give."""
    for container in containers(spec):
        for variable in items(container.get("env")):
            parts = mapping(variable)
            if text(parts.get("name")) == TERMINATION_BUDGET_VARIABLE:
                seconds = _seconds(parts.get("value"))
                if seconds is not None and seconds < max(SHUTDOWN_SECONDS):
                    return Budget(int(seconds), f"as {TERMINATION_BUDGET_VARIABLE} says")
    return None


def _length(budget: Budget | None) -> int | None:
    return budget.seconds if budget else None


def _least() -> int:
    return termination_budget(Capacity.SPOT).seconds or 0
