"""Where the scenes of a drill play: the real control plane, and what stands in for GKE."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lightkube import Client
from lightkube.codecs import from_dict
from lightkube.core.exceptions import ApiError
from lightkube.resources.core_v1 import Node, Pod

from sandbox.cluster.autoscaler import Autoscaler
from sandbox.cluster.jobset import JobSet
from sandbox.cluster.offers import Cluster, Market
from sandbox.drill.terminal import Board
from sandbox.drill.workloads import SYSTEM, Workload, Workloads
from spotproof_gke.capacity import NODE_POOL_KEY, PROVISIONING_KEY

ON_DEMAND, SPOT, FLEX_START = "standard", "spot", "flex-start"
NAMES = {ON_DEMAND: "on-demand", SPOT: "Spot", FLEX_START: "flex-start"}
EXIT_CODE = "spotproof-sim/exit-code"
FAILURES_OF_INDEX = "batch.kubernetes.io/job-index-failure-count"
ENDED = ("Succeeded", "Failed")
EVERY_SECONDS = 0.2
_DONE = ("Complete", "Completed")
_EXISTS = 409

Plain = Mapping[str, Any]


class BrokenPromise(Exception):
    """A promise was not kept; the text says what was seen instead."""


@dataclass
class Clock:
    """The time of the stand-ins: it goes on as always, and can be put forward."""

    ahead_seconds: float = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead_seconds

    def advance(self, seconds: float) -> None:
        """Lets time pass at once."""
        self.ahead_seconds += seconds


@dataclass
class Stage:
    """One cluster under drill.

    Attributes:
        client: A client with all rights.
        autoscaler: The stand-in for GKE's.
        workloads: What runs.
        board: Who shows it.
        clock: The stand-ins' time.
        timeout_seconds: How long a thing may take that is to come by itself.
        strays: System pods seen on nodes that can be taken away, with the node.
        looks: How often all pods were looked at.
    """

    client: Client
    autoscaler: Autoscaler
    workloads: Workloads
    board: Board
    clock: Clock
    timeout_seconds: float
    strays: dict[str, str] = field(default_factory=dict)
    looks: int = 0
    nodes: dict[str, Plain] = field(default_factory=dict)
    pods: list[dict[str, Any]] = field(default_factory=list)

    def apply(self, manifests: Sequence[Plain]) -> None:
        """Makes objects; those that are there stay as they are."""
        for manifest in manifests:
            try:
                self.client.create(_object(manifest))
            except ApiError as error:
                if error.status.code != _EXISTS:
                    raise

    def wait(self, what: str, condition: Callable[[], Any]) -> Any:
        """What `condition` returns once it is true, with the stand-ins at work meanwhile.

        Raises:
            BrokenPromise: it does not come in time.
        """
        self.board.doing(f"waiting for {what}")
        deadline = time.monotonic() + self.timeout_seconds
        while True:
            self.tick()
            if found := condition():
                return found
            if time.monotonic() > deadline:
                raise BrokenPromise(
                    f"{what}: not within {self.timeout_seconds:.0f} s{self._waiting()}"
                )
            time.sleep(EVERY_SECONDS)

    def tick(self) -> None:
        """Lets the stand-ins do what is to be done, and looks at everything."""
        self.autoscaler.step()
        self.look()

    def look(self) -> None:
        """Sees all nodes and pods as they are now."""
        self.pods = [pod.to_dict() for pod in self.client.list(Pod, namespace="*")]
        nodes = [node.to_dict() for node in self.client.list(Node)]
        self.nodes = {node["metadata"]["name"]: node for node in nodes}
        self.looks += 1
        for pod in self.pods:
            where = self.capacity_of(pod)
            if pod["metadata"]["namespace"] == SYSTEM and where not in ("", ON_DEMAND):
                name = pod["metadata"]["name"]
                self.strays.setdefault(name, f"{name} on {pod['spec']['nodeName']} ({where})")
        self.board.state(self._state())

    def of(self, workload: Workload) -> list[dict[str, Any]]:
        """Pods of a workload that have not ended, the oldest first."""
        found = [
            pod
            for pod in self.pods
            if pod["metadata"]["namespace"] == workload.namespace
            and (pod["metadata"].get("labels") or {}).get(workload.label) == workload.name
            and pod["status"].get("phase") not in ENDED
            and not pod["metadata"].get("deletionTimestamp")
        ]
        return sorted(found, key=lambda pod: pod["metadata"]["creationTimestamp"])

    def running(self, workload: Workload) -> list[dict[str, Any]]:
        """Pods of a workload that run."""
        return [pod for pod in self.of(workload) if pod["status"].get("phase") == "Running"]

    def capacity_of(self, pod: Plain) -> str:
        """`standard`, `spot`, `flex-start`, or "" for a pod that has no node."""
        node = self.nodes.get(pod["spec"].get("nodeName") or "")
        return labels_of(node).get(PROVISIONING_KEY, ON_DEMAND) if node else ""

    def where(self, pod: Plain) -> str:
        """The node of a pod, for people."""
        name = pod["spec"].get("nodeName") or "no node"
        return f"{name} ({NAMES.get(self.capacity_of(pod), 'gone')})"

    def nodes_of(self, capacity: str) -> list[str]:
        """Names of the nodes of a capacity."""
        return [
            name
            for name, node in self.nodes.items()
            if labels_of(node).get(PROVISIONING_KEY, ON_DEMAND) == capacity
        ]

    def condition(self, workload: Workload) -> str:
        """`Complete` or the reason of a failure, or "" while it goes on."""
        for each in self._status(workload).get("conditions") or ():
            if each.get("status") != "True":
                continue
            if each["type"] in _DONE:
                return "Complete"
            if each["type"] == "Failed":
                return f"Failed: {each.get('reason')}"
        return ""

    def retries(self, workload: Workload) -> int:
        """How many pods or restarts of a Job or JobSet count against its limits."""
        if workload.manifest["kind"] != "JobSet":
            return int(self._status(workload).get("failed") or 0)
        # The Job of a JobSet counts by index, and says so in the pods that it makes anew first.
        by_index = sum(
            int((pod["metadata"].get("annotations") or {}).get(FAILURES_OF_INDEX) or 0)
            for pod in self.of(workload)
        )
        return by_index + int(self._status(workload).get("restartsCountTowardsMax") or 0)

    def finish(self, workload: Workload) -> None:
        """Lets the programs in a workload's running pods end with 0."""
        for pod in self.running(workload):
            end_pod_well(self.client, pod)

    def _status(self, workload: Workload) -> Plain:
        kind = type(_object(workload.manifest))
        found = self.client.get(kind, workload.name, namespace=workload.namespace)
        return found.to_dict().get("status") or {}

    def _waiting(self) -> str:
        """Why pods wait, for the text of an error."""
        reasons = list(self.autoscaler.reasons.items())
        if not reasons:
            return ""
        name, reason = reasons[0]
        return f"; {name} waits: {telling(reason)}"

    def _state(self) -> list[str]:
        count = Counter(
            labels_of(node).get(PROVISIONING_KEY, ON_DEMAND) for node in self.nodes.values()
        )
        nodes = ", ".join(f"{count[key]} {name}" for key, name in NAMES.items())
        lines = [f"nodes: {nodes}"]
        every = (self.workloads.spot_job, self.workloads.flex_start_job, self.workloads.workers)
        for workload in filter(None, every):
            for pod in self.of(workload):
                phase = pod["status"].get("phase")
                where = self.where(pod) if pod["spec"].get("nodeName") else "waits for a node"
                lines.append(f"{pod['metadata']['name']}: {phase}, {where}")
        waiting = sum(not pod["spec"].get("nodeName") for pod in self.pods)
        return [*lines, f"pods: {len(self.pods)}, of which {waiting} wait for a node"]


