"""What lets a pod run on Spot nodes, as CEL: the clauses that `spot_scheduling` finds."""

from collections.abc import Collection, Mapping
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
    Kind,
    interruptible_values,
    kinds_behind,
)
from spotproof_gke.rules.compute_classes import DEFAULT_CLASS_LABELS
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

_KNOWN = "t.?matchExpressions.orValue([]).exists(e, e.key in variables.knownKeys)"


@dataclass(frozen=True)
class Variable:
    """A named expression of a policy, which later ones read as `variables.NAME`."""

    name: str
    expression: str


def shared(further_taint_keys: Collection[str], spot_classes: Collection[str]) -> list[Variable]:
    """Variables with the labels and taints of nodes that can be taken away, or that end."""
    values = interruptible_values(spot_classes)
    pairs = [(key, one) for key, several in values.items() for one in several]
    # A key of the user's own counts with any value, and needs no clause for each.
    further = sorted(further_taint_keys)
    keys = [key for key in values if key not in further and key != COMPUTE_CLASS_KEY]
    return [
        Variable("labels", literal(pairs)),
        Variable("labelKeys", literal(NAMED_BY_KEY)),
        Variable("taints", literal([pair for pair in pairs if pair[0] not in further])),
        Variable("taintKeys", literal(keys)),
        Variable("anyValueTaintKeys", literal(further)),
        Variable("kindsBehind", literal(_kinds_behind(values))),
        Variable("knownKeys", literal(["", *dict.fromkeys([*values, *further])])),
        Variable("classKeys", literal([] if COMPUTE_CLASS_KEY in further else [COMPUTE_CLASS_KEY])),
        Variable(
            "defaultClasses",
            literal(
                [(key, one) for key in DEFAULT_CLASS_LABELS for one in values[COMPUTE_CLASS_KEY]]
            ),
        ),
    ]


def _kinds_behind(values: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[Kind, ...]]:
    """The kinds of nodes that may carry a taint, by its key and by its key and value."""
    found = {key: kinds_behind(key) for key in values}
    pairs = [(key, one) for key, several in values.items() for one in several]
    return {**found, **{f"{key}={one}": kinds_behind(key, one) for key, one in pairs}}


def defaults(root: str, name: str) -> Variable:
    """A variable with the labels by which a namespace gives its pods a class that may be Spot.

    GKE adds the class to pods when they are made, which the guard does not see.

    Args:
        root: The object; anything but a namespace has none.
        name: Name of the variable.
    """
    label = f'dyn({root}).metadata.?labels[?p[0]].orValue("")'
    return Variable(
        name,
        f'variables.defaultClasses.filter(p, {root} != null && {root}.kind == "Namespace" && '
        f'{label} == p[1]).map(p, "gives its pods the class " + p[1] + " by the label " + p[0])',
    )


def clauses(spec: str, prefix: str) -> list[Variable]:
    """Variables of which the last, `PREFIXFound`, lists the clauses of a pod specification.

    Args:
        spec: CEL of the specification.
        prefix: What the names of the variables begin with.
    """

    def of(name: str) -> str:
        return f"variables.{prefix}{name}"

    affinity = (of("Spec"), "affinity", "nodeAffinity")
    preferences = f"{optional(*affinity, PREFERRED)}.orValue([])"
    parts = {
        "Spec": spec,
        # What matters is picked out once, since each of the clauses goes through it again.
        "Tolerations": f"{optional(of('Spec'), 'tolerations')}.orValue([])"
        '.filter(t, t.?key.orValue("") in variables.knownKeys)',
        "Selector": f"{optional(of('Spec'), 'nodeSelector')}.orValue({{}})",
        "Required": f"{optional(*affinity, REQUIRED, 'nodeSelectorTerms')}.orValue([])",
        "Preferred": f"{preferences}.map(p, p.?preference.orValue({{}}))",
        "KnownRequired": f"{of('Required')}.filter(t, {_KNOWN})",
        "KnownPreferred": f"{of('Preferred')}.filter(t, {_KNOWN})",
        "Open": " + ".join(_left_open(kind, of("Selector"), of("Required")) for kind in Kind),
        "Tolerated": tolerated(of("Tolerations"), of("Open")),
        "Asked": " + ".join(
            [
                f'variables.labels.filter(p, {of("Selector")}[?p[0]].orValue("") == p[1])'
                '.map(p, "selects " + p[0] + "=" + p[1])',
                *_expressions(of("KnownRequired"), "requires"),
                *_expressions(of("KnownPreferred"), "prefers"),
            ]
        ),
        "Named": " + ".join(
            [
                _when(f'{optional(of("Spec"), "nodeName")}.orValue("") != ""', DOUBT + NODE_NAME),
                _when(
                    either(map(_names_a_node, (of("Required"), of("Preferred")))),
                    DOUBT + NODE_FIELD,
                ),
            ]
        ),
        "Found": " + ".join(of(each) for each in ("Tolerated", "Asked", "Named")),
    }
    return [Variable(f"{prefix}{name}", expression) for name, expression in parts.items()]


