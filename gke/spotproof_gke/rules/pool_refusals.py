"""A node pool whose properties do not go together, in any program."""

from collections.abc import Iterator

from spotproof_gke.rules.finding import Finding, Resource, shown
from spotproof_gke.rules.pool_capacity import pool_conflicts
from spotproof_gke.rules.pools import pools_in

REFUSAL_RULE = "the properties of a node pool go together as GKE demands"


def refused_pools(resource: Resource) -> Iterator[Finding]:
    """Findings for a node pool that GKE refuses, or for such pools that a cluster declares itself.

    A value that is not known breaks no rule. What GKE takes without doing what was meant is not
    reported.
    """
    for where, pool in pools_in(resource):
        for conflict in pool_conflicts(pool):
            if conflict.refused:
                what = f"{where}{conflict.property} is {_said(conflict.value)}, but {conflict.rule}"
                yield resource.finding(what, REFUSAL_RULE, conflict.fix)


def _said(value: object) -> str:
    if isinstance(value, list):
        return " and ".join(shown(each) for each in value)
    if value is None or value is True:
        return "true" if value else "not set"
    return shown(value)
