"""The termination budget: the seconds that a pod really has when its node is taken away.

Sources, read on 2026-11-29: docs.cloud.google.com/kubernetes-engine/docs/concepts/spot-vms (30 s
from notice to power-off, of which 15 s are for ordinary pods); field measurements of extended
shutdown (120/60 gave ordinary pods exactly 60 s, whatever the pod's own grace period). The page on
Autopilot speaks of up to 25 s; it is old, so the budget there is 15 s too.
"""

from dataclasses import dataclass
from enum import Enum

from spotproof_gke.capacity import Capacity
from spotproof_gke.problems import Problem

NOTICE_SECONDS = 30
"""From the notice to the power-off of a Spot VM, best effort."""

CRITICAL_SECONDS = 15
"""The share of it that GKE keeps for system-critical pods."""

SHUTDOWN_SECONDS = (0, 30, 120)
"""What GKE takes as a node's shutdown grace period; 0 is GKE's own default (30 s)."""

EXTENDED_SHUTDOWN_VERSION = "1.35.0-gke.1171000"
"""The least control plane version that takes an extended shutdown (a preview when read)."""


class Mode(str, Enum):
    """Who looks after the nodes of a cluster."""

    STANDARD = "standard"
    AUTOPILOT = "autopilot"


@dataclass(frozen=True)
class Budget:
    """What a pod has between its SIGTERM and the end of its node.

    Attributes:
        seconds: The budget; None where GKE takes no node away without its pods' own grace period.
        why: How it came about, in one clause, for messages.
        most_seconds: What it would be with the longest shutdown that the node can have; the same
            where it can't be extended.
    """

    seconds: int | None
    why: str
    most_seconds: int | None = None

    def mend(self, save_seconds: float) -> str:
        """What to do about a save that does not fit, in one clause."""
        if self.most_seconds is None or save_seconds > self.most_seconds:
            return "make the save smaller or asynchronous"
        return "make the save smaller or asynchronous, or extend the shutdown of a Spot pool"


def termination_budget(
    capacity: Capacity,
    mode: Mode = Mode.STANDARD,
    shutdown_seconds: int = 0,
    critical_seconds: int | None = None,
) -> Budget:
    """The termination budget of an ordinary pod.

    Args:
        capacity: How the pod's node is obtained.
        mode: The cluster's mode; on Autopilot the shutdown is not the user's to extend.
        shutdown_seconds: The node's shutdown grace period: 0 (GKE's default), 30 or 120.
        critical_seconds: The share of system-critical pods; 15 when None.
    """
    if capacity in (Capacity.ON_DEMAND, Capacity.RESERVATION):
        return Budget(None, "nodes of this capacity are not taken away; a drain waits for the pod")
    extends = mode is Mode.STANDARD and capacity is Capacity.SPOT
    total = shutdown_seconds if extends and shutdown_seconds else NOTICE_SECONDS
    critical = CRITICAL_SECONDS if critical_seconds is None else critical_seconds
    most = SHUTDOWN_SECONDS[-1] if extends else total
    return Budget(
        max(total - critical, 0),
        f"{total} s of notice less {critical} s for critical pods",
        max(most - critical, 0),
    )


def save_problems(key: str, save_seconds: int, budget: Budget) -> list[Problem]:
    """What is wrong with a checkpoint that takes `save_seconds` to save."""
    if budget.seconds is None or save_seconds <= budget.seconds:
        return []
    return [
        Problem(
            key,
            save_seconds,
            f"a pod has {budget.seconds} s when its node is taken away ({budget.why})",
            budget.mend(save_seconds),
        )
    ]


def pod_grace_warning(pod_grace_seconds: int, budget: Budget) -> str | None:
    """What to know about a `terminationGracePeriodSeconds` above the budget, or None."""
    if budget.seconds is None or pod_grace_seconds <= budget.seconds:
        return None
    return (
        f"terminationGracePeriodSeconds = {pod_grace_seconds}: drains and upgrades honour it, but "
        f"when the node is taken away the pod has {budget.seconds} s ({budget.why})"
    )
