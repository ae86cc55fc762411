"""Whether a Job that may run on nodes that can be taken away survives the loss of one.

Flex-start nodes are not taken away, they end after at most seven days, at a time known beforehand.
A Job that fits into that is not interrupted, so only its deadline is judged there.
Sources, read on 2026-11-30: kubernetes.io/docs/concepts/workloads/controllers/job (pod failure
policy: rules are evaluated in order and the first that matches decides; backoff limit; deadlines)
and kubernetes/kubernetes pkg/controller/job/pod_failure_policy.go.
"""

from collections.abc import Iterator
from typing import Any

from spotproof_gke.rules.finding import Finding, Stack, shown
from spotproof_gke.rules.job_set_restarts import Failure, by_pod_failure_policy, restarts_for_free
from spotproof_gke.rules.pool_capacity import NODE_LIFETIME_SECONDS
from spotproof_gke.rules.reading import UNKNOWN, dig, items, number, text
from spotproof_gke.rules.spot_jobs import SpotJob, interruptible_jobs, spot_jobs

INTERRUPTED_CODES = (143, 137)
"""How a container ends by SIGTERM, or by SIGKILL after its grace period (128 + signal)."""

LIFETIME_KEY = "cloud.google.com/gke-max-run-duration-seconds"
"""Selector by which a pod asks for a shorter lifetime of its auto-provisioned flex-start node."""


def restart_policy(stack: Stack) -> Iterator[Finding]:
    """A pod failure policy needs `Never`; with another policy the kubelet restarts in place."""
    for job in spot_jobs(stack):
        value = dig(job.pod, "restartPolicy")
        if text(value) != "Never":
            yield _finding(
                job,
                f"restartPolicy is {_said(value)}",
                "the pods of a Job on Spot nodes are never restarted in place",
                "set restartPolicy: Never in the pod template",
                value is not UNKNOWN,
            )


def failure_policy(stack: Stack) -> Iterator[Finding]:
    """The loss of a node must not count against the retry limit."""
    for job in spot_jobs(stack):
        why = _counts_disruption(job)
        if why:
            found, certain = why
            yield _finding(
                job,
                found,
                "a Job on Spot nodes does not count a lost node as a failure",
                "put first a rule with action Ignore and onPodConditions type DisruptionTarget",
                certain,
            )


def retry_limit(stack: Stack) -> Iterator[Finding]:
    """Absent is Kubernetes' own limit of 6. A JobSet may restart the Job instead."""
    for job in spot_jobs(stack):
        key = "backoffLimit"
        if dig(job.spec, "backoffLimitPerIndex") is not None:
            key = "backoffLimitPerIndex"
        value, limit = dig(job.spec, key), number(dig(job.spec, key))
        restarts = dig(job.job_set, "failurePolicy", "maxRestarts")
        few = value is UNKNOWN or (limit is not None and limit < 1)
        if few and (number(restarts) or 0) < 1:
            yield _finding(
                job,
                f"{key} is {shown(value)}",
                "a Job on Spot nodes may retry",
                "set it to at least 1, or leave backoffLimit out for 6",
                UNKNOWN not in (value, restarts),
            )


def deadline(stack: Stack) -> Iterator[Finding]:
    """Interruptions that are not counted could otherwise go on for ever.

    A deadline of the Job or of its pods will do. On flex-start nodes alone none is needed, and one
    beyond the lifetime of a node says that the Job cannot end there.
    """
    for job in interruptible_jobs(stack):
        stated = (dig(job.spec, "activeDeadlineSeconds"), dig(job.pod, "activeDeadlineSeconds"))
        limits = [limit for limit in map(number, stated) if limit and limit > 0]
        value = UNKNOWN if not limits and UNKNOWN in stated else min(limits, default=stated[0])
        if job.landing.spot is not True:
            yield from _beyond_lifetime(job, value)
        if job.landing.spot is not False and not limits:
            yield _finding(
                job,
                f"activeDeadlineSeconds is {_said(value)}",
                "a Job on Spot nodes ends at some time",
                "set activeDeadlineSeconds to the longest that the work may take",
                value is not UNKNOWN,
            )


