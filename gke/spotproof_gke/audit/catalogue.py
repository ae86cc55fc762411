"""The rules of an audit: one entry a rule, with the predicate that the policy packs use too.

A rule of a pack has its entry here under the same name and with the same severity, or stands in
`NOT_AUDITED` with the reason; a test compares the two lists. Rules about what is only seen in a
running cluster have predicates in `rules/live_*.py`.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any

from spotproof_gke.audit.views import Views
from spotproof_gke.rules import (
    checkpoint_buckets,
    checkpoint_location,
    compute_classes,
    image_region,
    job_readiness,
    live_grace,
    live_nodes,
    live_placement,
    pool_refusals,
    pool_repair,
    region_config,
    region_match,
    save_budget,
    spot_isolation,
    stop_signal,
    subnet_region,
    system_pod_pools,
    topic_region,
    work_queues,
)
from spotproof_gke.rules.finding import Finding, Stack

_DOCS = "https://github.com/spotproof/spotproof/blob/main/docs"


class Severity(str, Enum):
    """How bad a finding is; the same words as in the policy packs, worst first."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Over(str, Enum):
    """What a predicate looks at; see `Views`."""

    PROGRAM = "program"
    """What people declare: in states, and in a cluster without what controllers made of it."""

    WORK = "work"
    """As `PROGRAM`, for rules about work that may be interrupted."""

    SERVED = "served"
    """As `PROGRAM`, with the live cluster as one of the resources."""

    RUNNING = "running"
    """Nodes and pods of a live cluster as they are."""


@dataclass(frozen=True)
class Entry:
    """A rule of the audit.

    Attributes:
        name: Its name: that of the policy and of its page, where there is one.
        severity: How bad a finding is.
        over: What the predicate looks at.
        check: The predicate; its first parameter is `resource` when it judges one at a time.
        why: What happens where the rule is broken, in one sentence.
        options: Arguments of the predicate by the name of the policy's configuration property.
    """

    name: str
    severity: Severity
    over: Over
    check: Callable[..., Iterable[Finding]]
    why: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def docs(self) -> str:
        """Address of the page about the rule."""
        if self.name in LIVE_ONLY:
            return f"{_DOCS}/how-to/audit.md#{self.name}"
        return f"{_DOCS}/policies/{self.name}.md"

    def wanted(self, key: str, value: object) -> str | None:
        """What a configuration property must be, when `value` is not of that type."""
        default = inspect.signature(self.check).parameters[self.options[key]].default
        if isinstance(default, bool):
            return None if isinstance(value, bool) else "true or false"
        if isinstance(default, (int, float)):
            return None if type(value) in (int, float) else "a number"
        if isinstance(default, Mapping):
            is_one = isinstance(value, Mapping) and all(isinstance(v, str) for v in value.values())
            return None if is_one else "an object of texts"
        is_list = isinstance(value, list) and all(isinstance(each, str) for each in value)
        return None if is_list else "a list of texts"

    def findings(self, views: Views, config: Mapping[str, Any]) -> Iterable[Finding]:
        """What the rule finds, with the configuration of its policy."""
        arguments = {self.options[key]: config[key] for key in self.options if key in config}
        if self.takes_one:
            for resource in views.inputs(self.over.value):
                yield from self.check(resource, **arguments)
        else:
            yield from self.check(views.outputs(self.over.value), **arguments)

    @cached_property
    def takes_one(self) -> bool:
        """Whether the predicate judges one resource at a time."""
        return next(iter(inspect.signature(self.check).parameters)) == "resource"


LIVE_ONLY = ("system-pod-on-spot",)
"""Rules that no policy can hold, since only a running cluster shows what they are about."""

NOT_AUDITED: Mapping[str, str] = {}
"""Rules of the packs that an audit leaves out, with the reason."""

_LANDS = "Any pod may land on nodes that are taken away with 30 seconds of notice."
_ENDS = "Any pod may land on nodes that end after seven days at the latest."
_SYSTEM = "When the node goes, DNS, metrics or autoscaling of the whole cluster may go with it."
_KEYS = {"acceptedTaintKeys": "accepted_keys"}
_NAMESPACES = {"systemNamespaces": "system_namespaces"}
_DAEMON_SETS = {"exemptDaemonSets": "exempt_daemon_sets"}
_PRIORITIES = {"criticalPriorityClasses": "critical_priority_classes"}
_CLUSTERS = {"clusters": "cluster_locations"}
_BUCKETS = {"allowedDualRegions": "allowed_dual_regions", **_CLUSTERS, "buckets": "assigned"}


