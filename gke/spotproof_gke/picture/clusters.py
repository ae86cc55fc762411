"""Clusters of a stack, and what may run where in them."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from spotproof_gke.audit.evidence import printable
from spotproof_gke.capacity import COMPUTE_CLASS_KEY
from spotproof_gke.picture.made_on_demand import classes_in, limits_of
from spotproof_gke.picture.overview import Card, Cluster, Kind, Lane, Pods, Tone
from spotproof_gke.picture.placing import ORDINARY, SYSTEM, may_run
from spotproof_gke.picture.pools import DrawnPool, drawn_pools
from spotproof_gke.plurals import counted
from spotproof_gke.rules import clusters as found_clusters
from spotproof_gke.rules.cluster_evidence import ClusterEvidence
from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.interruptible_pods import Landings
from spotproof_gke.rules.reading import UNKNOWN, dig, is_true, items, mapping, text
from spotproof_gke.rules.system_pods import system_pods
from spotproof_gke.rules.workloads import PodSpec, kind_of, namespace_of, pod_specs

MOST_MATCHED = 300
"""How many different pools, and how many different pods, are held against each other."""

_CHARTS = ("kubernetes:helm.sh/v3:Release",)
_SCHEDULING = ("nodeSelector", "tolerations", "affinity", "priorityClassName")


@dataclass(frozen=True)
class _Work:
    """A workload: its name, its pod specification, and what stands for how that is scheduled."""

    name: str
    spec: Any
    is_system: bool
    key: str


def survey_clusters(stack: Stack) -> tuple[list[Cluster], list[str]]:
    """The clusters with their lanes, and what is not shown."""
    evidence = ClusterEvidence(stack)
    owned: dict[int, list[Resource]] = defaultdict(list)
    strangers: list[Resource] = []
    for pool in stack.of_type(found_clusters.NODE_POOL):
        owner = found_clusters.owner_of(pool, evidence.declared)
        (owned[id(owner)] if owner else strangers).append(pool)
    work, notes = _work_by_cluster(stack, evidence)
    made = []
    for cluster in evidence.declared:
        resources = [cluster.resource, *owned[id(cluster)]]
        made.append(_cluster(stack, cluster, resources, work[id(cluster)], notes))
    if strangers:
        pools = drawn_pools(strangers)
        loose = work[0] if not evidence.declared else []
        lanes = _lanes(pools, loose, [], notes)
        made.append(Cluster("a cluster that is not in this stack", "", lanes))
    elif not evidence.declared and work[0]:
        notes.append(f"{counted(len(work[0]), 'workload')} without a cluster in this stack")
    return made, list(dict.fromkeys(notes))


def _work_by_cluster(
    stack: Stack, evidence: ClusterEvidence
) -> tuple[dict[int, list[_Work]], list[str]]:
    found: dict[int, list[_Work]] = defaultdict(list)
    notes: list[str] = []
    everywhere = undecided = 0
    charts = len(stack.of_type(*_CHARTS))
    for resource in stack.resources:
        if not kind_of(resource) or resource.type.endswith("Patch"):
            continue
        pods = pod_specs(resource)
        everywhere += any(pod.kind == "DaemonSet" for pod in pods)
        on = evidence.runs_on(resource)
        undecided += len(on) > 1 and bool(pods)
        for pod in pods:
            if pod.kind != "DaemonSet":
                for cluster in on or [None]:
                    found[id(cluster) if cluster else 0].append(_work(resource, pod))
    if everywhere:
        notes.append(
            f"{counted(everywhere, 'DaemonSet')} not drawn: their pods run on every node that "
            "they tolerate"
        )
    if charts:
        notes.append(f"{counted(charts, 'Helm release')} not drawn: no state holds what is in them")
    if undecided:
        notes.append(
            f"{counted(undecided, 'workload')} of which the cluster is not known: drawn in each"
        )
    return found, notes


def _work(resource: Resource, pod: PodSpec) -> _Work:
    name = text(dig(resource.get("metadata"), "name")) or resource.name
    namespace = namespace_of(resource)
    place = "" if namespace is UNKNOWN else f"{namespace}/"
    spec = pod.spec
    parts = {key: mapping(spec).get(key) for key in _SCHEDULING}
    asked = [mapping(each).get("resources") for each in items(mapping(spec).get("containers"))]
    key = "?" if spec is UNKNOWN else json.dumps([parts, asked], default=repr, sort_keys=True)
    is_system = any(each.certain for each in system_pods(resource))
    return _Work(printable(f"{pod.kind} {place}{name}"), spec, is_system, key)


def _cluster(
    stack: Stack,
    cluster: found_clusters.Cluster,
    resources: Sequence[Resource],
    work: Sequence[_Work],
    notes: list[str],
) -> Cluster:
    resource = cluster.resource
    name = printable(cluster.names[0])
    place = "location not known" if cluster.location is UNKNOWN else text(cluster.location)
    if is_true(resource.get("enableAutopilot")):
        about = f"{printable(place)}, Autopilot"
        return Cluster(name, about, _autopilot_lanes(work, Landings(stack)))
    about = f"{printable(place)}, Standard" if place else "Standard"
    made_on_demand = [*limits_of(resource), *classes_in(stack)]
    return Cluster(name, about, _lanes(drawn_pools(resources), work, made_on_demand, notes))


def _lanes(
    pools: Sequence[DrawnPool],
    work: Sequence[_Work],
    made_on_demand: Sequence[Card],
    notes: list[str],
) -> list[Lane]:
    by_lane: dict[tuple[Kind, str], list[DrawnPool]] = defaultdict(list)
    for pool in pools:
        by_lane[pool.lane].append(pool)
    matched = set(map(id, pools[:MOST_MATCHED]))
    distinct = {each.key: each.spec for each in work}
    specs = dict(list(distinct.items())[:MOST_MATCHED])
    if len(pools) > MOST_MATCHED or len(distinct) > MOST_MATCHED:
        notes.append(
            f"a large stack: only the first {MOST_MATCHED} pools and kinds of pods were held "
            "against each other"
        )
    placed: set[str] = set()
    lanes = []
    order = list(Kind)
    for (kind, gate), members in sorted(
        by_lane.items(), key=lambda each: (order.index(each[0][0]), each[0][1])
    ):
        held = [pool for pool in members if id(pool) in matched]
        pods = [*_everybody(kind, gate, held)]
        answers = {key: _admitting(spec, held) for key, spec in specs.items()}
        for each in work:
            on, certain = answers.get(each.key, ([], True))
            if on:
                placed.add(each.key)
                pods.append(_entry(each, kind, on if len(on) < len(held) else [], certain))
        words = f"taint: {gate}" if gate else "no taint: open to every pod"
        lanes.append(Lane(kind, words, pods, [pool.card for pool in members]))
    left = [each for each in work if each.key in specs and each.key not in placed]
    lanes += _rest(left, made_on_demand)
    return lanes


def _admitting(spec: Any, pools: Sequence[DrawnPool]) -> tuple[list[str], bool]:
    """The names of the pools that a pod may run on, and whether that is certain."""
    answers = [(pool, may_run(spec, pool.target)) for pool in pools]
    sure = [pool.card.name for pool, answer in answers if answer]
    return (sure, True) if sure else ([p.card.name for p, a in answers if a is None], False)


def _entry(work: _Work, kind: Kind, on: Sequence[str], certain: bool) -> Pods:
    ends = kind in (Kind.SPOT, Kind.FLEX_START, Kind.QUEUED)
    tone = Tone.SYSTEM if work.is_system else Tone.WORK
    if work.is_system and ends and certain:
        return Pods(work.name, Tone.WARNING, "a system workload on nodes that go", certain)
    shown = ", ".join(on[:2]) + (f" and {len(on) - 2} more" if len(on) > 2 else "")
    return Pods(work.name, tone, f"on {shown}" if on else "", certain)


def _everybody(kind: Kind, gate: str, pools: Sequence[DrawnPool]) -> Iterator[Pods]:
    """Who may run in a lane whatever it is called."""
    ordinary = any(may_run(ORDINARY, pool.target) for pool in pools)
    system = any(may_run(SYSTEM, pool.target) for pool in pools)
    stays = kind in (Kind.ON_DEMAND, Kind.RESERVATION)
    if system and not stays and kind is not Kind.UNKNOWN:
        yield Pods("system pods", Tone.WARNING, "no taint keeps them off")
    elif system:
        yield Pods("system pods", Tone.SYSTEM, "DNS, metrics, autoscaling")
    if ordinary:
        tone = Tone.ANY if stays or kind is Kind.UNKNOWN else Tone.WARNING
        yield Pods("any other pod", tone, "that selects no other nodes")
    elif gate and not system:
        yield Pods(
            f"pods that tolerate {'these taints' if ', ' in gate else 'this taint'}", Tone.ASKING
        )


def _rest(work: Sequence[_Work], made_on_demand: Sequence[Card]) -> Iterator[Lane]:
    """What runs on none of the pools: on nodes that GKE makes as pods ask for them, or nowhere."""
    if made_on_demand:
        pods = [Pods("pods that no pool fits", Tone.ASKING, "GKE makes one for them")]
        pods += [_entry(each, Kind.AUTO, [_class_of(each)], True) for each in work]
        yield Lane(Kind.AUTO, "", pods, made_on_demand)
    elif work:
        pods = [Pods(each.name, Tone.WARNING, "fits no pool of the cluster") for each in work]
        yield Lane(Kind.NOWHERE, "", pods, [])


def _class_of(work: _Work) -> str:
    chosen = text(dig(work.spec, "nodeSelector", COMPUTE_CLASS_KEY))
    return printable(f"class {chosen}") if chosen else "a pool made for it"


def _autopilot_lanes(work: Sequence[_Work], landings: Landings) -> list[Lane]:
    lanes: dict[Kind, list[Pods]] = {
        Kind.ON_DEMAND: [
            Pods("system pods", Tone.SYSTEM, "Google's own"),
            Pods("any other pod", Tone.ANY, "that asks for nothing else"),
        ],
        Kind.SPOT: [Pods("pods that select Spot", Tone.ASKING)],
    }
    answers = {each.key: landings.of(each.spec) for each in work}
    for each in work:
        landing = answers[each.key]
        for answer, kind in ((landing.spot, Kind.SPOT), (landing.flex_start, Kind.FLEX_START)):
            if answer is not False:
                entry = _entry(each, kind, [], answer is True)
                lanes.setdefault(kind, []).append(entry)
        if landing.may_end is not True:
            entry = _entry(each, Kind.ON_DEMAND, [], landing.may_end is False)
            lanes[Kind.ON_DEMAND].append(entry)
    kept = "Google keeps all other pods off"
    return [
        Lane(kind, "" if kind is Kind.ON_DEMAND else kept, pods, []) for kind, pods in lanes.items()
    ]
