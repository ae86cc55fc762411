"""How a pod may name nodes that can be taken away, or that end; read by the rules and the guard.

Source: the labels and taints that the GKE cluster autoscaler knows;
docs.cloud.google.com/kubernetes-engine/docs/how-to/provisioningrequest (the taint of queued
nodes); docs.cloud.google.com/kubernetes-engine/docs/concepts/about-built-in-compute-classes (the
class `autopilot-spot`), read on 2026-11-30.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from spotproof_gke.capacity import (
    COMPUTE_CLASS_KEY,
    FLEX_START_KEY,
    PREEMPTIBLE_KEY,
    PROVISIONING_KEY,
    QUEUED_KEY,
    SPOT_KEY,
)

SPOT_CLASS = "autopilot-spot"
"""The compute class of GKE's own that is Spot."""

ON_DEMAND = "standard"
"""Value of the provisioning label of nodes that stay."""

NAMED_BY_KEY = (SPOT_KEY, PREEMPTIBLE_KEY, FLEX_START_KEY, QUEUED_KEY)
"""Keys that only such nodes have, whatever the value."""

NEVER_REPELS = "PreferNoSchedule"
"""Effect of a taint that keeps no pod away, so that no toleration of it matters."""

LATER_ONLY = "NoExecute"
"""Effect that the taints of such nodes do not have: to tolerate every taint of it lets none on."""

_VALUES: dict[str, tuple[str, ...]] = {
    **{key: ("true",) for key in NAMED_BY_KEY},
    PROVISIONING_KEY: ("spot", "preemptible", "flex-start"),
    COMPUTE_CLASS_KEY: (SPOT_CLASS,),
}


def interruptible_values(spot_classes: Collection[str] = ()) -> Mapping[str, tuple[str, ...]]:
    """For each key of labels and taints, the values that such nodes carry.

    Args:
        spot_classes: Further compute classes that may take Spot or flex-start nodes.
    """
    classes = (SPOT_CLASS, *(each for each in spot_classes if each != SPOT_CLASS))
    return {**_VALUES, COMPUTE_CLASS_KEY: classes}


@dataclass(frozen=True)
class Exclusion:
    """A form of expression on a label that matches no Spot node.

    Attributes:
        key: The label.
        operator: The operator.
        value: `NotIn` must list it, `In` must list nothing else; None when there are no values.
    """

    key: str
    operator: str
    value: str | None = None


EXCLUSIONS = (
    Exclusion(SPOT_KEY, "DoesNotExist"),
    Exclusion(SPOT_KEY, "NotIn", "true"),
    Exclusion(PROVISIONING_KEY, "In", ON_DEMAND),
    Exclusion(PROVISIONING_KEY, "NotIn", "spot"),
)
"""The expressions that keep a pod off Spot. One alone need not know flex-start."""
