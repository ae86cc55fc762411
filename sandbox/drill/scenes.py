"""The scenes of a drill, each of which shows one promise."""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lightkube.core.exceptions import ApiError
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import Event

from sandbox.cluster.autoscaler import IDLE_SECONDS
from sandbox.cluster.eviction import take_away
from sandbox.cluster.placement import quantity
from sandbox.drill.guarding import guard_acts
from sandbox.drill.report import Promise
from sandbox.drill.stage import (
    FLEX_START,
    NAMES,
    ON_DEMAND,
    SPOT,
    BrokenPromise,
    Plain,
    Stage,
    pool_of,
    telling,
)
from sandbox.drill.workloads import Workload

_SPARE_REPLICAS = 4


@dataclass(frozen=True)
class Scene:
    """How a promise is shown.

    Attributes:
        promise: The promise.
        play: Shows it, and returns the evidence; raises `BrokenPromise`.
        needs: Names of promises without which it cannot be tried.
        concerns: Whether the drill has what it is about.
    """

    promise: Promise
    play: Callable[[Stage], str]
    needs: tuple[str, ...] = ()
    concerns: Callable[[Stage], bool] = lambda stage: True


SCENES: list[Scene] = []


def _shows(
    name: str,
    says: str,
    needs: tuple[str, ...] = (),
    concerns: Callable[[Stage], bool] = lambda stage: True,
) -> Callable[[Callable[[Stage], str]], Callable[[Stage], str]]:
    def register(play: Callable[[Stage], str]) -> Callable[[Stage], str]:
        SCENES.append(Scene(Promise(name, says), play, needs, concerns))
        return play

    return register


@_shows(
    "system-pods-guarded",
    "The guard acts on a system pod that tolerates everything",
    concerns=lambda stage: stage.workloads.guard is not None,
)
def _guard(stage: Stage) -> str:
    return guard_acts(stage)


@_shows("system-pods-on-demand", "System pods run on on-demand nodes")
def _system_pods(stage: Stage) -> str:
    stage.apply([*stage.workloads.before, *(each.manifest for each in stage.workloads.system)])
    wanted = {each.name: int(each.manifest["spec"]["replicas"]) for each in stage.workloads.system}

    def all_run() -> bool:
        return all(len(stage.running(each)) == wanted[each.name] for each in stage.workloads.system)

    stage.wait("the system pods", all_run)
    pods = [pod for each in stage.workloads.system for pod in stage.running(each)]
    _all_on(stage, pods, ON_DEMAND)
    pools = {pool_of(stage.nodes[pod["spec"]["nodeName"]]) for pod in pods}
    counts = ", ".join(f"{count} of {name}" for name, count in wanted.items())
    return f"{counts}, all on pool {', '.join(sorted(pools))}"


@_shows("spot-job-on-spot", "The Spot job runs on a Spot node")
def _spot_job(stage: Stage) -> str:
    job = stage.workloads.spot_job
    return f"{job.title} runs on {_started(stage, job, SPOT)}"


@_shows("flex-start-waits", "The flex-start job waits without a node, and says why")
def _flex_start_waits(stage: Stage) -> str:
    job = stage.workloads.flex_start_job
    with _sold_out(stage, FLEX_START):
        stage.apply([job.manifest])
        pod, reason = stage.wait("the reason why the flex-start job waits", lambda: _told(stage))
    if pod["spec"].get("nodeName"):
        raise BrokenPromise(f"{pod['metadata']['name']} runs on {stage.where(pod)}")
    return f"{pod['metadata']['name']} is Pending: {telling(reason)}"


@_shows(
    "flex-start-starts",
    "The flex-start job starts when its node comes",
    needs=("flex-start-waits",),
)
def _flex_start_starts(stage: Stage) -> str:
    job = stage.workloads.flex_start_job
    return f"{job.title} runs on {_started(stage, job, FLEX_START)}"


@_shows(
    "system-pods-when-full",
    "System pods wait off Spot when on-demand nodes are full",
)
def _system_pods_when_full(stage: Stage) -> str:
    dns = stage.workloads.system[0]
    try:
        return _overfilled(stage, dns)
    finally:
        _scale(stage, dns, int(dns.manifest["spec"]["replicas"]))


