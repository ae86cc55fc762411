"""Watches one node go that can be taken away, and what becomes of the work on it."""

import time
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Node, Pod

from sandbox.drill.report import Outcome, Promise, Report
from sandbox.drill.stage import ENDED, FLEX_START, SPOT, labels_of
from sandbox.drill.terminal import Board
from spotproof_gke.capacity import PREEMPTIBLE_KEY, PROVISIONING_KEY, SPOT_KEY

WATCH_SECONDS = 1800.0
"""How long a watch takes at most; a Spot node may take some time to come."""
EVERY_SECONDS = 1.0
_GONE = 404
_BY_DAEMONS = ("DaemonSet", "Node")

GOES = Promise("node-goes", "The node is taken away")
COMES_BACK = "comes back on another node"

Plain = Mapping[str, Any]


class NothingToWatchError(Exception):
    """The node cannot be watched; the text says why and what to do."""


@dataclass(frozen=True)
class Owner:
    """What makes pods anew: a Job, a ReplicaSet, a StatefulSet."""

    kind: str
    namespace: str
    name: str
    uid: str

    @property
    def title(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass(frozen=True)
class Work:
    """What an owner had when the watch began.

    Attributes:
        owner: What makes the pods anew.
        on_node: How many of its pods are on the node.
        known: All its pods anywhere, by their ids.
        failed: How many pods it counts as failed; None where nothing counts.
    """

    owner: Owner
    on_node: int
    known: Set[str]
    failed: int | None

    @property
    def promise(self) -> Promise:
        name = f"{self.owner.kind}-{self.owner.namespace}-{self.owner.name}-comes-back".lower()
        return Promise(name, f"{self.owner.title} {COMES_BACK}")


@dataclass
class Watch:
    """One node under watch.

    Attributes:
        client: Only reads.
        node: Name of the node.
        report: Takes the outcomes.
        board: Shows them.
        timeout_seconds: How long the whole may take.
        sleep, now: Waiting and time, in seconds.
    """

    client: Client
    node: str
    report: Report
    board: Board
    timeout_seconds: float = WATCH_SECONDS
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.monotonic

    def run(self) -> Report:
        """Watches until all work of the node runs again, or the time is over.

        Raises:
            NothingToWatchError: there is no such node, it cannot be taken away, or no work is
                on it.
            ApiError, HTTPError, ConfigError: the cluster cannot be read.
        """
        node = self._node()
        if node is None:
            raise NothingToWatchError(f"there is no node {self.node}: see `kubectl get nodes`")
        if not _can_go(node):
            raise NothingToWatchError(
                f"{self.node} is no Spot, preemptible or flex-start node: see "
                f"`kubectl get nodes -l {SPOT_KEY}=true`"
            )
        works = self._works()
        if not works:
            raise NothingToWatchError(
                f"no pod on {self.node} has a Job, a ReplicaSet or a StatefulSet that makes it "
                "anew: start some work there first"
            )
        self.board.begin([GOES, *(work.promise for work in works)])
        deadline = self.now() + self.timeout_seconds
        if self._sees_it_go(node, deadline):
            self._sees_all_return(works, deadline)
        else:
            for work in works:
                self._end(work.promise, None, "the node did not go", self.now())
        return self.report

    def _sees_it_go(self, node: Plain, deadline: float) -> bool:
        self.board.start(GOES)
        self.board.doing(f"{self.node} is there: now delete its VM, or simulate its maintenance")
        started = self.now()
        while True:
            if why := _gone(node, self._node()):
                self._end(GOES, True, f"{self.node} {why}", started)
                return True
            if self.now() >= deadline:
                break
            self.sleep(EVERY_SECONDS)
        waited = f"not within {self.timeout_seconds:.0f} s"
        self._end(GOES, None, f"{self.node} was not taken away: {waited}", started)
        return False

    def _sees_all_return(self, works: Sequence[Work], deadline: float) -> None:
        started = self.now()
        waiting, shown = list(works), None
        while waiting:
            if waiting[0] is not shown:
                shown = waiting[0]
                self.board.start(shown.promise)
                self.board.doing(f"waiting for {shown.owner.title}")
            for work in list(waiting):
                pods = self._pods_of(work.owner)
                new = _started_anew(pods, work.known)
                if len(new) >= work.on_node:
                    self._judge(work, new, started)
                    waiting.remove(work)
                elif self.now() >= deadline:
                    text = (
                        f"{len(new)} of {work.on_node} pods came back within "
                        f"{self.timeout_seconds:.0f} s{_why_it_waits(pods)}"
                    )
                    self._end(work.promise, False, text, started)
                    waiting.remove(work)
            if waiting:
                self.sleep(EVERY_SECONDS)

    def _judge(self, work: Work, new: list[Plain], started: float) -> None:
        back = ", ".join(
            f"{pod['metadata']['name']} on {pod['spec'].get('nodeName') or 'a node that is gone'}"
            for pod in new[: work.on_node]
        )
        counted = (self._failed(work.owner) or 0) - (work.failed or 0)
        if work.failed is not None and counted > 0:
            text = f"{work.owner.title} counts {counted} lost pods as failed; back: {back}"
            self._end(work.promise, False, text, started)
        else:
            text = f"after {self.now() - started:.0f} s: {back}{_uncounted(work)}"
            self._end(work.promise, True, text, started)

    def _end(self, promise: Promise, kept: bool | None, text: str, started: float) -> None:
        outcome = Outcome(promise, kept, text, self.now() - started)
        self.report.outcomes.append(outcome)
        self.board.end(outcome)

    def _node(self) -> dict[str, Any] | None:
        try:
            return self.client.get(Node, self.node).to_dict()
        except ApiError as error:
            if error.status.code == _GONE:
                return None
            raise

    def _works(self) -> list[Work]:
        on_node: dict[Owner, int] = {}
        for pod in self.client.list(Pod, namespace="*", fields={"spec.nodeName": self.node}):
            plain = pod.to_dict()
            owner = _owner(plain)
            if owner and plain["status"].get("phase") not in ENDED:
                on_node[owner] = on_node.get(owner, 0) + 1
        return [
            Work(
                owner,
                count,
                {pod["metadata"]["uid"] for pod in self._pods_of(owner)},
                self._failed(owner),
            )
            for owner, count in on_node.items()
        ]

    def _pods_of(self, owner: Owner) -> list[Plain]:
        pods = [pod.to_dict() for pod in self.client.list(Pod, namespace=owner.namespace)]
        # A restarted JobSet makes its Jobs anew, by the same names.
        wanted = (owner.kind, owner.name)
        return [pod for pod in pods if (o := _owner(pod)) and (o.kind, o.name) == wanted]

    def _failed(self, owner: Owner) -> int | None:
        """How many pods a Job counts as failed; None where nothing counts."""
        if owner.kind != "Job":
            return None
        try:
            job = self.client.get(Job, owner.name, namespace=owner.namespace).to_dict()
        except ApiError as error:
            if error.status.code == _GONE:
                return None
            raise
        return int((job.get("status") or {}).get("failed") or 0)


def _can_go(node: Plain) -> bool:
    labels = labels_of(node)
    return (
        labels.get(PROVISIONING_KEY) in (SPOT, FLEX_START, "preemptible")
        or labels.get(SPOT_KEY) == "true"
        or labels.get(PREEMPTIBLE_KEY) == "true"
    )


def _gone(before: Plain, now: Plain | None) -> str:
    """How a node has gone, or "". GKE may make a machine anew under its old name."""
    if now is None:
        return "is gone"
    if now["metadata"].get("uid") != before["metadata"].get("uid"):
        return "is gone, and another has its name"
    boots = [(each["status"].get("nodeInfo") or {}).get("bootID") for each in (before, now)]
    if boots[0] and boots[1] and boots[0] != boots[1]:
        return "was started anew"
    for each in now["status"].get("conditions") or ():
        if each["type"] == "Ready" and each.get("status") != "True":
            return f"is not ready: {each.get('reason') or each.get('status')}"
    return ""


def _owner(pod: Plain) -> Owner | None:
    about = pod["metadata"]
    for each in about.get("ownerReferences") or ():
        if each.get("controller") and each["kind"] not in _BY_DAEMONS:
            return Owner(each["kind"], about["namespace"], each["name"], each["uid"])
    return None


def _started_anew(pods: list[Plain], known: Set[str]) -> list[Plain]:
    """Pods that run, or have done their work, and were not there at the start of the watch."""
    return [
        pod
        for pod in pods
        if pod["metadata"]["uid"] not in known
        and pod["status"].get("phase") in ("Running", "Succeeded")
        and not pod["metadata"].get("deletionTimestamp")
    ]


def _uncounted(work: Work) -> str:
    return "" if work.failed is None else "; no retry used up"


def _why_it_waits(pods: list[Plain]) -> str:
    for pod in pods:
        for each in pod["status"].get("conditions") or ():
            if each["type"] == "PodScheduled" and each.get("status") == "False":
                return f"; {pod['metadata']['name']} waits: {each.get('message')}"
    return ""
