"""What lets a pod run on Spot nodes, as CEL: the clauses that `spot_scheduling` finds."""

from collections.abc import Collection
from dataclasses import dataclass

from spotproof_gke.admission.cel import both, either, literal, optional
from spotproof_gke.capacity import COMPUTE_CLASS_KEY, PROVISIONING_KEY
from spotproof_gke.interruptible import (
    EXCLUSIONS,
    LATER_ONLY,
    NAMED_BY_KEY,
    NEVER_REPELS,
    ON_DEMAND,
    Exclusion,
    interruptible_values,
)
from spotproof_gke.rules.spot_scheduling import (
    ANY_CLASS,
    BLANKET,
    NODE_FIELD,
    NODE_NAME,
    PREFERRED,
    REQUIRED,
)

DOUBT = "cannot tell "
"""Stands before a clause that only the nodes could answer; the guard denies it all the same."""


@dataclass(frozen=True)
class Variable:
    """A named expression of a policy, which later ones read as `variables.NAME`."""

    name: str
    expression: str


def clauses(
    spec: str, prefix: str, further_taint_keys: Collection[str], spot_classes: Collection[str]
) -> list[Variable]:
    """Variables of which the last, `PREFIXFound`, lists the clauses of a pod specification.

    Args:
        spec: CEL of the specification.
        prefix: What the names of the variables begin with.
        further_taint_keys: Further taint keys that mark Spot pools.
        spot_classes: Further compute classes that may take Spot or flex-start nodes.
    """
    values = interruptible_values(spot_classes)
    further = sorted(further_taint_keys)
    pairs = [(key, one) for key, several in values.items() for one in several]
    taints = [pair for pair in pairs if pair[0] not in further]
    keys = [key for key in values if key not in further and key != COMPUTE_CLASS_KEY]

    def variable(name: str) -> str:
        return f"variables.{prefix}{name}"

    found = [
        f"({variable('OnDemandOnly')} ? [] : "
        + " + ".join(_tolerations(variable("Tolerations"), taints, keys, further, values))
        + ")",
        f"{literal(pairs)}.filter(p, {variable('Selector')}[?p[0]].orValue('') == p[1])"
        '.map(p, "selects " + p[0] + "=" + p[1])',
        *_affinity(variable("Required"), "requires", pairs),
        *_affinity(variable("Preferred"), "prefers", pairs),
        _when(f"{optional(variable('Spec'), 'nodeName')}.orValue('') != ''", DOUBT + NODE_NAME),
        _when(
            either(
                f"{variable(terms)}.exists(t, t.?matchFields.orValue([])"
                '.exists(f, f.operator == "In"))'
                for terms in ("Required", "Preferred")
            ),
            DOUBT + NODE_FIELD,
        ),
    ]
    affinity = (variable("Spec"), "affinity", "nodeAffinity")
    preferences = f"{optional(*affinity, PREFERRED)}.orValue([])"
    parts = {
        "Spec": spec,
        "Tolerations": f"{optional(variable('Spec'), 'tolerations')}.orValue([])",
        "Selector": f"{optional(variable('Spec'), 'nodeSelector')}.orValue({{}})",
        "Required": f"{optional(*affinity, REQUIRED, 'nodeSelectorTerms')}.orValue([])",
        "Preferred": f"{preferences}.map(p, p.?preference.orValue({{}}))",
        "OnDemandOnly": _on_demand_only(variable("Selector"), variable("Required")),
        "Found": " + ".join(found),
    }
    return [Variable(f"{prefix}{name}", expression) for name, expression in parts.items()]


def _when(condition: str, clause: str) -> str:
    return f"({condition} ? [{literal(clause)}] : [])"


def _tolerations(
    tolerations: str,
    taints: list[tuple[str, str]],
    keys: list[str],
    further: list[str],
    values: Collection[str],
) -> list[str]:
    key, effect, value = (f't.?{part}.orValue("")' for part in ("key", "effect", "value"))
    exists = 't.?operator.orValue("") == "Exists"'
    repels = f"{effect} != {literal(NEVER_REPELS)}"
    blanket = both(f'{key} == ""', exists, f"!({effect} in {literal([NEVER_REPELS, LATER_ONLY])})")
    with_value = both(f"{key} == p[0]", f"{value} == p[1]", f"!({exists})", repels)
    by_key = both(f"{key} == k", exists, repels)
    found = [
        _when(f"{tolerations}.exists(t, {blanket})", BLANKET),
        f"{literal(taints)}.filter(p, {tolerations}.exists(t, {with_value}))"
        '.map(p, "tolerates " + p[0] + "=" + p[1])',
        f'{literal(keys)}.filter(k, {tolerations}.exists(t, {by_key})).map(k, "tolerates " + k)',
    ]
    if further:
        any_value = both(f"{key} == k", repels)
        found.append(
            f"{literal(further)}.filter(k, {tolerations}.exists(t, {any_value}))"
            '.map(k, "tolerates " + k)'
        )
    if COMPUTE_CLASS_KEY in values and COMPUTE_CLASS_KEY not in further:
        any_class = both(f"{key} == {literal(COMPUTE_CLASS_KEY)}", exists, repels)
        found.append(_when(f"{tolerations}.exists(t, {any_class})", DOUBT + ANY_CLASS))
    return found


def _affinity(terms: str, verb: str, pairs: list[tuple[str, str]]) -> list[str]:
    listed = "e.?values.orValue([])"
    asked = both('e.operator == "In"', f"p[1] in {listed}")
    left = both(
        'e.operator == "NotIn"',
        f"e.key == {literal(PROVISIONING_KEY)}",
        f"{literal(ON_DEMAND)} in {listed}",
        f"!(p[1] in {listed})",
    )
    return [
        f"{literal(pairs)}.filter(p, {terms}.exists(t, t.?matchExpressions.orValue([])"
        f".exists(e, e.key == p[0] && {either([asked, left])})))"
        f'.map(p, "{verb} " + p[0] + "=" + p[1] + " by node affinity")',
        f"{literal(NAMED_BY_KEY)}.filter(k, {terms}.exists(t, t.?matchExpressions.orValue([])"
        '.exists(e, e.key == k && e.operator == "Exists")))'
        f'.map(k, "{verb} " + k + " by node affinity")',
    ]


def _on_demand_only(selector: str, terms: str) -> str:
    keeps_off = either(_excludes(each) for each in EXCLUSIONS)
    return either(
        [
            f"{selector}[?{literal(PROVISIONING_KEY)}].orValue('') == {literal(ON_DEMAND)}",
            f"({terms}.size() > 0 && "
            f"{terms}.all(t, t.?matchExpressions.orValue([]).exists(e, {keeps_off})))",
        ]
    )


def _excludes(exclusion: Exclusion) -> str:
    listed = "e.?values.orValue([])"
    conditions = [
        f"e.key == {literal(exclusion.key)}",
        f"e.operator == {literal(exclusion.operator)}",
    ]
    if exclusion.value is not None:
        value = literal(exclusion.value)
        if exclusion.operator == "In":
            conditions += [f"{listed}.size() > 0", f"{listed}.all(v, v == {value})"]
        else:
            conditions.append(f"{value} in {listed}")
    return both(*conditions)