@_shows("ordinary-pods-off-spot", "Pods that did not ask for Spot or flex-start stay off them")
def _ordinary_pods(stage: Stage) -> str:
    stranger = stage.workloads.stranger
    stage.apply([stranger.manifest])
    try:
        return _overfilled(stage, stranger)
    finally:
        stage.client.delete(Deployment, stranger.name, namespace=stranger.namespace)


@_shows(
    "workers-come-back",
    "Queue workers come back after their Spot node is taken away",
    concerns=lambda stage: stage.workloads.workers is not None,
)
def _workers(stage: Stage) -> str:
    workers = stage.workloads.workers
    assert workers is not None, "the scene is about workers"
    _started(stage, workers, SPOT)
    return _interrupted(stage, workers, SPOT, lambda node: _take_away(stage, node))


@_shows(
    "spot-job-comes-back",
    "The Spot job comes back after its node is taken away",
    needs=("spot-job-on-spot",),
)
def _spot_eviction(stage: Stage) -> str:
    job = stage.workloads.spot_job
    return _interrupted(stage, job, SPOT, lambda node: _take_away(stage, node))


@_shows(
    "flex-start-comes-back",
    "The flex-start job comes back after its node's lifetime",
    needs=("flex-start-starts",),
)
def _lifetime(stage: Stage) -> str:
    job, lifetime = stage.workloads.flex_start_job, stage.workloads.lifetime_seconds

    def end(node: str) -> None:
        stage.board.doing(f"{lifetime} s pass: the lifetime of {node} is over")
        stage.clock.advance(lifetime)
        stage.tick()

    return f"{lifetime} s passed: {_interrupted(stage, job, FLEX_START, end)}"


@_shows(
    "jobs-finish",
    "Both jobs finish",
    needs=("spot-job-comes-back", "flex-start-comes-back"),
)
def _finish(stage: Stage) -> str:
    jobs = (stage.workloads.spot_job, stage.workloads.flex_start_job)
    for job in jobs:
        stage.finish(job)
    stage.wait("the end of both jobs", lambda: all(stage.condition(job) for job in jobs))
    ends = {job.title: stage.condition(job) for job in jobs}
    if set(ends.values()) != {"Complete"}:
        raise BrokenPromise(", ".join(f"{title}: {end}" for title, end in ends.items()))
    return ", ".join(f"{title} is complete" for title in ends)


@_shows(
    "idle-nodes-go",
    "Spot and flex-start nodes go when nothing runs on them",
    needs=("jobs-finish",),
)
def _idle(stage: Stage) -> str:
    workers = stage.workloads.workers
    if workers is not None:
        try:
            stage.client.delete(Deployment, workers.name, namespace=workers.namespace)
        except ApiError as error:
            if error.status.code != 404:
                raise
        stage.wait("the end of the workers", lambda: not stage.of(workers))
    before = [*stage.nodes_of(SPOT), *stage.nodes_of(FLEX_START)]

    def gone() -> bool:
        stage.clock.advance(IDLE_SECONDS)
        return not stage.nodes_of(SPOT) and not stage.nodes_of(FLEX_START)

    stage.wait("the removal of idle nodes", gone)
    left = len(stage.nodes_of(ON_DEMAND))
    return (
        f"{len(before)} nodes went after {IDLE_SECONDS:.0f} s without work; {left} on-demand left"
    )


ALWAYS = Promise(
    "system-pods-never-on-spot", "No system pod was on a Spot or flex-start node at any time"
)


def always(stage: Stage) -> str:
    """The evidence for `ALWAYS`, after all scenes.

    Raises:
        BrokenPromise: a system pod was seen there.
    """
    if stage.strays:
        first, *others = stage.strays.values()
        more = f" and {len(others)} more" if others else ""
        raise BrokenPromise(f"seen: {first}{more}")
    return f"all pods were looked at {stage.looks} times"


def _started(stage: Stage, workload: Workload, capacity: str) -> str:
    """Where a workload runs, once it does."""
    stage.apply([workload.manifest])
    pods = stage.wait(f"a node for {workload.title}", lambda: stage.running(workload))
    _all_on(stage, pods, capacity)
    return stage.where(pods[0])


