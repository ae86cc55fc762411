"""Judges the arguments of a node pool for work: one way, whatever the capacity."""

import re

from spotproof.nodes import Gpu
from spotproof.places import read_location, read_project
from spotproof.pool_args import GpuDriverVersion, LocationPolicy, NodeTaintArgs, TaintEffect
from spotproof.pool_machine import Machine, read_cpu_machine, read_gpu_machine
from spotproof.pool_plan import PoolPlan
from spotproof.reader import REQUIRED, Reader
from spotproof_gke import grace, names
from spotproof_gke.capacity import Capacity, Taint, is_flexible
from spotproof_gke.rules.pool_capacity import NODE_LIFETIME_SECONDS, pool_conflicts

MOST_NODES = 1000
"""Upper bound of a pool's size, to catch a slip; GKE's own limit for a pool."""

RETIRED = {
    "preemptible": "Spot has replaced it: use SpotGpuPool, or the capacity spot",
    "spot": "use SpotGpuPool, or the capacity spot",
    "flex_start": "use FlexStartPool, or the capacity flex-start",
    "queued_provisioning": "use FlexStartPool with queued, or the capacity flex-start-queued",
    "node_count": "use max_nodes, or nodes_per_zone for a fixed size",
    "initial_node_count": "use initial_nodes_per_zone",
    "max_run_duration": "use max_node_lifetime_seconds: it is the node's, not the job's",
}
"""Arguments that people know from elsewhere, and what to use here."""

ARGUMENT_OF = {
    "nodeConfig.spot": "capacity",
    "queuedProvisioning.enabled": "capacity",
    "management.autoRepair": "auto_repair",
    "nodeCount": "nodes_per_zone",
    "autoscaling": "max_nodes",
    "autoscaling.locationPolicy": "location_policy",
    "autoscaling.totalMinNodeCount": "min_nodes",
    "autoscaling.totalMaxNodeCount": "max_nodes",
    "initialNodeCount": "initial_nodes_per_zone",
    "upgradeSettings": "max_surge",
    "upgradeSettings.maxSurge": "max_surge",
    "nodeConfig.reservationAffinity": "reservation",
    "nodeConfig.reservationAffinity.consumeReservationType": "reservation",
    "nodeConfig.maxRunDuration": "max_node_lifetime_seconds",
    "nodeConfig.kubeletConfig.shutdownGracePeriodSeconds": "shutdown_grace_seconds",
    "nodeConfig.kubeletConfig.shutdownGracePeriodCriticalPodsSeconds": (
        "critical_shutdown_grace_seconds"
    ),
    "placementPolicy.type": "compact_placement",
    "nodeLocations": "zones",
}
"""Which argument decides a property that a rule of GKE speaks of."""


def plan_pool(read: Reader, name: str, capacity: Capacity | None, *, gpu: bool) -> PoolPlan:
    """Judge the arguments of a pool; problems are noted on `read`.

    Args:
        read: The reader of the arguments.
        name: The component's name, the prefix of the pool's.
        capacity: How nodes are obtained; None when it could not be read.
        gpu: Whether the pool has GPUs.
    """
    project = read_project(read)
    fixed_name = read_pool_name(read, name)
    location = read_location(read, "cluster_location")
    machine = (
        read_gpu_machine(read, capacity, location)
        if gpu
        else read_cpu_machine(read, location, REQUIRED)
    )
    kind = capacity or Capacity.ON_DEMAND
    flexible = is_flexible(kind)
    static, most = _size(read)
    least = read.integer("min_nodes", default=0, most=MOST_NODES)
    shutdown = _shutdown(read)
    termination = grace.termination_budget(kind, grace.Mode.STANDARD, *(shutdown or ()))
    plan = PoolPlan(
        project=project,
        cluster_location=location,
        cluster=read.given("cluster"),
        node_service_account=read.given("node_service_account"),
        node_pool_name=fixed_name,
        capacity=kind,
        machine_type=machine.name,
        machine=machine.gpu,
        gpu=_gpu(read, machine),
        zones=machine.zones,
        min_nodes=least,
        max_nodes=most,
        nodes_per_zone=static,
        initial_nodes_per_zone=_initial(read, least, most, len(machine.zones)),
        location_policy=read.choice("location_policy", LocationPolicy, LocationPolicy.ANY),
        auto_repair=read.boolean("auto_repair", default=not flexible),
        surge=_surge(read, flexible, gpu),
        reservation=read_reservation(read, capacity),
        compact=read.boolean("compact_placement", default=False),
        max_node_lifetime_seconds=_lifetime(read),
        shutdown_seconds=shutdown,
        disk_type=machine.disk_type,
        disk_size_gb=read.integer("disk_size_gb", default=200, least=10, most=65_536),
        node_labels=_labels(read),
        node_taints=_taints(read),
        termination=termination,
    )
    if capacity is not None:
        _judge_by_rules(read, plan)
        _judge_save(read, plan)
    return plan


def read_pool_name(read: Reader, name: str) -> str | None:
    """The fixed name of a pool; None when it is made from that of the component, `name`."""
    fixed = read.text("node_pool_name", default=None) or None
    if fixed is None:
        read.extend(names.node_pool_prefix_problems("name", f"{name}-pool"))
    else:
        read.extend(names.node_pool_name_problems("node_pool_name", fixed))
    return fixed


def _judge_by_rules(read: Reader, plan: PoolPlan) -> None:
    """GKE's demands on the capacity, each said of the argument that decides it."""
    noted = {problem.key for problem in read.problems}
    for conflict in pool_conflicts(plan.properties()):
        key = ARGUMENT_OF[conflict.property]
        if f"{read.path}{read.spell(key)}" not in noted:
            value = {"…": None, "COMPACT": True}.get(str(conflict.value), conflict.value)
            if key == "reservation":
                value = plan.reservation
            read.problem(key, value, conflict.rule, conflict.fix)


