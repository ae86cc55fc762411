"""The rules of an audit: one entry a rule, with the predicate that the policy packs use too.

A rule of a pack has its entry here under the same name and with the same severity, or stands in
`NOT_AUDITED` with the reason; a test compares the two lists. Rules about what is only seen in a
running cluster have predicates in `rules/live_*.py`.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from spotproof_gke.audit.views import Views
from spotproof_gke.rules import (
    compute_classes,
    job_readiness,
    live_grace,
    live_nodes,
    live_placement,
    region_match,
    spot_isolation,
    stop_signal,
)
from spotproof_gke.rules.finding import Finding

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

    @property
    def takes_one(self) -> bool:
        """Whether the predicate judges one resource at a time."""
        return next(iter(inspect.signature(self.check).parameters)) == "resource"


LIVE_ONLY = ("system-pod-on-spot", "pod-grace-within-budget")
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
        "compute-class-off-spot-for-system-pods",
        Severity.HIGH,
        Over.PROGRAM,
        compute_classes.system_compute_classes,
        _SYSTEM,
        {**_NAMESPACES, **_DAEMON_SETS},
    ),
    Entry(
        "checkpoint-bucket-in-cluster-region",
        Severity.HIGH,
        Over.SERVED,
        region_match.checkpoint_buckets,
        "Every save and restore crosses regions: slow, and billed.",
        {"allowedDualRegions": "allowed_dual_regions"},
    ),
    Entry(
        "pool-zones-in-cluster-region",
        Severity.HIGH,
        Over.PROGRAM,
        region_match.pool_zones,
        "GKE refuses such zones in the middle of an update.",
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
        stop_signal.shell_before_program,
        "The program is killed without notice, and nothing is saved.",
    ),
    Entry(
        "pod-grace-within-budget",
        Severity.LOW,
        Over.RUNNING,
        live_grace.live_pod_grace,
        "A save that takes the whole grace period is cut off when the node goes.",
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
    ),
)
"""All rules, worst first."""
