"""A flex-start pool leaves its nodes unrepaired: a repair would end the run.

The demand is one of those of `pool_capacity`, which constructors check; here plain pools are judged
by it, also those that a cluster lists itself.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from spotproof_gke.rules.clusters import CLUSTER, NODE_POOL
from spotproof_gke.rules.finding import Finding, Resource, shown
from spotproof_gke.rules.interruptible_pools import listed_pools
from spotproof_gke.rules.pool_capacity import pool_conflicts
from spotproof_gke.rules.pools import flag
from spotproof_gke.rules.reading import UNKNOWN, dig

REPAIR_RULE = "flex-start nodes are not repaired, since a repair would end the run"

_REPAIR_AT = "management.autoRepair"
_FIX = f"set {_REPAIR_AT} to false"


def flex_start_repair(resource: Resource) -> Iterator[Finding]:
    """Findings for a flex-start node pool, or for such pools that a cluster declares itself."""
    for where, pool in _pools(resource):
        repair = dig(pool.get("management"), "autoRepair")
        flex_start = flag(pool.get("nodeConfig"), "flexStart")
        if any(conflict.property == _REPAIR_AT for conflict in pool_conflicts(pool)):
            said = "not set, and on by default" if repair is None else shown(str(repair).lower())
            yield resource.finding(f"{where}{_REPAIR_AT} is {said}", REPAIR_RULE, _FIX)
        elif (flex_start and repair is UNKNOWN) or (flex_start is None and repair is not False):
            found = f"{where}whether it is a flex-start pool, or {_REPAIR_AT}"
            yield resource.finding(found, REPAIR_RULE, _FIX, False)


def _pools(resource: Resource) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if resource.type == NODE_POOL:
        yield "", {key: resource.get(key) for key in ("nodeConfig", "management")}
    elif resource.type == CLUSTER:
        for where, pool in listed_pools(resource):
            yield f"{where}: ", pool
