"""The node pools of a stack as a pod sees them: capacity, labels, termination budget."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spotproof_gke.accelerators import MACHINE_TYPES
from spotproof_gke.capacity import (
    ACCELERATOR_KEY,
    COMPUTE_CLASS_KEY,
    FLEX_START_KEY,
    NODE_POOL_KEY,
    PREEMPTIBLE_KEY,
    PROVISIONING_KEY,
    QUEUED_KEY,
    SPOT_KEY,
    Capacity,
    is_flexible,
)
from spotproof_gke.grace import Budget, Mode, termination_budget
from spotproof_gke.rules.clusters import CLUSTER, NODE_POOL
from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.pools import flag, has_gpu
from spotproof_gke.rules.reading import UNKNOWN, dig, is_true, items, mapping, number, text

_SET_BY_OTHERS = ("kubernetes.io/", "cloud.google.com/", "gke.io/")


def is_set_by_others(key: object) -> bool:
    """Whether GKE or Kubernetes itself gives nodes the label `key`."""
    return any(part in text(key) for part in _SET_BY_OTHERS)


@dataclass(frozen=True)
class Pool:
    """A node pool of the stack, as a pod's selector sees it.

    Attributes:
        name: Its name in the program.
        capacity: How its nodes are obtained; None when that is not known.
        labels: Labels of its nodes; `UNKNOWN` for one that is not known, None for one they lack.
        budget: The termination budget of its pods; None when it is not known.
        all_known: Whether its stated labels are known.
    """

    name: str
    capacity: Capacity | None
    labels: Mapping[str, Any]
    budget: Budget | None
    all_known: bool = True

    @property
    def is_spot(self) -> bool | None:
        """Whether its nodes can be taken away; None when that is not known."""
        return None if self.capacity is None else self.capacity is Capacity.SPOT

    @property
    def is_flex_start(self) -> bool | None:
        """Whether its nodes end at a known time; None when that is not known."""
        return None if self.capacity is None else is_flexible(self.capacity)

    @property
    def is_interruptible(self) -> bool | None:
        """Whether its nodes can be taken away, or end; None when that is not known."""
        return None if self.capacity is None else bool(self.is_spot or self.is_flex_start)

    def answers(self, selector: Mapping[Any, Any]) -> bool | None:
        """Whether its nodes have the labels of a selector; None when that is not known."""
        doubt = False
        for key, wanted in selector.items():
            held = self.labels.get(key)
            open_ = not self.all_known or is_set_by_others(key)
            if UNKNOWN in (held, wanted) or (key not in self.labels and open_):
                doubt = True
            elif text(held) != text(wanted):
                return False
        return None if doubt else True


def pools_of(stack: Stack) -> Iterator[Pool]:
    """All node pools of a stack, those that a cluster lists itself included."""
    for resource in stack.of_type(NODE_POOL, CLUSTER):
        if resource.type == NODE_POOL:
            keys = ("name", "nodeConfig", "queuedProvisioning")
            yield seen_by_pods(resource.name, {key: resource.get(key) for key in keys})
        else:
            for where, pool in listed_pools(resource):
                yield seen_by_pods(f"{resource.name} {where}", pool)


def listed_pools(cluster: Resource) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The pools that a cluster lists itself, also those of which nothing is known."""
    pools = cluster.get("nodePools")
    unknown = {"nodeConfig": UNKNOWN}
    if pools is UNKNOWN:
        yield "nodePools", unknown
    for place, pool in enumerate(items(pools)):
        yield f"nodePools[{place}]", unknown if pool is UNKNOWN else mapping(pool)


def seen_by_pods(name: str, pool: Mapping[str, Any]) -> Pool:
    """A pool as a pod's selector sees it.

    Args:
        name: Its name in the program.
        pool: Its properties: `name`, `nodeConfig` and `queuedProvisioning`.
    """
    config, queued = pool.get("nodeConfig"), dig(pool.get("queuedProvisioning"), "enabled")
    flags = {key: flag(config, key) for key in ("spot", "preemptible", "flexStart")}
    if flags["spot"] or flags["preemptible"]:
        capacity = Capacity.SPOT
    elif is_true(queued):
        capacity = Capacity.FLEX_START_QUEUED
    elif flags["flexStart"]:
        capacity = Capacity.FLEX_START
    else:
        capacity = None if None in flags.values() or queued is UNKNOWN else Capacity.ON_DEMAND
    stated = mapping(config).get("labels")
    provisioning = "spot" if flags["spot"] else "preemptible" if flags["preemptible"] else None
    labels = {
        NODE_POOL_KEY: text(pool.get("name")) or UNKNOWN,
        SPOT_KEY: "true" if flags["spot"] else None,
        PREEMPTIBLE_KEY: "true" if flags["preemptible"] else None,
        FLEX_START_KEY: "true" if flags["flexStart"] else None,
        QUEUED_KEY: "true" if is_true(queued) else None,
        ACCELERATOR_KEY: _accelerator(mapping(config)),
        PROVISIONING_KEY: provisioning or ("flex-start" if flags["flexStart"] else "standard"),
        COMPUTE_CLASS_KEY: None,
        **mapping(stated),
    }
    if capacity is None:
        for key in (SPOT_KEY, PREEMPTIBLE_KEY, FLEX_START_KEY, PROVISIONING_KEY, QUEUED_KEY):
            labels[key] = UNKNOWN
    known = stated is not UNKNOWN and config is not UNKNOWN
    return Pool(name, capacity, labels, _budget(config, capacity), known)


def _accelerator(config: Mapping[Any, Any]) -> Any:
    """The GPU of a pool's nodes, by what is stated, else by their machine; `UNKNOWN` or None.

    A preview does not know what the provider fills in, but GPUs are attached to N1 machines alone.
    """
    stated, machine = config.get("guestAccelerators"), text(config.get("machineType"))
    for gpu in items(stated):
        return dig(gpu, "type")
    if machine in MACHINE_TYPES:
        return MACHINE_TYPES[machine].accelerator
    may_have_some = not machine or has_gpu(config) or machine.startswith("n1-")
    return UNKNOWN if stated is UNKNOWN and may_have_some else None


def _budget(config: object, capacity: Capacity | None) -> Budget | None:
    kubelet = dig(config, "kubeletConfig")
    total = dig(kubelet, "shutdownGracePeriodSeconds")
    critical = dig(kubelet, "shutdownGracePeriodCriticalPodsSeconds")
    if capacity is None or UNKNOWN in (total, critical):
        return None
    return termination_budget(capacity, Mode.STANDARD, _seconds(total) or 0, _seconds(critical))


def _seconds(value: object) -> int | None:
    seconds = number(value)
    return int(seconds) if seconds is not None and math.isfinite(seconds) else None