def _judge_save(read: Reader, plan: PoolPlan) -> None:
    if read.has("save_estimate_seconds"):
        seconds = read.integer("save_estimate_seconds", least=1)
        read.extend(grace.save_problems("save_estimate_seconds", seconds, plan.termination))


def _gpu(read: Reader, machine: Machine) -> Gpu | None:
    driver = read.choice("gpu_driver_version", GpuDriverVersion, GpuDriverVersion.DEFAULT)
    if machine.gpu is None:
        return None
    return Gpu(machine.gpu.accelerator, machine.gpu.gpus, driver.value)


def _size(read: Reader) -> tuple[int | None, int | None]:
    """Fixed nodes in each zone, or the most nodes in all: one of the two is None."""
    if not read.knows("nodes_per_zone"):
        return None, read.integer("max_nodes", least=1, most=MOST_NODES)
    most = read.integer("max_nodes", default=None, least=1, most=MOST_NODES)
    static = read.integer("nodes_per_zone", default=None, least=1, most=MOST_NODES)
    has_most, has_static = read.has("max_nodes"), read.has("nodes_per_zone")
    if not has_most and not has_static:
        read.problem("max_nodes", None, "the most nodes of a pool are required", "add it")
        most = 1
    if has_static and not has_most:
        for key in ("min_nodes", "initial_nodes_per_zone", "location_policy"):
            if read.has(key):
                rule = f"a fixed number of nodes ({read.spell('nodes_per_zone')}) is not scaled"
                read.problem(key, read.shown(key), rule, "remove it, or set max_nodes instead")
    return (static if has_static else None), (most if has_most or not has_static else None)


def _initial(read: Reader, least: int, most: int | None, zones: int) -> int:
    """Nodes in each zone at birth: as stated, else as many as the least number needs."""
    if read.has("initial_nodes_per_zone"):
        return read.integer("initial_nodes_per_zone", most=MOST_NODES)
    if not least or not zones:
        return 0
    return nodes_in_each_zone(least, most or least, zones)


def nodes_in_each_zone(least: int, most: int, zones: int) -> int:
    """As many as make up the least number of nodes, if that is not more than the most."""
    enough = -(-least // zones)
    return enough if enough * zones <= most else least // zones


def _surge(read: Reader, flexible: bool, gpu: bool) -> tuple[int, int] | None:
    """No surge node of a GPU unless asked for: a second scarce one may not be had."""
    asked = read.has("max_surge") or read.has("max_unavailable")
    if flexible and not asked:
        return None
    surge = read.integer("max_surge", default=0 if gpu else 1, most=MOST_NODES)
    away = read.integer("max_unavailable", default=1 if gpu else 0, most=MOST_NODES)
    return surge, away


def read_reservation(read: Reader, capacity: Capacity | None) -> str | None:
    """The reservation that nodes come from, None without; judged by the capacity."""
    name = read.text("reservation", default=None)
    if not read.has("reservation"):
        if capacity is Capacity.RESERVATION:
            rule = "the capacity reservation needs one"
            read.problem("reservation", None, rule, "name it")
        return None
    part = r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?"
    block = rf"(/reservationBlocks/{part})?"
    if name and not re.fullmatch(rf"(projects/[-a-z0-9:.]+/reservations/)?{part}{block}", name):
        rule = "a reservation is a name, or projects/PROJECT/reservations/NAME"
        read.problem("reservation", name, rule, "write it so")
    if capacity is Capacity.ON_DEMAND:
        rule = "only the capacity reservation takes nodes from one"
        read.problem("reservation", name, rule, "set the capacity to reservation, or remove it")
    return name or None


def _lifetime(read: Reader) -> int | None:
    least, most = NODE_LIFETIME_SECONDS
    seconds = read.integer("max_node_lifetime_seconds", default=None, least=least, most=most)
    return seconds if read.has("max_node_lifetime_seconds") else None


def _shutdown(read: Reader) -> tuple[int, int] | None:
    total = read.integer("shutdown_grace_seconds", default=0, most=10_000)
    critical = read.integer(
        "critical_shutdown_grace_seconds", default=grace.CRITICAL_SECONDS, most=10_000
    )
    stated = read.has("critical_shutdown_grace_seconds")
    if stated and read.is_right("critical_shutdown_grace_seconds") and not total:
        rule = "critical pods get a share of an extended shutdown alone"
        fix = "set shutdown_grace_seconds to 30 or 120 too"
        read.problem("critical_shutdown_grace_seconds", critical, rule, fix)
    return (total, critical) if total else None


def _labels(read: Reader) -> dict[str, str]:
    labels = read.items("node_labels", default={})
    read.extend(names.node_label_problems("node_labels", labels))
    return labels


def _taints(read: Reader) -> tuple[Taint, ...]:
    found: list[Taint] = []
    for number, one in enumerate(read.mappings("node_taints", default=())):
        taint = Reader(
            one, NodeTaintArgs.__annotations__, f"{read.path}{read.spell('node_taints')}[{number}].",
            read.spell, read.problems,
        )  # fmt: skip
        key = taint.text("key")
        effect = taint.choice("effect", TaintEffect, TaintEffect.NO_SCHEDULE)
        value = taint.text("value", default="true")
        if key:
            taint.extend(names.node_taint_problems("key", key, value))
        if any((key, effect.value) == (other.key, other.effect) for other in found):
            taint.problem("key", key, "each taint stands once", "remove the second")
        found.append(Taint(key, value, effect.value))
    return tuple(found)