def _beyond_lifetime(job: SpotJob, limit: Any) -> Iterator[Finding]:
    asked = dig(job.pod, "nodeSelector", LIFETIME_KEY)
    most = min(number(asked) or NODE_LIFETIME_SECONDS[1], NODE_LIFETIME_SECONDS[1])
    stated = number(limit) or 0
    if (limit is UNKNOWN and job.landing.spot is False) or (
        stated > (0 if asked is UNKNOWN else most)
    ):
        yield _finding(
            job,
            f"activeDeadlineSeconds is {shown(limit)}, and a flex-start node lives {shown(most)} s",
            "a Job on flex-start nodes ends before its node",
            "split the work, or lower the deadline",
            UNKNOWN not in (limit, asked),
        )


def _counts_disruption(job: SpotJob) -> tuple[str, bool] | None:
    """Why a lost node counts as a failure, and whether that is certain; None when it does not."""
    rules = dig(job.spec, "podFailurePolicy", "rules")
    found = "no rule of podFailurePolicy ignores the condition DisruptionTarget"
    failures, doubt = _counted(job), False
    for place, rule in enumerate([UNKNOWN] if rules is UNKNOWN else items(rules)):
        action, matches = dig(rule, "action"), _matches_lost_node(rule)
        if matches and text(action) == "Ignore":
            earlier = "whether an earlier rule of podFailurePolicy matches first"
            return (earlier, False) if doubt else None
        if matches and text(action):
            found = f"podFailurePolicy.rules[{place}] matches a lost node first, with action "
            found += shown(text(action))
            failed = [by_pod_failure_policy(rule, place, INTERRUPTED_CODES)]
            failures = failed if text(action) == "FailJob" else failures
            break
        if matches is not False:
            doubt = True
            failures = [*failures, by_pod_failure_policy(rule, place, INTERRUPTED_CODES)]
    restarted = [restarts_for_free(job.job_set, job.spec, each) for each in failures]
    return None if all(restarted) else (found, not doubt and None not in restarted)


def _counted(job: SpotJob) -> list[Failure]:
    """How the Job fails once it has counted too many lost nodes."""
    if dig(job.spec, "backoffLimitPerIndex") is None:
        return [Failure("BackoffLimitExceeded", ("Job has reached the specified backoff limit",))]
    return [
        Failure("FailedIndexes", ("Job has failed indexes",)),
        Failure(
            "MaxFailedIndexesExceeded",
            ("Job has exceeded the specified maximal number of failed indexes",),
        ),
    ]


def _matches_lost_node(rule: Any) -> bool | None:
    """Whether a rule matches a pod that was stopped with its node; None when that is not known."""
    conditions, codes = dig(rule, "onPodConditions"), dig(rule, "onExitCodes")
    if codes is not None and codes is not UNKNOWN:
        operator, values = dig(codes, "operator"), dig(codes, "values")
        if UNKNOWN in (operator, values) or any(value is UNKNOWN for value in items(values)):
            return None
        listed = [number(value) for value in items(values)]
        held = [code in listed for code in INTERRUPTED_CODES]
        return any(held) if text(operator) == "In" else not all(held)
    doubt = UNKNOWN in (conditions, codes)
    for condition in items(conditions):
        kind, status = dig(condition, "type"), dig(condition, "status")
        if text(kind) == "DisruptionTarget" and text(status or "True") == "True":
            return True
        doubt = doubt or UNKNOWN in (kind, status)
    return None if doubt else False


def _finding(job: SpotJob, value: str, rule: str, fix: str, certain: bool) -> Finding:
    spot, flex_start = job.landing.spot, job.landing.flex_start
    there = flex_start if spot is False else spot
    return job.resource.finding(f"{job.where}{value}", rule, fix, certain and there is True)


def _said(value: Any) -> str:
    return "not set" if value is None else shown(value)
