"""Makes nodes for pods that wait, and takes away those that are idle or at their end.

One `step` looks at everything once, so a test decides when time passes; `run` steps until told to
stop. Each pod that gets no node learns why by an event, as from GKE's cluster autoscaler.
"""

import contextlib
import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, cast

from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.models.core_v1 import EventSource, ObjectReference
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Event, Node, Pod

from sandbox.cluster.control_plane import HTTPError
from sandbox.cluster.eviction import end_node
from sandbox.cluster.nodes import LONGEST_RUN_SECONDS, NodeShape
from sandbox.cluster.offers import Cluster, Market, Offer, offers_for
from sandbox.cluster.placement import Resources, quantity, requests, selects, tolerates
from sandbox.progress import say
from spotproof_gke.capacity import ACCELERATOR_KEY, GPU_KEY, NODE_POOL_KEY

ORIGIN = "spotproof-sim/made-by"
MADE_AT = "spotproof-sim/made-at-seconds"
ENDS_AFTER = "spotproof-sim/ends-after-seconds"
IDLE_SECONDS = 600.0
"""How long GKE leaves a node idle.
Source: docs.cloud.google.com/kubernetes-engine/docs/concepts/cluster-autoscaler, 2026-11-30."""

QUIET_SECONDS = 10.0
"""How long the API server may be away before `run` says so: one that is stopped just goes."""

_NONE = Decimal(0)
_NOT_READY = "node.kubernetes.io/not-ready"
_GONE, _EXISTS = 404, 409
_PASSING = (_GONE, _EXISTS, 429, 502, 503, 504)
"""Answers of a server that is stopping, or to a step that something else overtook."""


@dataclass
class _Known:
    """A node and what is taken of it."""

    name: str
    labels: Mapping[str, str]
    taints: Sequence[Mapping[str, Any]]
    allocatable: Mapping[str, str]
    free: Resources = field(init=False)
    busy: bool = False

    def __post_init__(self) -> None:
        self.free = {name: quantity(amount) for name, amount in self.allocatable.items()}

    def can_hold(self, spec: Mapping[str, Any], wants: Resources) -> bool:
        return (
            all(self.free.get(name, _NONE) >= amount for name, amount in wants.items())
            and selects(spec, self.labels)
            and tolerates(spec, self.taints)
        )

    def take(self, wants: Resources) -> None:
        for name, amount in wants.items():
            self.free[name] = self.free.get(name, _NONE) - amount


