"""How many nodes an upgrade adds to a pool while it lasts.

Source: docs.cloud.google.com/kubernetes-engine/docs/concepts/node-pool-upgrade-strategies, read on
2026-11-30: one node at a time by surge where a pool says nothing, as many as there are by
blue-green, none of flex-start.
"""

from collections.abc import Mapping
from typing import Any

from spotproof_gke.capacity import Capacity, is_flexible
from spotproof_gke.rules.reading import UNKNOWN, mapping, number, text

DEFAULT_SURGE = 1
"""What GKE takes when a pool says nothing."""

_MOST = 1_000_000


def surge_of(pool: Mapping[str, Any], capacity: Capacity | None) -> int | None:
    """The most nodes that an upgrade adds; None for as many as there are.

    Args:
        pool: The pool's properties.
        capacity: How its nodes are obtained; None when it is not known.
    """
    stated = pool.get("upgradeSettings")
    if capacity is not None and is_flexible(capacity):
        return 0
    if stated is None or stated is UNKNOWN:
        return DEFAULT_SURGE
    if text(mapping(stated).get("strategy")) == "BLUE_GREEN":
        return None
    surge = number(mapping(stated).get("maxSurge"))
    return int(surge) if surge is not None and 0 <= surge < _MOST else 0
