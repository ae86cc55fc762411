"""The evidence as different rules look at it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

from spotproof_gke.audit.evidence import Evidence
from spotproof_gke.capacity import SPOT_KEY
from spotproof_gke.rules.clusters import CLUSTER
from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.live_nodes import NODE, LiveNode, live_nodes
from spotproof_gke.rules.live_pods import (
    EVERYWHERE,
    POD,
    controller_of,
    is_finished,
    is_static,
    live_pods,
)
from spotproof_gke.rules.reading import items, mapping, number, text
from spotproof_gke.rules.spot_isolation import is_system_namespace
from spotproof_gke.rules.workloads import kind_of, namespace_of

_LIVE_CLUSTER_URN = "live:Cluster:"
_LIVE_PROVIDER_URN = "live:Provider:"
_TEMPLATE_AT = ("spec", "template", "spec")
_POD_AT = {
    "Pod": ("spec",),
    "CronJob": ("spec", "jobTemplate", *_TEMPLATE_AT),
    "JobSet": ("spec", "replicatedJobs", "*", "template", *_TEMPLATE_AT),
}


class Identity(NamedTuple):
    """What Kubernetes tells objects of a cluster apart by."""

    kind: str
    namespace: str
    name: str


class Views:
    """The evidence by what a rule looks at; each part is made once, when first asked for.

    As in the packs, a rule for one resource gets the inputs of states, and one for all of them the
    outputs. An object of a cluster has one form only.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence

    def inputs(self, over: str) -> Sequence[Resource]:
        """Resources as their authors declare them."""
        return [*self._evidence.declared, *self._live(over)]

    def outputs(self, over: str) -> Stack:
        """All resources as they are."""
        if over not in self._stacks:
            self._stacks[over] = Stack([*self._evidence.settled, *self._live(over)])
        return self._stacks[over]

    @cached_property
    def nodes(self) -> list[LiveNode]:
        """The nodes of the cluster."""
        return live_nodes(Stack(self._evidence.live))

    @cached_property
    def _stacks(self) -> dict[str, Stack]:
        return {}

    def _live(self, over: str) -> Sequence[Resource]:
        return {
            "program": lambda: self._made_by_people,
            "work": lambda: self._work,
            "served": lambda: self._served,
            "running": lambda: self._evidence.live,
        }[over]()

    @cached_property
    def _work(self) -> list[Resource]:
        """What has pods on Spot nodes now counts as what asks for them.

        What every node or the cluster itself needs is no work that is interrupted.
        """
        return [self._as_placed(each) for each in self._made_by_people if _is_work(each)]

    @cached_property
    def _served(self) -> list[Resource]:
        """The workloads and the cluster that they run on, of which its nodes tell the region."""
        regions = {node.region for node in self.nodes if node.region}
        if len(regions) != 1:
            return self._made_by_people
        cluster = Resource(
            CLUSTER, "live cluster", _LIVE_CLUSTER_URN, {"location": next(iter(regions))}
        )
        # Rules find the cluster of a workload through what its provider depends on.
        provider = Resource(
            "pulumi:providers:kubernetes",
            "live cluster",
            _LIVE_PROVIDER_URN,
            dependencies={"kubeconfig": (_LIVE_CLUSTER_URN,)},
        )
        workloads = [
            replace(each, provider_urn=_LIVE_PROVIDER_URN) for each in self._made_by_people
        ]
        return [cluster, provider, *workloads]

    @cached_property
    def _made_by_people(self) -> list[Resource]:
        found = list(_topmost(self._evidence.live))
        if any(node.autopilot for node in self.nodes):
            # On Autopilot the system workloads, and where they land, are Google's.
            return [each for each in found if not _is_of_the_system(each)]
        return found

    @cached_property
    def _on_spot(self) -> set[Identity]:
        """What has pods on Spot nodes now, and what made the Jobs among it."""
        found = {
            Identity(pod.kind, pod.namespace, pod.owner)
            for pod in live_pods(Stack(self._evidence.live))
            if pod.node and pod.node.sort in ("Spot", "preemptible")
        }
        makers = {_maker(each) for each in self._evidence.live if _identity(each) in found}
        return found | {maker for maker in makers if maker}

    def _as_placed(self, resource: Resource) -> Resource:
        if not {_identity(resource), _maker(resource)} & self._on_spot:
            return resource
        path = _POD_AT.get(kind_of(resource), _TEMPLATE_AT)
        return replace(resource, props=_with_selector(resource.props, path))


def _identity(resource: Resource) -> Identity:
    name = text(mapping(resource.get("metadata")).get("name"))
    return Identity(kind_of(resource), text(namespace_of(resource)), name)


def _maker(resource: Resource) -> Identity | None:
    kind, name = controller_of(resource)
    return Identity(kind, text(namespace_of(resource)), name) if kind else None


def _topmost(live: Sequence[Resource]) -> Iterator[Resource]:
    """What nothing else that was seen made, and of several pods of an unseen maker the first."""
    present = {_identity(each) for each in live}
    for each in live:
        maker = _maker(each)
        if each.type == NODE or is_finished(each) or maker in present:
            continue
        if each.type == POD:
            if is_static(each) or (maker and maker.kind in EVERYWHERE):
                continue
            if maker:
                present.add(maker)
            spec = {k: v for k, v in mapping(each.get("spec")).items() if k != "nodeName"}
            # Where the scheduler has put a pod is not what its author asked for.
            yield replace(each, props={**each.props, "spec": spec})
        elif not (maker and number(mapping(each.get("spec")).get("replicas")) == 0):
            yield each


def _is_work(resource: Resource) -> bool:
    return kind_of(resource) != "DaemonSet" and not _is_of_the_system(resource)


def _is_of_the_system(resource: Resource) -> bool:
    return is_system_namespace(text(namespace_of(resource)))


def _with_selector(props: Any, path: Sequence[str]) -> Any:
    """`props` whose pod specification selects Spot nodes; `*` stands for each item of a list."""
    if path and path[0] == "*":
        return [_with_selector(each, path[1:]) for each in items(props)]
    if not isinstance(props, Mapping):
        return props
    if not path:
        selector = {**mapping(props.get("nodeSelector")), SPOT_KEY: "true"}
        return {**props, "nodeSelector": selector}
    return {**props, path[0]: _with_selector(props.get(path[0]), path[1:])}
