"""Policies of the pack: what runs on Spot nodes can lose its node and go on."""

from pulumi_policy import Severity

from spotproof_gke.policy_adapter import Rule, policies_of
from spotproof_gke.rules import job_readiness, stop_signal

_TAGS = ("gke", "kubernetes", "spot", "reliability")
_WORKLOADS = ("kubernetes:", "gcp:container/")

RULES = [
    Rule(
        name="spot-job-restart-policy",
        display_name="Spot Job with restartPolicy Never",
        description=(
            "A Job that may run on Spot nodes has restartPolicy Never, which a pod failure policy "
            "needs."
        ),
        remediation="Set restartPolicy: Never in the Job's pod template.",
        severity=Severity.MEDIUM,
        types=_WORKLOADS,
        check_stack=lambda stack, config: job_readiness.restart_policy(stack),
        mandatory=False,
        tags=_TAGS,
    ),
    Rule(
        name="spot-job-failure-policy",
        display_name="Spot Job that ignores lost nodes",
        description=(
            "A Job that may run on Spot nodes ignores DisruptionTarget in its podFailurePolicy, so "
            "that a lost node does not use up a retry."
        ),
        remediation=(
            "Add to podFailurePolicy.rules, before others: action Ignore, onPodConditions with "
            "type DisruptionTarget."
        ),
        severity=Severity.MEDIUM,
        types=_WORKLOADS,
        check_stack=lambda stack, config: job_readiness.failure_policy(stack),
        mandatory=False,
        tags=_TAGS,
    ),
    Rule(
        name="spot-job-retry-limit",
        display_name="Spot Job that may retry",
        description="A Job that may run on Spot nodes has a backoffLimit of at least 1.",
        remediation="Set backoffLimit to at least 1, or leave it out: Kubernetes takes 6.",
        severity=Severity.MEDIUM,
        types=_WORKLOADS,
        check_stack=lambda stack, config: job_readiness.retry_limit(stack),
        mandatory=False,
        tags=_TAGS,
    ),
    Rule(
        name="spot-job-deadline",
        display_name="Spot Job with a deadline",
        description=(
            "A Job that may run on Spot nodes has activeDeadlineSeconds; interruptions that do not "
            "count could otherwise go on for ever."
        ),
        remediation="Set activeDeadlineSeconds to the longest that the work may take.",
        severity=Severity.LOW,
        types=_WORKLOADS,
        check_stack=lambda stack, config: job_readiness.deadline(stack),
        mandatory=False,
        tags=_TAGS,
    ),
    Rule(
        name="spot-program-gets-stop-signal",
        display_name="Program on Spot gets SIGTERM",
        description=(
            "No shell stands between SIGTERM and a program that may run on Spot nodes; a shell "
            "does not pass the signal on, so nothing is saved."
        ),
        remediation="Start the program itself, or put exec before it in the shell's script.",
        severity=Severity.MEDIUM,
        types=_WORKLOADS,
        check_stack=lambda stack, config: stop_signal.shells_before_programs(stack),
        mandatory=False,
        tags=_TAGS,
    ),
]

POLICIES = policies_of(RULES)
