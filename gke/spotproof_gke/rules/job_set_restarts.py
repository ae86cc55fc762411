"""Whether a JobSet makes a Job anew, without counting, that failed in a certain way.

Sources, read on 2026-11-30: jobset.sigs.k8s.io/docs/tasks/failure_policy and the controller,
kubernetes-sigs/jobset v0.11.1 pkg/controllers/failure_policy.go; the reasons and messages of failed
Jobs, kubernetes/kubernetes v1.36 pkg/controller/job.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from spotproof_gke.rules.reading import UNKNOWN, dig, items, number, text

_FOR_FREE = ("RestartJobSetAndIgnoreMaxRestarts", "RestartJobAndIgnoreMaxRestarts")


@dataclass(frozen=True)
class Failure:
    """How a Job says that it failed.

    Attributes:
        reason: Reason of its condition.
        messages: What the message of the condition may be.
    """

    reason: str
    messages: tuple[str, ...]


def by_pod_failure_policy(rule: Any, place: int, codes: Sequence[int]) -> Failure:
    """How a Job fails by a rule of its podFailurePolicy when a node was lost.

    Args:
        rule: The rule.
        place: Its place among the rules.
        codes: How containers end on a lost node.
    """
    why = f"matching FailJob rule at index {place}"
    messages = [f"Pod NAMESPACE/NAME has condition DisruptionTarget {why}"]
    if dig(rule, "onExitCodes") is UNKNOWN:
        messages.append("")
    elif dig(rule, "onExitCodes") is not None:
        listed = [number(value) for value in items(dig(rule, "onExitCodes", "values"))]
        held = [code for code in codes if code in listed] or codes
        failed = "Container NAME for pod NAMESPACE/NAME failed with exit code"
        messages = [f"{failed} {code} {why}" for code in held]
    return Failure("PodFailurePolicy", tuple(messages))


def restarts_for_free(job_set: Any, job_spec: Any, failure: Failure) -> bool | None:
    """Whether the JobSet starts again without counting; None when that is not known.

    The first rule that matches decides; without one the restart counts.

    Args:
        job_set: Specification of the JobSet; None when there is none.
        job_spec: Specification of the Job, as it stands in the JobSet.
        failure: How the Job failed.
    """
    rules = dig(job_set, "failurePolicy", "rules")
    for rule in [UNKNOWN] if rules is UNKNOWN else items(rules):
        conditions = (
            _holds(dig(rule, "onJobFailureReasons"), lambda each: each == failure.reason),
            _holds(dig(rule, "onJobFailureMessagePatterns"), lambda each: _says(each, failure)),
            _holds(
                dig(rule, "targetReplicatedJobs"), lambda each: each in _names(job_set, job_spec)
            ),
        )
        if False in conditions:
            continue
        action = dig(rule, "action")
        if None in conditions or action is UNKNOWN:
            return None
        return text(action) in _FOR_FREE
    return False


def _holds(wanted: Any, matches: Callable[[str], bool | None]) -> bool | None:
    """Whether one of a list matches; an empty list matches everything."""
    if wanted is UNKNOWN:
        return None
    found = [None if each is UNKNOWN else matches(text(each)) for each in items(wanted)]
    if not found or True in found:
        return True
    return None if None in found else False


def _says(pattern: str, failure: Failure) -> bool | None:
    try:
        found = {bool(re.search(pattern, message)) for message in failure.messages}
    except re.error:  # RE2 knows a little that Python does not
        return None
    return found.pop() if len(found) == 1 else None


def _names(job_set: Any, job_spec: Any) -> list[str]:
    jobs = items(dig(job_set, "replicatedJobs"))
    return [text(dig(each, "name")) for each in jobs if dig(each, "template", "spec") is job_spec]
