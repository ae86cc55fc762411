"""Judges what workloads say of their nodes: GPUs, where they come from, and how they end."""

from spotproof.pool_reading import ARGUMENT_OF
from spotproof.reader import Reader
from spotproof_gke import accelerators, grace, kubernetes_names
from spotproof_gke.capacity import Capacity
from spotproof_gke.gpu_nodes import ATTACHABLE, most_gpus, sold_as
from spotproof_gke.rules.pool_capacity import pool_conflicts
from spotproof_gke.workloads.scheduling import NodesFrom

MOST_GPUS = 16
"""The most GPUs that one machine has (a2-megagpu-16g)."""

MOST_QUOTA = 100_000
"""Upper bound of a quota, to catch a slip."""


def read_gpus(read: Reader, capacity: Capacity, *, quota: bool = False) -> tuple[str | None, int]:
    """The GPU and how many of it there are, judged by whether Google sells it so.

    Args:
        read: The reader.
        capacity: How the nodes are obtained.
        quota: Whether the number is for all pods together, and not for one.
    """
    accelerator = read.text("accelerator", default=None) or None
    if not read.has("accelerator") and not read.has("gpus"):
        return None, 0
    most = MOST_QUOTA if quota else MOST_GPUS
    gpus = read.integer("gpus", default=1, least=1, most=most)
    if accelerator is not None and not read.has("compute_class"):
        _judge_accelerator(read, accelerator, 1 if quota else gpus, capacity)
    if read.has("accelerator") and read.has("compute_class"):
        rule = "a compute class decides which GPU its nodes have"
        read.problem("accelerator", accelerator, rule, "leave it out, and say gpus")
    elif not read.has("accelerator") and not read.has("compute_class"):
        rule = "a pod with GPUs says which"
        read.problem("accelerator", None, rule, "name one like nvidia-l4, or a compute_class")
    return accelerator, gpus


def _judge_accelerator(read: Reader, name: str, gpus: int, capacity: Capacity) -> None:
    known = (*accelerators.ACCELERATORS, *ATTACHABLE)
    if name not in known:
        rule = "our tables do not know this GPU"
        read.unlisted("accelerator", name, rule, accelerators.right_accelerator_name(name, known))
        return
    sold = sold_as(name)
    if capacity not in sold:
        kinds = ", ".join(sorted(kind.value for kind in sold))
        rule = f"Google does not sell it as {capacity.value}, only as {kinds}"
        read.problem("accelerator", name, rule, "choose another GPU, or another capacity")
    most = most_gpus(name)
    if gpus > most and read.is_right("gpus"):
        rule = f"a node has at most {most} of {name}"
        read.problem("gpus", gpus, rule, "ask for fewer, or for several pods")


def read_nodes(read: Reader) -> tuple[NodesFrom, str | None]:
    """Where nodes come from, and the compute class that decides, if one does."""
    nodes = read.choice("nodes", NodesFrom, NodesFrom.POOL)
    if not read.has("compute_class"):
        return nodes, None
    name = read.name("compute_class", kubernetes_names.label_name_problems)
    if read.has("nodes") and nodes is not NodesFrom.AUTOPILOT:
        rule = "a compute class decides where its nodes come from"
        read.problem("nodes", nodes.value, rule, "leave one of the two out")
    return nodes, name or None


def read_budget(read: Reader, capacity: Capacity, nodes: NodesFrom) -> tuple[int, int | None]:
    """What a pod has when its node goes, and how long a save takes if it is said.

    A save that does not fit is noted on `read`.
    """
    shutdown: tuple[int, int] | None = None
    if read.knows("shutdown_grace_seconds"):
        shutdown = _shutdown(read, capacity, nodes)
    mode = grace.Mode.AUTOPILOT if nodes is NodesFrom.AUTOPILOT else grace.Mode.STANDARD
    budget = grace.termination_budget(capacity, mode, *(shutdown or ()))
    assert budget.seconds is not None, "workloads are for nodes that are taken away"
    if not read.knows("save_estimate_seconds") or not read.has("save_estimate_seconds"):
        return budget.seconds, None
    estimate = read.integer("save_estimate_seconds", least=1)
    if read.is_right("save_estimate_seconds"):
        read.extend(grace.save_problems("save_estimate_seconds", estimate, budget))
    return budget.seconds, estimate


def _shutdown(read: Reader, capacity: Capacity, nodes: NodesFrom) -> tuple[int, int] | None:
    total = read.integer("shutdown_grace_seconds", default=0, most=10_000)
    critical_key = "critical_shutdown_grace_seconds"
    critical = read.integer(critical_key, default=grace.CRITICAL_SECONDS, most=10_000)
    if read.has(critical_key) and read.is_right(critical_key) and not total:
        rule = "critical pods get a share of an extended shutdown alone"
        read.problem(critical_key, critical, rule, "set shutdown_grace_seconds to 30 or 120 too")
    if total and nodes is NodesFrom.AUTOPILOT:
        rule = "on Autopilot the shutdown of nodes is GKE's alone"
        read.problem("shutdown_grace_seconds", total, rule, "leave it out")
        return None
    kubelet = {
        "shutdownGracePeriodSeconds": total,
        "shutdownGracePeriodCriticalPodsSeconds": critical,
    }
    pool = {"nodeConfig": {"spot": capacity is Capacity.SPOT, "kubeletConfig": kubelet}}
    for conflict in pool_conflicts(pool) if total else ():
        key = ARGUMENT_OF.get(conflict.property)
        if key in ("shutdown_grace_seconds", critical_key) and read.is_right(str(key)):
            read.problem(str(key), conflict.value, conflict.rule, conflict.fix)
    return (total, critical) if total else None
