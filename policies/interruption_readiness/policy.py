"""Policies of the pack: what runs on Spot nodes can lose its node and go on."""

from pulumi_policy import Severity

from spotproof_gke.policy_adapter import Rule, policies_of
from spotproof_gke.rules import (
    checkpoint_buckets,
    checkpoint_location,
    job_readiness,
    pool_repair,
    save_budget,
    stop_signal,
    work_queues,
)

_TAGS = ("gke", "kubernetes", "spot", "reliability")
_QUEUE_TAGS = ("gcp", "pubsub", "spot", "reliability")
_BUCKET_TAGS = ("gcp", "storage", "cost")
_WORKLOADS = ("kubernetes:", "gcp:container/")
_QUEUES = ("gcp:pubsub/subscription:", *_WORKLOADS)
_BUCKETS = ("gcp:storage/bucket:", *_WORKLOADS)

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
            "The first rule of podFailurePolicy that matches a lost node ignores it, in a Job that "
            "may run on Spot nodes, so that it does not use up a retry."
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
            "A Job that may run on Spot nodes has a deadline: interruptions that do not count "
            "could go on for ever. On flex-start nodes it lies within a node's life of 7 days."
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
            "No shell stands between SIGTERM and a program that may lose its node; a shell does "
            "not pass the signal on, so nothing is saved."
        ),
        remediation="Start the program itself, or put exec before it in the shell's script.",
        severity=Severity.MEDIUM,
        types=_WORKLOADS,
        check_stack=lambda stack, config: stop_signal.shells_before_programs(stack),
        mandatory=False,
        tags=_TAGS,
    ),
    Rule(
        name="pod-grace-within-budget",
        display_name="Grace period that Spot nodes keep",
        description=(
            "The grace period of a pod that may lose its node fits into the termination budget of "
            "its pool: 15 s unless the pool extends the shutdown."
        ),
        remediation="Lower terminationGracePeriodSeconds, or extend the shutdown of the Spot pool.",
        severity=Severity.LOW,
        types=_WORKLOADS,
        check_stack=lambda stack, config: save_budget.pod_grace(stack),
        mandatory=False,
        tags=_TAGS,
    ),
    Rule(
        name="save-estimate-within-budget",
        display_name="Save that fits into the notice",
        description=(
            "The save time that a program on Spot states in SPOTPROOF_SAVE_ESTIMATE_SECONDS fits "
            "into the termination budget of its pool."
        ),
        remediation=(
            "Make the save smaller or asynchronous, or extend the shutdown of the Spot pool."
        ),
        severity=Severity.HIGH,
        types=_WORKLOADS,
        check_stack=lambda stack, config: save_budget.save_estimates(stack),
        mandatory=False,
        tags=_TAGS,
    ),
    Rule(
        name="spot-job-checkpoint-location",
        display_name="Spot Job that names a place for checkpoints",
        description=(
            "A Job with GPUs or TPUs that may run on Spot nodes for more than an hour names a "
            "bucket or a lasting volume for its checkpoints. Its region is for region_match."
        ),
        remediation=(
            "Set SPOTPROOF_CHECKPOINT_LOCATION to gs://BUCKET/PATH, or mount a bucket or a "
            "persistent volume."
        ),
        severity=Severity.MEDIUM,
        types=_BUCKETS,
        check_stack=lambda stack, config: checkpoint_location.checkpoint_location(stack),
        mandatory=False,
        tags=_TAGS,
    ),
    Rule(
        name="queue-dead-letter",
        display_name="Queue that sets poison aside",
        description=(
            "A pull subscription of interruptible workers has a dead-letter topic; a message that "
            "always fails would otherwise come back until it is dropped."
        ),
        remediation=(
            "Add a deadLetterPolicy with a topic that has a subscription, and maxDeliveryAttempts "
            "100, since each preemption uses up one."
        ),
        severity=Severity.MEDIUM,
        types=_QUEUES,
        check_stack=lambda stack, config: work_queues.dead_letters(stack),
        mandatory=False,
        tags=_QUEUE_TAGS,
    ),
    Rule(
        name="queue-message-retention",
        display_name="Queue that keeps work for 7 days",
        description=(
            "A pull subscription of interruptible workers keeps messages for at least 7 days, "
            "Pub/Sub's own default; a backlog that waits for capacity is dropped otherwise."
        ),
        remediation="Leave messageRetentionDuration out, or set it to 604800s to 2678400s.",
        severity=Severity.MEDIUM,
        types=_QUEUES,
        check_stack=lambda stack, config: work_queues.retention(stack),
        mandatory=False,
        tags=_QUEUE_TAGS,
    ),
    Rule(
        name="queue-subscription-expires",
        display_name="Queue that never expires",
        description=(
            "A pull subscription of interruptible workers never expires; left out, Pub/Sub deletes "
            "it with its backlog after 31 days without a pull."
        ),
        remediation='Set expirationPolicy with ttl "".',
        severity=Severity.MEDIUM,
        types=_QUEUES,
        check_stack=lambda stack, config: work_queues.expiry(stack),
        mandatory=False,
        tags=_QUEUE_TAGS,
    ),
    Rule(
        name="checkpoint-bucket-soft-delete",
        display_name="Checkpoint bucket without soft delete",
        description=(
            "A checkpoint bucket keeps no deleted objects: checkpoints that are replaced all the "
            "time are paid for many times over. Left out, the server keeps them for 7 days."
        ),
        remediation="Set softDeletePolicy.retentionDurationSeconds to 0.",
        severity=Severity.LOW,
        types=_BUCKETS,
        check_stack=lambda stack, config: checkpoint_buckets.soft_delete(stack),
        mandatory=False,
        tags=_BUCKET_TAGS,
        mend=lambda resource, config: checkpoint_buckets.soft_delete_mend(resource),
    ),
    Rule(
        name="checkpoint-bucket-lifecycle",
        display_name="Checkpoint bucket that ends old data",
        description=(
            "A checkpoint bucket has a lifecycle rule that deletes old objects, or at least what "
            "interrupted uploads leave behind, which is billed and not listed."
        ),
        remediation=(
            "Add a lifecycleRule with action AbortIncompleteMultipartUpload and condition age, and "
            "one with Delete where no run needs its oldest checkpoints."
        ),
        severity=Severity.LOW,
        types=_BUCKETS,
        check_stack=lambda stack, config: checkpoint_buckets.lifecycle(stack),
        mandatory=False,
        tags=_BUCKET_TAGS,
    ),
    Rule(
        name="flex-start-pool-auto-repair",
        display_name="Flex-start pool without auto-repair",
        description=(
            "A flex-start node pool has auto-repair off, as its documentation asks: a repair would "
            "end the run, and the node would have to be waited for again."
        ),
        remediation="Set management.autoRepair to false.",
        severity=Severity.MEDIUM,
        types=("gcp:container/",),
        check_resource=lambda resource, config: pool_repair.flex_start_repair(resource),
        mandatory=False,
        tags=_TAGS,
    ),
]

POLICIES = policies_of(RULES)