def stage(
    client: Client,
    cluster: Cluster,
    workloads: Workloads,
    board: Board,
    timeout_seconds: float,
) -> Stage:
    """A stage with the nodes that the cluster's pools have to begin with."""
    clock = Clock()
    autoscaler = Autoscaler(client, cluster, Market(), now=clock)
    autoscaler.stand_up()
    return Stage(client, autoscaler, workloads, board, clock, timeout_seconds)


def labels_of(thing: Plain | None) -> Mapping[str, str]:
    return ((thing or {}).get("metadata") or {}).get("labels") or {}


def pool_of(node: Plain | None) -> str:
    """Name of a node's pool."""
    return labels_of(node).get(NODE_POOL_KEY, "?")


def telling(reason: str) -> str:
    """The part of an autoscaler's reason that is about the wanted nodes, not about all others."""
    parts = reason.split("; ")
    wanted = [part for part in parts if "has not the labels" not in part and "taint" not in part]
    return "; ".join(wanted or parts[:1])


def end_pod_well(client: Client, pod: Plain) -> None:
    """Ends a pod whose program has done all its work."""
    about = pod["metadata"]
    marks = {"metadata": {"annotations": {EXIT_CODE: "0"}}}
    client.patch(Pod, about["name"], marks, namespace=about["namespace"])


def _object(manifest: Plain) -> Any:
    make: Any = JobSet if manifest["kind"] == "JobSet" else from_dict
    return make(dict(manifest))