def _interrupted(
    stage: Stage, workload: Workload, capacity: str, end: Callable[[str], None]
) -> str:
    """Ends the node of a workload by `end`, and waits for the workload on another node."""
    before = stage.running(workload)
    if not before:
        raise BrokenPromise(f"{workload.title} does not run")
    old, node = before[0]["metadata"]["name"], before[0]["spec"]["nodeName"]
    end(node)
    ended_at = time.monotonic()

    def back() -> list[dict]:
        return [
            pod
            for pod in stage.running(workload)
            if pod["metadata"]["name"] != old and pod["spec"]["nodeName"] != node
        ]

    after = stage.wait(f"{workload.title} on another node", back)
    seconds = time.monotonic() - ended_at
    if node in stage.nodes:
        raise BrokenPromise(f"{node} is still there")
    _all_on(stage, after, capacity)
    used = ""
    if workload.manifest["kind"] in ("Job", "JobSet"):
        retries = stage.retries(workload)
        if retries:
            raise BrokenPromise(f"{workload.title} counts {retries} of its pods as failed")
        used = "; no retry used up"
    name, where = after[0]["metadata"]["name"], stage.where(after[0])
    return f"{node} is gone; {name} runs on {where} {seconds:.1f} s later{used}"


def _take_away(stage: Stage, node: str) -> None:
    stage.board.doing(f"taking {node} away: notice, grace, gone")
    take_away(stage.client, node)


def _all_on(stage: Stage, pods: list[dict], capacity: str) -> None:
    for pod in pods:
        if stage.capacity_of(pod) not in (capacity, ""):
            raise BrokenPromise(
                f"{pod['metadata']['name']} runs on {stage.where(pod)}, not on {NAMES[capacity]}"
            )


def _scale(stage: Stage, workload: Workload, replicas: int) -> None:
    stage.client.patch(
        Deployment,
        workload.name,
        {"spec": {"replicas": replicas}},
        namespace=workload.namespace,
    )


def _told(stage: Stage) -> tuple[dict, str] | None:
    """The flex-start job's pod and what an event says of it, once it says so."""
    for pod in stage.of(stage.workloads.flex_start_job):
        if pod["spec"].get("nodeName"):
            return pod, ""
        events = stage.client.list(
            Event,
            namespace=pod["metadata"]["namespace"],
            fields={"involvedObject.uid": pod["metadata"]["uid"]},
        )
        for event in events:
            if event.reason == "NotTriggerScaleUp" and event.message:
                return pod, event.message.partition(": ")[2]
    return None


def _overfilled(stage: Stage, workload: Workload) -> str:
    """Makes more pods of a workload than on-demand nodes hold, and sees that the rest waits."""
    container = workload.manifest["spec"]["template"]["spec"]["containers"][0]
    cpu = quantity(container["resources"]["requests"]["cpu"])
    room = sum(
        int(quantity(stage.nodes[name]["status"]["allocatable"]["cpu"]) / cpu)
        for name in stage.nodes_of(ON_DEMAND)
    )
    replicas = room + _SPARE_REPLICAS
    with _sold_out(stage, ON_DEMAND):
        _scale(stage, workload, replicas)
        stage.wait(
            f"{replicas} pods of {workload.name}", lambda: _are_judged(stage, workload, replicas)
        )
        placed = [pod for pod in stage.of(workload) if pod["spec"].get("nodeName")]
        _all_on(stage, placed, ON_DEMAND)
        why = next(filter(None, map(_unschedulable, stage.of(workload))), "?")
    return (
        f"{replicas} of {workload.name}, more than on-demand nodes hold: {len(placed)} run there, "
        f"{replicas - len(placed)} wait ({why.partition('. ')[0]})"
    )


@contextlib.contextmanager
def _sold_out(stage: Stage, capacity: str) -> Iterator[None]:
    """The cloud has no node of this capacity meanwhile."""
    every = (capacity, "*")
    stage.autoscaler.market.sold_out.add(every)
    try:
        yield
    finally:
        stage.autoscaler.market.sold_out.discard(every)


def _are_judged(stage: Stage, workload: Workload, count: int) -> bool:
    pods = stage.of(workload)
    judged = [pod for pod in pods if pod["spec"].get("nodeName") or _unschedulable(pod)]
    return len(judged) == len(pods) == count


def _unschedulable(pod: Plain) -> str:
    for each in pod["status"].get("conditions") or ():
        if each["type"] == "PodScheduled" and each.get("status") == "False":
            return str(each.get("message") or "?")
    return ""
