"""How a pod may name nodes that can be taken away, or that end; read by the rules and the guard.

The GPU taint is not among what names them. Flex-start nodes with GPUs have no other taint, but
on-demand ones have it too, and who tolerates it means GPUs, not nodes that end.

Source: the labels and taints that the GKE cluster autoscaler knows;
docs.cloud.google.com/kubernetes-engine/docs/how-to/provisioningrequest (the taint of queued
nodes); docs.cloud.google.com/kubernetes-engine/docs/concepts/about-built-in-compute-classes (the
class `autopilot-spot`), read on 2026-11-30.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum

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


class Kind(str, Enum):
    """A kind of node that can be taken away, or that ends."""

    SPOT = "spot"
    PREEMPTIBLE = "preemptible"
    FLEX_START = "flex-start"
    QUEUED = "queued"


EVERY_KIND = tuple(Kind)

_KIND_OF_KEY = {
    SPOT_KEY: Kind.SPOT,
    PREEMPTIBLE_KEY: Kind.PREEMPTIBLE,
    FLEX_START_KEY: Kind.FLEX_START,
    QUEUED_KEY: Kind.QUEUED,
}
_KIND_OF_PROVISIONING = {
    "spot": Kind.SPOT,
    "preemptible": Kind.PREEMPTIBLE,
    "flex-start": Kind.FLEX_START,
}

NAMED_BY_KEY = tuple(_KIND_OF_KEY)
"""Keys that only such nodes have, whatever the value."""

NEVER_REPELS = "PreferNoSchedule"
"""Effect of a taint that keeps no pod away, so that no toleration of it matters."""

LATER_ONLY = "NoExecute"
"""Effect that the taints of such nodes do not have: to tolerate every taint of it lets none on."""

_VALUES: dict[str, tuple[str, ...]] = {
    **{key: ("true",) for key in NAMED_BY_KEY},
    PROVISIONING_KEY: tuple(_KIND_OF_PROVISIONING),
    COMPUTE_CLASS_KEY: (SPOT_CLASS,),
}


def interruptible_values(spot_classes: Collection[str] = ()) -> Mapping[str, tuple[str, ...]]:
    """For each key of labels and taints, the values that such nodes carry.

    Args:
        spot_classes: Further compute classes that may take Spot or flex-start nodes.
    """
    classes = (SPOT_CLASS, *(each for each in spot_classes if each != SPOT_CLASS))
    return {**_VALUES, COMPUTE_CLASS_KEY: classes}


def kinds_behind(
    key: str, value: str | None = None, further_taint_keys: Collection[str] = ()
) -> tuple[Kind, ...]:
    """The kinds of nodes that may carry a taint.

    Args:
        key: The key of the taint; "" for all taints.
        value: Its value; None for any.
        further_taint_keys: Keys of the user's own, which may mark nodes of every kind.
    """
    if key in further_taint_keys:
        return EVERY_KIND
    if key in _KIND_OF_KEY:
        return (_KIND_OF_KEY[key],)
    if key == PROVISIONING_KEY:
        some = (value,) if value in _KIND_OF_PROVISIONING else tuple(_KIND_OF_PROVISIONING)
        return tuple(_KIND_OF_PROVISIONING[each] for each in some)
    if key == COMPUTE_CLASS_KEY:
        return (Kind.SPOT,) if value == SPOT_CLASS else (Kind.SPOT, Kind.FLEX_START)
    return EVERY_KIND


@dataclass(frozen=True)
class Exclusion:
    """A form of expression on a label that matches no node of some kinds.

    Attributes:
        key: The label.
        operator: The operator.
        kinds: The kinds of nodes that it keeps a pod off.
        value: `NotIn` must list it, `In` must list nothing else; None when there are no values.
    """

    key: str
    operator: str
    kinds: tuple[Kind, ...]
    value: str | None = None


EXCLUSIONS = (
    Exclusion(PROVISIONING_KEY, "In", EVERY_KIND, ON_DEMAND),
    Exclusion(PROVISIONING_KEY, "NotIn", (Kind.SPOT,), "spot"),
    Exclusion(PROVISIONING_KEY, "NotIn", (Kind.PREEMPTIBLE,), "preemptible"),
    # Queued nodes come by flex-start too.
    Exclusion(PROVISIONING_KEY, "NotIn", (Kind.FLEX_START, Kind.QUEUED), "flex-start"),
    *(Exclusion(key, "DoesNotExist", (kind,)) for key, kind in _KIND_OF_KEY.items()),
    *(Exclusion(key, "NotIn", (kind,), "true") for key, kind in _KIND_OF_KEY.items()),
)
"""The expressions that keep a pod off some kinds of nodes. Who keeps off Spot alone may still be on
flex-start nodes, so a toleration counts until every kind that it reaches is excluded."""
