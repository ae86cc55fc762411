"""The part of a stack file that an answer leads to, whole enough to be judged by `make check`."""

from dataclasses import dataclass

import yaml

from spotproof_gke.capacity import SPOT_KEY, Capacity
from spotproof_gke.strategy.place import CLASSES, Place
from spotproof_gke.strategy.stack_parts import Parts, Settings
from spotproof_gke.strategy.verdict import Verdict
from spotproof_gke.strategy.words import Instead, Kind, Strategy

_ON_SPOT = f"with `{SPOT_KEY}` in their node selector and tolerations"
_ON_GPU = "that select their GPU"


@dataclass(frozen=True)
class Snippet:
    """What to paste.

    Attributes:
        settings: Keys of a stack file with their values.
        form: The section that holds the work itself, or what to write in its place.
    """

    settings: Settings
    form: str

    def text(self) -> str:
        """The stack file in YAML."""
        return yaml.safe_dump(
            {"config": self.settings}, sort_keys=False, default_flow_style=None, width=96
        )


def snippet(place: Place, verdict: Verdict) -> Snippet | None:
    """What to paste for a verdict; None where there is nothing to declare yet."""
    parts = Parts(place, verdict)
    form = _WRITERS[verdict.strategy](parts)
    return Snippet(parts.settings, form) if form else None


def _spot(parts: Parts) -> str:
    question = parts.question
    if not parts.autopilot:
        parts.pools(Capacity.SPOT, max(question.nodes, 2))
    if question.kind is Kind.BATCH:
        return parts.workers(Capacity.SPOT)
    if question.kind is not Kind.TRAINING:
        return f"pods of your own {_ON_SPOT}"
    if question.nodes == 1:
        seconds = parts.deadline_seconds()
        return parts.training("spotJobs", Capacity.SPOT, deadlineSeconds=seconds)
    parts.set("checkpoints", {"workloads": ["training/trainer"]})
    return f"a JobSet of your own {_ON_SPOT}"


def _chain(parts: Parts) -> str:
    question, first = parts.question, parts.verdict.chain[0]
    parts.compute_class("work")
    if question.kind is Kind.BATCH:
        return parts.workers(first, computeClass="work")
    if question.kind is Kind.TRAINING and question.nodes == 1:
        seconds = parts.deadline_seconds()
        return parts.training("spotJobs", first, computeClass="work", deadlineSeconds=seconds)
    return "pods of your own that select the compute class `work`"


def _split(parts: Parts) -> str:
    replicas = parts.question.replicas or 2
    may_go, stay = replicas // 2, replicas - replicas // 2
    go = "that select the compute class `may-go`"
    if parts.place.has(CLASSES):
        parts.compute_class("may-go")
    else:
        go = _ON_SPOT
        if not parts.autopilot:
            parts.pools(Capacity.SPOT, may_go)
    if not parts.autopilot:
        parts.pools(Capacity.ON_DEMAND, stay)
    return f"two Deployments of your own: {stay} replicas that stay, and {may_go} {go}"


def _flex_start(parts: Parts) -> str:
    more: Settings = {}
    if not parts.autopilot and parts.place.provisions:
        parts.auto_provisioning(parts.machines(Capacity.FLEX_START)[0])
        more["nodes"] = "auto-provisioning"
    elif not parts.autopilot:
        parts.pools(Capacity.FLEX_START, 1)
    return parts.training("flexStartJobs", Capacity.FLEX_START, **more, **parts.durations())


def _queued(parts: Parts) -> str:
    capacity, nodes = Capacity.FLEX_START_QUEUED, parts.question.nodes
    machine = parts.machines(capacity)[0]
    flavor = {
        "name": "queued",
        "capacity": capacity.value,
        "accelerator": machine.accelerator,
        "gpus": machine.gpus * nodes,
        "cpu": str(machine.vcpus * nodes),
        "memory": f"{machine.memory_gb * nodes}Gi",
    }
    if not parts.autopilot:
        parts.pools(capacity, nodes, queued=True)
    parts.set("kueueQueues", {"gangs": {"localQueues": ["training/gangs"], "flavors": [flavor]}})
    size = {"cpu": str(machine.vcpus // 2), "memory": f"{machine.memory_gb // 2}Gi"}
    return parts.training(
        "flexStartJobs", capacity, **size, pods=nodes, queue="gangs", **parts.durations()
    )


def _on_demand(parts: Parts) -> str:
    if parts.autopilot:
        return "pods of your own; Autopilot makes on-demand nodes for what they ask for"
    parts.pools(Capacity.ON_DEMAND, _nodes(parts))
    gpu = parts.question.accelerator is not None
    return "pods of your own" + (f" {_ON_GPU}" if gpu else "")


def _reservation(parts: Parts) -> str:
    if parts.autopilot or parts.question.accelerator is None:
        parts.compute_class("reserved")
        return "pods of your own that select the compute class `reserved`"
    name = parts.question.reservation
    parts.pools(Capacity.RESERVATION, _nodes(parts), reservation=name)
    return f"pods of your own {_ON_GPU}"


def _neither(parts: Parts) -> str | None:
    instead = parts.verdict.instead.name if parts.verdict.instead else ""
    if instead == Instead.SYSTEM_POOL.value:
        if not parts.autopilot:
            parts.set("systemPool", {"minNodes": 1, "maxNodes": 5})
        return "nothing: its pods stay where they are"
    if instead == Instead.ON_DEMAND.value:
        return _on_demand(parts)
    gpu = parts.question.accelerator is not None
    if instead != Instead.RESERVATION.value or not gpu or parts.autopilot:
        return None
    if not parts.place.anywhere(Capacity.RESERVATION):
        return None
    parts.pools(Capacity.RESERVATION, _nodes(parts), reservation="my-reservation")
    return f"pods of your own {_ON_GPU}, once the reservation is there"


def _nodes(parts: Parts) -> int:
    return max(parts.question.nodes, parts.question.replicas or 1)


_WRITERS = {
    Strategy.SPOT: _spot,
    Strategy.FLEX_START: _flex_start,
    Strategy.FLEX_START_QUEUED: _queued,
    Strategy.CHAIN: _chain,
    Strategy.SPLIT: _split,
    Strategy.ON_DEMAND: _on_demand,
    Strategy.RESERVATION: _reservation,
    Strategy.NEITHER: _neither,
}
