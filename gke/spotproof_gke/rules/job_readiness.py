"""Whether a Job that may run on Spot nodes survives the loss of one.

Source: kubernetes.io/docs/concepts/workloads/controllers/job (pod failure policy, backoff limit).
"""

from collections.abc import Iterator
from typing import Any

from spotproof_gke.rules.finding import Finding, Resource, shown
from spotproof_gke.rules.reading import UNKNOWN, dig, items, mapping, number, text
from spotproof_gke.rules.spot_scheduling import spot_scheduling
from spotproof_gke.rules.workloads import kind_of, pod_specs

_JOB_AT = {"Job": ("spec",), "CronJob": ("spec", "jobTemplate", "spec")}


def restart_policy(resource: Resource) -> Iterator[Finding]:
    """A pod failure policy needs `Never`; with another policy the kubelet restarts in place."""
    for job, certain in _spot_jobs(resource):
        value = dig(job, "template", "spec", "restartPolicy")
        if value is UNKNOWN or text(value) != "Never":
            yield resource.finding(
                f"restartPolicy is {_said(value)}",
                "the pods of a Job on Spot nodes are never restarted in place",
                "set restartPolicy: Never in the pod template",
                certain and value is not UNKNOWN,
            )


def failure_policy(resource: Resource) -> Iterator[Finding]:
    """The loss of a node must not count against the retry limit."""
    for job, certain in _spot_jobs(resource):
        ignored = _ignores_disruption(dig(job, "podFailurePolicy", "rules"))
        if ignored is not True:
            yield resource.finding(
                "no rule of podFailurePolicy ignores the condition DisruptionTarget",
                "a Job on Spot nodes does not count a lost node as a failure",
                "add a rule with action Ignore and onPodConditions type DisruptionTarget",
                certain and ignored is False,
            )


def retry_limit(resource: Resource) -> Iterator[Finding]:
    """Absent is Kubernetes' own limit of 6."""
    for job, certain in _spot_jobs(resource):
        value = dig(job, "backoffLimit")
        limit = number(value)
        if value is UNKNOWN or (limit is not None and limit < 1):
            yield resource.finding(
                f"backoffLimit is {shown(value)}",
                "a Job on Spot nodes may retry",
                "set backoffLimit to at least 1, or leave it out for 6",
                certain and value is not UNKNOWN,
            )


def deadline(resource: Resource) -> Iterator[Finding]:
    """Interruptions that are not counted could otherwise go on for ever."""
    for job, certain in _spot_jobs(resource):
        value = dig(job, "activeDeadlineSeconds")
        if value is UNKNOWN or (number(value) or 0) <= 0:
            yield resource.finding(
                f"activeDeadlineSeconds is {_said(value)}",
                "a Job on Spot nodes ends at some time",
                "set activeDeadlineSeconds to the longest that the work may take",
                certain and value is not UNKNOWN,
            )


def _spot_jobs(resource: Resource) -> Iterator[tuple[Any, bool]]:
    """The Job specification when its pods may run on Spot nodes, and whether they certainly do."""
    at = _JOB_AT.get(kind_of(resource))
    if at is None:
        return
    job = dig({"spec": resource.get("spec")}, *at)
    for pod in pod_specs(resource):
        found = [certain for _, certain in spot_scheduling(pod.spec)]
        if found:
            yield job, any(found)


def _ignores_disruption(rules: Any) -> bool | None:
    """None when it cannot be known."""
    if rules is UNKNOWN:
        return None
    doubt = False
    for rule in items(rules):
        if rule is UNKNOWN or dig(rule, "action") is UNKNOWN:
            doubt = True
            continue
        if text(mapping(rule).get("action")) != "Ignore":
            continue
        conditions = mapping(rule).get("onPodConditions")
        for condition in [UNKNOWN] if conditions is UNKNOWN else items(conditions):
            kind = dig(condition, "type")
            if text(kind) == "DisruptionTarget":
                return True
            doubt = doubt or kind is UNKNOWN
    return None if doubt else False


def _said(value: Any) -> str:
    return "not set" if value is None else shown(value)