class Autoscaler:
    """The stand-in for one cluster.

    Attributes:
        cluster: Pools, limits and classes; may be changed between steps.
        market: What cannot be had at the moment; may be changed between steps.
        reasons: For each pod that waits, `namespace/name`, why it got no node in the last step.
    """

    def __init__(
        self,
        client: Client,
        cluster: Cluster,
        market: Market | None = None,
        *,
        idle_seconds: float = IDLE_SECONDS,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.cluster = cluster
        self.market = market or Market()
        self.reasons: dict[str, str] = {}
        self._client = client
        self._idle_seconds = idle_seconds
        self._now = now
        self._numbers = itertools.count(1)
        self._idle_since: dict[str, float] = {}
        self._told: dict[str, str] = {}

    def stand_up(self) -> list[str]:
        """Makes the nodes that the pools have to begin with; returns their names."""
        return [
            self._make(Offer(f"pool {pool['name']}", self.cluster.shape(pool), (zone,)), zone)
            for pool in self.cluster.pools
            for zone in self.cluster.zones_of(pool)
            for _ in range(self.cluster.standing(pool))
        ]

    def run(
        self,
        stopped: threading.Event,
        every_seconds: float = 0.5,
        report: Callable[[str], None] = say,
    ) -> None:
        """Steps until told to stop; an error of the API ends no loop.

        A server that stops, or a moment in which something else was faster, is passed over in
        silence; any other error is reported once, and so is a server that stays away.
        """
        told: set[str] = set()
        away_since: float | None = None
        while not stopped.wait(every_seconds):
            try:
                self.step()
                away_since = None
                continue
            except (ApiError, HTTPError, OSError) as error:
                if stopped.is_set():
                    return
                text = f"the autoscaler's stand-in goes on after: {error}"
                if _is_passing(error):
                    away_since = time.monotonic() if away_since is None else away_since
                    if time.monotonic() - away_since < QUIET_SECONDS:
                        continue
                if text not in told:
                    told.add(text)
                    report(text)

    def step(self) -> None:
        """Looks at all pods and nodes once and does what is to be done."""
        pods = [_plain(pod) for pod in self._client.list(Pod, namespace="*")]
        nodes = {node["metadata"]["name"]: node for node in map(_plain, self._client.list(Node))}
        for name in self._at_their_end(nodes):
            with _unless_gone():
                end_node(self._client, name)
            nodes.pop(name)
        known = [_known(node) for node in nodes.values()]
        _fill(known, pods)
        self.reasons = {}
        for pod in filter(_waits_for_a_node, pods):
            self._serve(pod, known)
        self._remove_idle(known, nodes)

    def _serve(self, pod: Mapping[str, Any], known: list[_Known]) -> None:
        spec = pod["spec"]
        wants = requests(spec)
        for node in known:
            if node.can_hold(spec, wants):
                node.take(wants)
                node.busy = True
                return
        reasons = []
        for offer in offers_for(spec, self.cluster):
            refusal = offer if isinstance(offer, str) else self._refusal(offer, known)
            if refusal is None and isinstance(offer, Offer):
                zone = self._zone(offer, known)
                made = _known(offer.shape.node(self._make(offer, zone), zone))
                made.take(wants)
                made.busy = True
                known.append(made)
                return
            reasons.append(str(refusal))
        self._tell(pod, "; ".join(reasons) or "the cluster makes no nodes by itself")

    def _refusal(self, offer: Offer, known: Iterable[_Known]) -> str | None:
        mine = [node for node in known if node.labels.get(NODE_POOL_KEY) == offer.shape.pool]
        if offer.most is not None and len(mine) >= offer.most:
            return f"{offer.origin} is at its limit of {offer.most} nodes"
        if not self.market.has(offer.shape):
            return f"{offer.origin} is out of stock"
        return self._over_limits(offer.shape, known)

    def _over_limits(self, shape: NodeShape, known: Iterable[_Known]) -> str | None:
        limits = self.cluster.limits
        if limits is None:
            return None
        nodes = [*known, _known(shape.node("", "none"))]
        accelerator = shape.labels.get(ACCELERATOR_KEY)
        for resource in ("cpu", "memory"):
            used = sum(float(_amount(node, resource)) for node in nodes)
            most = limits.get(resource)
            if most is not None and used > most * (1e9 if resource == "memory" else 1):
                return f"the cluster's limit of {resource}, {most}, is reached"
        if accelerator:
            used = sum(
                float(_amount(node, GPU_KEY))
                for node in nodes
                if node.labels.get(ACCELERATOR_KEY) == accelerator
            )
            most = limits.get(accelerator)
            if most is not None and used > most:
                return f"the cluster's limit of {accelerator}, {most}, is reached"
        return None

    def _zone(self, offer: Offer, known: Iterable[_Known]) -> str:
        def nodes_in(zone: str) -> int:
            return sum(
                node.labels.get(NODE_POOL_KEY) == offer.shape.pool
                and node.labels.get("topology.kubernetes.io/zone") == zone
                for node in known
            )

        return min(offer.zones, key=nodes_in)

    def _make(self, offer: Offer, zone: str) -> str:
        marks = {ORIGIN: offer.origin, MADE_AT: str(self._now())}
        if offer.shape.lifetime_seconds:
            marks[ENDS_AFTER] = str(offer.shape.lifetime_seconds)
        while True:
            name = f"gke-{offer.shape.pool}-{next(self._numbers):04x}"
            node = offer.shape.node(name, zone)
            node["metadata"]["annotations"] = marks
            try:
                self._client.create(cast(Node, Node.from_dict(node)))
                return name
            except ApiError as error:  # another stand-in of this cluster may have had the number
                if error.status.code != _EXISTS:
                    raise

    def _at_their_end(self, nodes: Mapping[str, Mapping[str, Any]]) -> list[str]:
        ended = []
        for name, node in nodes.items():
            marks = node["metadata"].get("annotations") or {}
            if ENDS_AFTER in marks:
                lifetime = min(float(marks[ENDS_AFTER]), LONGEST_RUN_SECONDS)
                if self._now() - float(marks[MADE_AT]) >= lifetime:
                    ended.append(name)
        return ended

    def _remove_idle(self, known: Iterable[_Known], nodes: dict[str, dict[str, Any]]) -> None:
        growing = {offer.shape.pool for offer in self.cluster.pool_offers()}
        for node in known:
            marks = nodes.get(node.name, {}).get("metadata", {}).get("annotations") or {}
            from_pool = marks.get(ORIGIN, "").startswith("pool ")
            grows = not from_pool or node.labels.get(NODE_POOL_KEY) in growing
            if node.busy or ORIGIN not in marks or not grows:
                self._idle_since.pop(node.name, None)
                continue
            since = self._idle_since.setdefault(node.name, self._now())
            if self._now() - since >= self._idle_seconds and self._may_shrink(node, nodes):
                with _unless_gone():
                    self._client.delete(Node, node.name)
                self._idle_since.pop(node.name)
                nodes.pop(node.name)

    def _may_shrink(self, node: _Known, nodes: Mapping[str, Mapping[str, Any]]) -> bool:
        pool = node.labels.get(NODE_POOL_KEY)
        for each in self.cluster.pools:
            if each["name"] == pool:
                pools = [
                    (n["metadata"].get("labels") or {}).get(NODE_POOL_KEY) for n in nodes.values()
                ]
                return pools.count(pool) > self.cluster.least(each)
        return True

    def _tell(self, pod: Mapping[str, Any], reason: str) -> None:
        about = pod["metadata"]
        name = f"{about['namespace']}/{about['name']}"
        self.reasons[name] = reason
        if self._told.get(about["uid"]) == reason:
            return
        self._told[about["uid"]] = reason
        event = Event(
            metadata=ObjectMeta(generateName=f"{about['name']}.", namespace=about["namespace"]),
            involvedObject=ObjectReference(
                kind="Pod", name=about["name"], namespace=about["namespace"], uid=about["uid"]
            ),
            reason="NotTriggerScaleUp",
            message=f"pod didn't trigger scale-up: {reason}",
            type="Normal",
            source=EventSource(component="cluster-autoscaler"),
        )
        with contextlib.suppress(ApiError):  # the pod's namespace may be going away
            self._client.create(event)


def _is_passing(error: Exception) -> bool:
    return not isinstance(error, ApiError) or error.status.code in _PASSING


@contextlib.contextmanager
def _unless_gone() -> Iterator[None]:
    """Passes over that something is not there any more."""
    try:
        yield
    except ApiError as error:
        if error.status.code != _GONE:
            raise


def _plain(thing: Any) -> dict[str, Any]:
    return thing.to_dict()


def _known(node: Mapping[str, Any]) -> _Known:
    return _Known(
        node["metadata"]["name"],
        node["metadata"].get("labels") or {},
        # A node that is not ready yet will be: nobody needs a second one meanwhile.
        [
            *(each for each in node["spec"].get("taints") or () if each["key"] != _NOT_READY),
            *_unschedulable(node),
        ],
        node["status"].get("allocatable") or {},
    )


def _unschedulable(node: Mapping[str, Any]) -> list[dict[str, str]]:
    if not node["spec"].get("unschedulable"):
        return []
    return [{"key": "node.kubernetes.io/unschedulable", "value": "", "effect": "NoSchedule"}]


def _fill(known: Iterable[_Known], pods: Iterable[Mapping[str, Any]]) -> None:
    by_name = {node.name: node for node in known}
    for pod in pods:
        node = by_name.get(pod["spec"].get("nodeName") or "")
        if node is None or pod["status"].get("phase") in ("Succeeded", "Failed"):
            continue
        node.take(requests(pod["spec"]))
        owners = pod["metadata"].get("ownerReferences") or ()
        node.busy |= not any(owner["kind"] == "DaemonSet" for owner in owners)


def _waits_for_a_node(pod: Mapping[str, Any]) -> bool:
    if pod["spec"].get("nodeName") or pod["metadata"].get("deletionTimestamp"):
        return False
    conditions = pod["status"].get("conditions") or ()
    return any(
        each["type"] == "PodScheduled" and each.get("reason") == "Unschedulable"
        for each in conditions
    )


def _amount(node: _Known, resource: str) -> Any:
    return quantity(node.allocatable.get(resource, "0"))