def _when(condition: str, clause: str) -> str:
    return f"({condition} ? [{literal(clause)}] : [])"


def tolerated(tolerations: str, open_kinds: str) -> str:
    """CEL of the clauses of tolerations that reach a kind of node among `open_kinds`."""
    key, effect, value = (f't.?{part}.orValue("")' for part in ("key", "effect", "value"))
    exists = 't.?operator.orValue("") == "Exists"'
    repels = f"{effect} != {literal(NEVER_REPELS)}"
    later = literal([NEVER_REPELS, LATER_ONLY])
    blanket = both(f'{key} == ""', exists, f"!({effect} in {later})")
    with_value = both(f"{key} == p[0]", f"{value} == p[1]", f"!({exists})", repels)
    by_key = both(f"{key} == k", exists, repels)
    any_value = both(f"{key} == k", repels)
    any_class = both(f"{key} in variables.classKeys", exists, repels)

    def reaches(taint: str) -> str:
        return f"variables.kindsBehind[{taint}].exists(n, n in {open_kinds})"

    clauses = " + ".join(
        [
            _when(f"{tolerations}.exists(t, {blanket})", BLANKET),
            f"variables.taints.filter(p, {tolerations}.exists(t, {with_value}) && "
            + reaches('p[0] + "=" + p[1]')
            + ').map(p, "tolerates " + p[0] + "=" + p[1])',
            f"variables.taintKeys.filter(k, {tolerations}.exists(t, {by_key}) && {reaches('k')})"
            '.map(k, "tolerates " + k)',
            f"variables.anyValueTaintKeys.filter(k, {tolerations}.exists(t, {any_value}))"
            '.map(k, "tolerates " + k)',
            _when(
                both(f"{tolerations}.exists(t, {any_class})", reaches(literal(COMPUTE_CLASS_KEY))),
                DOUBT + ANY_CLASS,
            ),
        ]
    )
    return f"{open_kinds}.size() == 0 ? [] : {clauses}"


def _expressions(terms: str, verb: str) -> list[str]:
    """The labels that an expression in a list of terms lets in, with its value or without."""
    listed = "e.?values.orValue([])"
    asked = both('e.operator == "In"', f"p[1] in {listed}")
    left = both(
        'e.operator == "NotIn"',
        f"e.key == {literal(PROVISIONING_KEY)}",
        f"{literal(ON_DEMAND)} in {listed}",
        f"!(p[1] in {listed})",
    )
    some = f"{terms}.exists(t, t.?matchExpressions.orValue([]).exists(e, "
    return [
        f"variables.labels.filter(p, {some}e.key == p[0] && {either([asked, left])})))"
        f'.map(p, "{verb} " + p[0] + "=" + p[1] + " by node affinity")',
        f'variables.labelKeys.filter(k, {some}e.key == k && e.operator == "Exists")))'
        f'.map(k, "{verb} " + k + " by node affinity")',
    ]


def _names_a_node(terms: str) -> str:
    return f'{terms}.exists(t, t.?matchFields.orValue([]).exists(f, f.operator == "In"))'


def _left_open(kind: Kind, selector: str, terms: str) -> str:
    """A list of a kind of node, or an empty one when selector or terms keep a pod off it."""
    keeps_off = either(_excludes(each) for each in EXCLUSIONS if kind in each.kinds)
    excluded = either(
        [
            f'{selector}[?{literal(PROVISIONING_KEY)}].orValue("") == {literal(ON_DEMAND)}',
            f"({terms}.size() > 0 && "
            f"{terms}.all(t, t.?matchExpressions.orValue([]).exists(e, {keeps_off})))",
        ]
    )
    return f"({excluded} ? [] : [{literal(kind)}])"


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
