"""Runs the rules over the evidence."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from spotproof_gke.audit.catalogue import ENTRIES, Entry
from spotproof_gke.audit.evidence import Evidence, printable
from spotproof_gke.audit.views import Views
from spotproof_gke.rules.bucket_references import FUSE_DRIVER
from spotproof_gke.rules.clusters import NODE_POOL
from spotproof_gke.rules.finding import Finding, Resource
from spotproof_gke.rules.live_pods import POD, controller_of
from spotproof_gke.rules.reading import dig, mapping, text
from spotproof_gke.rules.workloads import kind_of, namespace_of

_RECONCILED_FIX = (
    "GKE undoes changes of this workload: keep room for it on an on-demand pool, or give its "
    "namespace a compute class without Spot (label "
    "cloud.google.com/default-compute-class-non-daemonset)"
)
_BUCKET = "gcp:storage/bucket:Bucket"


@dataclass(frozen=True)
class Found:
    """A finding of the audit.

    Attributes:
        entry: The rule.
        where: The resource, with its kind.
        source: What it was read from.
        finding: What the predicate said.
        urn: The URN of a resource of a state, or "".
    """

    entry: Entry
    where: str
    source: str
    finding: Finding
    urn: str = ""


@dataclass(frozen=True)
class Report:
    """The result of an audit.

    Attributes:
        evidence: What was read.
        findings: What is certain, worst first.
        doubts: What could not be known.
        notes: What was not seen or not judged, in sentences.
    """

    evidence: Evidence
    findings: list[Found]
    doubts: list[Found]
    notes: list[str]


def judge(evidence: Evidence, config: Mapping[str, Mapping[str, Any]] | None = None) -> Report:
    """Everything that the rules find.

    Args:
        evidence: What was read.
        config: The configuration of each rule by the rule's name, as the policy packs take it. A
            rule whose level is `disabled` is left out.
    """
    views, given = Views(evidence), config or {}
    resources = {each.urn: each for each in [*evidence.live, *evidence.declared] if each.urn}
    live = ", ".join(source.name for source in evidence.sources if source.kind != "state")
    found: dict[tuple[str, ...], Found] = {}
    told: dict[tuple[str, str, str, bool], Entry] = {}
    for entry in ENTRIES:
        settings = given.get(entry.name, {})
        if settings.get("enforcementLevel") == "disabled":
            continue
        for finding in entry.findings(views, settings):
            each = _found(entry, finding, resources, evidence, live)
            # A rule may look at a workload twice, as it is declared and as it runs.
            place = (entry.name, each.where, each.urn, finding.certain)
            if told.setdefault(place, entry) is entry:
                found.setdefault((*place[:3], finding.value), each)
    every = list(found.values())
    return Report(
        evidence,
        [each for each in every if each.finding.certain],
        [each for each in every if not each.finding.certain],
        [*evidence.notes, *_notes(evidence, views)],
    )


def _found(
    entry: Entry,
    finding: Finding,
    resources: Mapping[str, Resource],
    evidence: Evidence,
    live: str,
) -> Found:
    resource = resources.get(finding.urn)
    if resource is None:
        return Found(entry, finding.resource, live, finding)
    source = evidence.origins.get(finding.urn, live)
    kind, name = kind_of(resource) or resource.type.rpartition(":")[2], resource.name
    if resource.type == POD and controller_of(resource)[0]:
        # A pod is judged in the place of what made it when that was not seen.
        kind, owner = controller_of(resource)
        name = f"{namespace_of(resource)}/{owner}"
    urn = "" if finding.urn.startswith("live:") else finding.urn
    if entry.name == "system-workload-off-spot" and _is_reconciled(resource):
        finding = replace(finding, fix=_RECONCILED_FIX)
    return Found(entry, printable(f"{kind} {name}"), source, finding, urn)


def _is_reconciled(resource: Resource) -> bool:
    """Whether GKE sets an object back when somebody changes it.

    Source: kubernetes/kubernetes cmd/kube-addon-manager/README.md, read on 2026-11-30.
    """
    labels = mapping(dig(resource.get("metadata"), "labels"))
    return text(labels.get("addonmanager.kubernetes.io/mode")) == "Reconcile"


def _notes(evidence: Evidence, views: Views) -> Iterator[str]:
    """What an audit of this evidence cannot see."""
    if any(node.autopilot for node in views.nodes):
        yield (
            "an Autopilot cluster: its nodes and system pods are Google's and were not judged, "
            "only workloads that ask for Spot themselves"
        )
    kinds = {each.type for each in evidence.live}
    if POD in kinds and not views.nodes:
        yield "no nodes were seen: which pods run on Spot now was not judged"
    if views.nodes and POD not in kinds:
        yield "no pods were seen: what runs on the nodes was not judged"
    if views.nodes and not any(node.pool for node in views.nodes):
        yield "no node has the label cloud.google.com/gke-nodepool: is this a cluster of GKE?"
    standard = [node for node in views.nodes if not node.autopilot]
    if standard and not any(each.type == NODE_POOL for each in evidence.declared):
        yield "node pools that have no node now were not seen: give the state of their stack too"
    regions = {node.region for node in views.nodes if node.region}
    if len(regions) > 1:
        yield "the nodes are in several regions: no region of the cluster to judge buckets by"
    mounted = {
        text(dig(each.get("spec"), "csi", "volumeHandle")).partition(":")[0]
        for each in evidence.live
        if kind_of(each) == "PersistentVolume"
        and text(dig(each.get("spec"), "csi", "driver")) == FUSE_DRIVER
    } - {""}
    known = {text(each.get("name")) for each in evidence.settled if each.type == _BUCKET}
    missing = len(mounted - known)
    if missing:
        yield (
            f"{missing} bucket{'' if missing == 1 else 's'} of persistent volumes: where they are "
            "was not judged, since no state that was read has them"
        )