def _region_configuration(
    stack: Stack,
    allowed_dual_regions: Sequence[str] = (),
    cluster_locations: Mapping[str, str] = {},
    assigned: Mapping[str, str] = {},
) -> Iterable[Finding]:
    return region_config.configuration_problems(allowed_dual_regions, cluster_locations)


ENTRIES: tuple[Entry, ...] = (
    Entry(
        "on-demand-home-for-system-pods",
        Severity.CRITICAL,
        Over.PROGRAM,
        spot_isolation.system_pod_homes,
        _SYSTEM,
        {"toleratedTaintKeys": "tolerated_taint_keys"},
    ),
    Entry(
        "on-demand-home-for-system-pods",
        Severity.CRITICAL,
        Over.RUNNING,
        live_nodes.live_system_pod_homes,
        _SYSTEM,
        {"toleratedTaintKeys": "tolerated_taint_keys"},
    ),
    Entry(
        "system-pod-on-spot",
        Severity.HIGH,
        Over.RUNNING,
        live_placement.system_pods_on_spot,
        _SYSTEM,
        {**_NAMESPACES, **_PRIORITIES},
    ),
    Entry(
        "spot-pool-taint",
        Severity.HIGH,
        Over.PROGRAM,
        spot_isolation.spot_pool_taints,
        _LANDS,
        _KEYS,
    ),
    Entry(
        "spot-pool-taint",
        Severity.HIGH,
        Over.RUNNING,
        live_placement.live_spot_taints,
        _LANDS,
        _KEYS,
    ),
    Entry(
        "system-workload-off-spot",
        Severity.HIGH,
        Over.PROGRAM,
        spot_isolation.system_workloads,
        _SYSTEM,
        {**_NAMESPACES, **_PRIORITIES, **_DAEMON_SETS, "acceptedTaintKeys": "spot_taint_keys"},
    ),
    Entry(
        "system-workload-off-spot-pools",
        Severity.HIGH,
        Over.PROGRAM,
        system_pod_pools.system_pods_on_spot_pools,
        _SYSTEM,
        {**_NAMESPACES, **_DAEMON_SETS, **_PRIORITIES},
    ),
    Entry(
        "compute-class-off-spot-for-system-pods",
        Severity.HIGH,
        Over.PROGRAM,
        compute_classes.system_compute_classes,
        _SYSTEM,
        {**_NAMESPACES, **_DAEMON_SETS, **_PRIORITIES},
    ),
    Entry(
        "checkpoint-bucket-in-cluster-region",
        Severity.HIGH,
        Over.SERVED,
        region_match.checkpoint_buckets,
        "Every save and restore crosses regions: slow, and billed.",
        _BUCKETS,
    ),
    Entry(
        "checkpoint-bucket-in-cluster-region",
        Severity.HIGH,
        Over.PROGRAM,
        _region_configuration,
        "What names no region matches no bucket.",
        _BUCKETS,
    ),
    Entry(
        "pool-zones-in-cluster-region",
        Severity.HIGH,
        Over.PROGRAM,
        region_match.pool_zones,
        "GKE refuses such zones in the middle of an update.",
    ),
    Entry(
        "subnet-in-cluster-region",
        Severity.HIGH,
        Over.PROGRAM,
        subnet_region.cluster_subnetworks,
        "GKE refuses such a subnetwork in the middle of an update.",
    ),
    Entry(
        "save-estimate-within-budget",
        Severity.HIGH,
        Over.WORK,
        save_budget.save_estimates,
        "The save is cut off when the node goes, every time.",
    ),
    Entry(
        "flex-start-pool-taint",
        Severity.MEDIUM,
        Over.PROGRAM,
        spot_isolation.flex_start_pool_taints,
        _ENDS,
        _KEYS,
    ),
    Entry(
        "flex-start-pool-taint",
        Severity.MEDIUM,
        Over.RUNNING,
        live_placement.live_flex_start_taints,
        _ENDS,
        _KEYS,
    ),
    Entry(
        "spot-job-restart-policy",
        Severity.MEDIUM,
        Over.WORK,
        job_readiness.restart_policy,
        "Kubernetes takes no pod failure policy with it, so a lost node counts as a failure.",
    ),
    Entry(
        "spot-job-failure-policy",
        Severity.MEDIUM,
        Over.WORK,
        job_readiness.failure_policy,
        "A lost node counts as a failure of the program; after a few the Job fails.",
    ),
    Entry(
        "spot-job-retry-limit",
        Severity.MEDIUM,
        Over.WORK,
        job_readiness.retry_limit,
        "The first error ends the Job.",
    ),
    Entry(
        "spot-program-gets-stop-signal",
        Severity.MEDIUM,
        Over.WORK,
        stop_signal.shells_before_programs,
        "The program is killed without notice, and nothing is saved.",
    ),
    Entry(
        "spot-job-checkpoint-location",
        Severity.MEDIUM,
        Over.WORK,
        checkpoint_location.checkpoint_location,
        "When the node goes, all the work since the start is lost.",
    ),
    Entry(
        "queue-dead-letter",
        Severity.MEDIUM,
        Over.WORK,
        work_queues.dead_letters,
        "A message that always fails comes back until it is dropped, and costs a node each time.",
    ),
    Entry(
        "queue-message-retention",
        Severity.MEDIUM,
        Over.WORK,
        work_queues.retention,
        "Work that waits for capacity is dropped.",
    ),
    Entry(
        "queue-subscription-expires",
        Severity.MEDIUM,
        Over.WORK,
        work_queues.expiry,
        "After 31 days without a pull the queue is deleted, with what waits in it.",
    ),
    Entry(
        "topic-storage-in-cluster-region",
        Severity.MEDIUM,
        Over.PROGRAM,
        topic_region.topic_storage,
        "Messages travel between regions, or are refused.",
        _CLUSTERS,
    ),
    Entry(
        "node-pool-accepted-by-gke",
        Severity.MEDIUM,
        Over.PROGRAM,
        pool_refusals.refused_pools,
        "The preview is clean, and the update fails after minutes.",
    ),
    Entry(
        "flex-start-pool-auto-repair",
        Severity.MEDIUM,
        Over.PROGRAM,
        pool_repair.flex_start_repair,
        "A repair ends the run, and GKE refuses the pool.",
    ),
    Entry(
        "pod-grace-within-budget",
        Severity.LOW,
        Over.RUNNING,
        live_grace.live_pod_grace,
        "A save that takes the whole grace period is cut off when the node goes.",
    ),
    Entry(
        "pod-grace-within-budget",
        Severity.LOW,
        Over.WORK,
        save_budget.pod_grace,
        "A save that takes the whole grace period is cut off when the node goes.",
    ),
    Entry(
        "checkpoint-bucket-soft-delete",
        Severity.LOW,
        Over.WORK,
        checkpoint_buckets.soft_delete,
        "Checkpoints that are replaced all the time are paid for many times over.",
    ),
    Entry(
        "checkpoint-bucket-lifecycle",
        Severity.LOW,
        Over.WORK,
        checkpoint_buckets.lifecycle,
        "Old checkpoints and interrupted uploads are paid for for ever.",
    ),
    Entry(
        "image-registry-in-cluster-region",
        Severity.LOW,
        Over.SERVED,
        image_region.image_repositories,
        "Each new Spot node pulls its images from afar.",
        {**_CLUSTERS, "publicProjects": "public_projects"},
    ),
    Entry(
        "spot-job-deadline",
        Severity.LOW,
        Over.WORK,
        job_readiness.deadline,
        "Interruptions that do not count as failures could go on, and cost, for ever.",
    ),
    Entry(
        "unlabelled-bucket-in-cluster-region",
        Severity.LOW,
        Over.PROGRAM,
        region_match.unlabelled_buckets,
        "If it holds checkpoints, every save crosses regions.",
        _BUCKETS,
    ),
)
"""All rules, worst first."""
