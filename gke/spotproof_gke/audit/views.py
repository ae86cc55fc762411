"""The evidence as different rules look at it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

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
from spotproof_gke.rules.reading import mapping, number, text
from spotproof_gke.rules.spot_isolation import is_system_namespace
from spotproof_gke.rules.workloads import kind_of, namespace_of

_LIVE_CLUSTER_URN = "live:Cluster:"
_LIVE_PROVIDER_URN = "live:Provider:"
_POD_AT = {"Pod": ("spec",), "CronJob": ("spec", "jobTemplate", "spec", "template", "spec")}
_TEMPLATE_AT = ("spec", "template", "spec")


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
        live = self._evidence.live
        present = {_identity(kind_of(each), each, _own_name(each)) for each in live}
        found = list(_topmost(live, present))
        if any(node.autopilot for node in self.nodes):
            # On Autopilot the system workloads, and where they land, are Google's.
            return [each for each in found if not _is_of_the_system(each)]
        return found

    @cached_property
    def _on_spot(self) -> set[tuple[str, str, str]]:
        """Kind, namespace and name of what has pods on Spot nodes now."""
        return {
            (pod.kind, pod.namespace, pod.owner)
            for pod in live_pods(Stack(self._evidence.live))
            if pod.node and pod.node.sort in ("Spot", "preemptible")
        }

    @cached_property
    def _jobs_on_spot(self) -> set[tuple[str, str, str]]:
        """As `_on_spot`, with the makers of the Jobs in it."""
        found = set(self._on_spot)
        for each in self._evidence.live:
            if _identity(kind_of(each), each, _own_name(each)) in self._on_spot:
                found.add(_identity(*_above(each)))
        return found

    def _as_placed(self, resource: Resource) -> Resource:
        kind = kind_of(resource)
        made_by, _, owner = _above(resource)
        keys = {_identity(kind, resource, _own_name(resource)), _identity(made_by, resource, owner)}
        if not keys & self._jobs_on_spot:
            return resource
        path = _POD_AT.get(kind, _TEMPLATE_AT)
        return replace(resource, props=_with_selector(resource.props, path))


def _above(resource: Resource) -> tuple[str, Resource, str]:
    kind, name = controller_of(resource)
    return kind, resource, name


def _own_name(resource: Resource) -> str:
    return text(mapping(resource.get("metadata")).get("name"))


def _identity(kind: str, resource: Resource, name: str) -> tuple[str, str, str]:
    return kind, text(namespace_of(resource)), name


def _topmost(live: Sequence[Resource], present: set[tuple[str, str, str]]) -> Iterator[Resource]:
    """What nothing else in the dump made, and of several pods of an unseen maker the first."""
    represented: set[tuple[str, str, str]] = set()
    for each in live:
        kind, _, name = _above(each)
        maker = _identity(kind, each, name)
        if each.type == NODE or is_finished(each) or (kind and maker in present):
            continue
        if each.type == POD:
            if kind in EVERYWHERE or is_static(each) or (kind and maker in represented):
                continue
            represented.add(maker)
            spec = {k: v for k, v in mapping(each.get("spec")).items() if k != "nodeName"}
            # Where the scheduler has put a pod is not what its author asked for.
            yield replace(each, props={**each.props, "spec": spec})
        elif not (kind and number(mapping(each.get("spec")).get("replicas")) == 0):
            yield each


def _is_work(resource: Resource) -> bool:
    if kind_of(resource) == "DaemonSet":
        return False
    return not _is_of_the_system(resource)


def _is_of_the_system(resource: Resource) -> bool:
    return is_system_namespace(text(namespace_of(resource)))


def _with_selector(props: Any, path: Sequence[str]) -> Any:
    """`props` whose pod specification selects Spot nodes."""
    if not isinstance(props, Mapping):
        return props
    if not path:
        selector = {**mapping(props.get("nodeSelector")), SPOT_KEY: "true"}
        return {**props, "nodeSelector": selector}
    return {**props, path[0]: _with_selector(props.get(path[0]), path[1:])}
