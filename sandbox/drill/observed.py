"""What can be seen of the promises in a running cluster, without touching it.

The rules are those of the audit and the policy packs.
"""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.resources.apps_v1 import DaemonSet, Deployment, StatefulSet
from lightkube.resources.batch_v1 import CronJob, Job
from lightkube.resources.core_v1 import Namespace, Node, Pod

from sandbox.drill.mine import plain
from sandbox.drill.report import Outcome, Promise, Report
from sandbox.drill.stage import FLEX_START, NAMES, ON_DEMAND, SPOT, labels_of
from sandbox.drill.terminal import Board
from spotproof_gke.audit.dump import add_objects
from spotproof_gke.audit.evidence import Evidence, Source
from spotproof_gke.audit.judge import Found, judge
from spotproof_gke.capacity import PROVISIONING_KEY

_FORBIDDEN = 403
_KINDS = (
    (Deployment, "Deployment", "apps/v1"),
    (StatefulSet, "StatefulSet", "apps/v1"),
    (DaemonSet, "DaemonSet", "apps/v1"),
    (Job, "Job", "batch/v1"),
    (CronJob, "CronJob", "batch/v1"),
)


@dataclass(frozen=True)
class Observation:
    """A promise and the rules that see it broken."""

    promise: Promise
    rules: tuple[str, ...]


OBSERVATIONS = (
    Observation(
        Promise("system-pods-off-spot-now", "System pods are off Spot and flex-start nodes now"),
        ("system-pod-on-spot",),
    ),
    Observation(
        Promise("on-demand-home", "There are on-demand nodes for system pods"),
        ("on-demand-home-for-system-pods",),
    ),
    Observation(
        Promise("spot-keeps-others-off", "Spot nodes have a taint that keeps other pods off"),
        ("spot-pool-taint",),
    ),
    Observation(
        Promise(
            "flex-start-keeps-others-off",
            "Flex-start nodes have a taint that keeps other pods off",
        ),
        ("flex-start-pool-taint",),
    ),
    Observation(
        Promise("jobs-outlast-interruptions", "Jobs on Spot do not count interruptions as errors"),
        (
            "spot-job-restart-policy",
            "spot-job-failure-policy",
            "spot-job-retry-limit",
            "spot-job-deadline",
        ),
    ),
)


def observe(client: Client, report: Report, board: Board) -> Report:
    """Looks at a cluster once, and puts what it saw into the report.

    Raises:
        ApiError, HTTPError, ConfigError: nodes or pods cannot be listed.
    """
    board.begin([each.promise for each in OBSERVATIONS])
    started = time.monotonic()
    evidence, nodes, pods = _evidence(client)
    judged = judge(evidence)
    seconds = time.monotonic() - started
    looked = _looked_at(nodes, pods)
    for each in OBSERVATIONS:
        broken = [found for found in judged.findings if found.entry.name in each.rules]
        doubts = [found for found in judged.doubts if found.entry.name in each.rules]
        kept = False if broken else None if doubts else True
        text = _said(broken or doubts) or f"nothing found among {looked}"
        outcome = Outcome(each.promise, kept, text, seconds)
        report.outcomes.append(outcome)
        board.end(outcome)
    for number, note in enumerate(evidence.notes, 1):
        report.facts[f"note {number}"] = note
    return report


def _evidence(client: Client) -> tuple[Evidence, list[Any], list[Any]]:
    nodes = [plain(node, "Node") for node in client.list(Node)]
    pods = [plain(pod, "Pod") for pod in client.list(Pod, namespace="*")]
    objects = [*nodes, *pods]
    evidence, source = Evidence(), Source("the cluster", "cluster")
    for resource, kind, version in _KINDS:
        try:
            found = list(client.list(resource, namespace="*"))
        except ApiError as error:
            if error.status.code != _FORBIDDEN:
                raise
            evidence.notes.append(f"no permission to list {kind}: they were not judged")
            continue
        objects += [plain(thing, kind, version) for thing in found]
    try:
        objects += [plain(each, "Namespace") for each in client.list(Namespace)]
    except ApiError as error:
        if error.status.code != _FORBIDDEN:
            raise
    add_objects(evidence, source, objects)
    evidence.sources.append(source)
    return evidence, nodes, pods


def _looked_at(nodes: list[Mapping[str, Any]], pods: list[Mapping[str, Any]]) -> str:
    count = Counter(labels_of(node).get(PROVISIONING_KEY, ON_DEMAND) for node in nodes)
    said = [f"{count[key]} {NAMES[key]}" for key in (ON_DEMAND, SPOT, FLEX_START)]
    return f"{', '.join(said)} nodes and {len(pods)} pods"


def _said(found: list[Found]) -> str:
    if not found:
        return ""
    first = found[0]
    more = f" (and {len(found) - 1} more findings)" if len(found) > 1 else ""
    return f"{first.where}: {first.finding.value}; fix: {first.finding.fix}{more}"
