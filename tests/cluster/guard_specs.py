"""Pod specifications that say something of nodes, for the guard and for the policy pack alike.

Written from the labels and taints of Google's documentation, not from our tables, so that a key
that is missing there shows.
"""

import random
from typing import Any

SPOT = "cloud.google.com/gke-spot"
PREEMPTIBLE = "cloud.google.com/gke-preemptible"
FLEX_START = "cloud.google.com/gke-flex-start"
QUEUED = "cloud.google.com/gke-queued"
PROVISIONING = "cloud.google.com/gke-provisioning"
COMPUTE_CLASS = "cloud.google.com/compute-class"
GPU = "nvidia.com/gpu"
OWN_TAINT = "acme.io/evictable"
SPOT_CLASS = "cheap-gpus"

Spec = dict[str, Any]

LABELS = [
    (SPOT, "true"),
    (PREEMPTIBLE, "true"),
    (FLEX_START, "true"),
    (QUEUED, "true"),
    (PROVISIONING, "spot"),
    (PROVISIONING, "preemptible"),
    (PROVISIONING, "flex-start"),
    (COMPUTE_CLASS, "autopilot-spot"),
    (COMPUTE_CLASS, SPOT_CLASS),
]
BY_KEY = [SPOT, PREEMPTIBLE, FLEX_START, QUEUED]


def expression(key: str, operator: str, *values: str) -> Spec:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


def tolerates(key: str = "", value: str = "", effect: str = "", *, exists: bool = False) -> Spec:
    parts = {"key": key, "value": value, "effect": effect}
    one = {name: part for name, part in parts.items() if part}
    return {"tolerations": [{**one, "operator": "Exists"} if exists else one]}


def selects(key: str, value: str) -> Spec:
    return {"nodeSelector": {key: value}}


def requires(*terms: list[Spec], fields: list[Spec] | None = None) -> Spec:
    made = [{"matchExpressions": term} for term in terms]
    made += [{"matchFields": fields}] if fields else []
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": made}}
    return {"affinity": {"nodeAffinity": required}}


def prefers(*expressions: Spec, fields: list[Spec] | None = None) -> Spec:
    preference = {"matchFields": fields} if fields else {"matchExpressions": list(expressions)}
    preferred = [{"weight": 1, "preference": preference}]
    node = {"preferredDuringSchedulingIgnoredDuringExecution": preferred}
    return {"affinity": {"nodeAffinity": node}}


EVERY_TAINT = tolerates(exists=True)
NODE = expression("metadata.name", "In", "gke-a-b-c")
NOT_NODE = expression("metadata.name", "NotIn", "gke-a-b-c")
LINUX = expression("kubernetes.io/os", "In", "linux")


LEAVES_OPEN = [
    expression(SPOT, "NotIn", "false"),
    expression(SPOT, "NotIn", "spot"),
    expression(SPOT, "In", "false"),
    expression(PREEMPTIBLE, "DoesNotExist"),
    expression(PREEMPTIBLE, "NotIn", "true"),
    expression(PROVISIONING, "In", "standard", "other"),
    expression(PROVISIONING, "In", "other"),
    expression(PROVISIONING, "Exists"),
    expression(PROVISIONING, "DoesNotExist"),
    expression(PROVISIONING, "NotIn", "flex-start"),
    expression(PROVISIONING, "NotIn", "true"),
    expression("kubernetes.io/os", "In", "standard"),
    expression("kubernetes.io/os", "NotIn", "spot"),
    expression("kubernetes.io/os", "NotIn", "true"),
    expression("kubernetes.io/os", "DoesNotExist"),
]
"""Expressions that a Spot node may match too, so that a toleration beside one counts."""

OFF_SPOT_ALONE = {
    "off Spot": requires(
        [LINUX, expression(SPOT, "DoesNotExist")], [expression(SPOT, "NotIn", "true")]
    ),
    "off provisioned Spot": requires([expression(PROVISIONING, "NotIn", "spot")]),
}
OFF_SPOT_AND_PREEMPTIBLE = {
    "neither by label": requires(
        [expression(SPOT, "DoesNotExist"), expression(PREEMPTIBLE, "NotIn", "true")]
    ),
    "neither provisioned": requires([expression(PROVISIONING, "NotIn", "spot", "preemptible")]),
    "one by each": requires(
        [expression(SPOT, "NotIn", "true"), expression(PROVISIONING, "NotIn", "preemptible")]
    ),
}
OFF_ALL = {
    "standard": requires([expression(PROVISIONING, "In", "standard")]),
    "none provisioned": requires(
        [LINUX, expression(PROVISIONING, "NotIn", "spot", "preemptible", "flex-start")]
    ),
    "none by label": requires([expression(key, "DoesNotExist") for key in BY_KEY]),
    "each term in its own way": requires(
        [expression(PROVISIONING, "In", "standard")],
        [expression(key, "NotIn", "true") for key in BY_KEY],
    ),
}
"""Required affinities by the kinds of nodes that they keep a pod off."""

ON_SPOT = {
    "Spot": tolerates(SPOT, exists=True),
    "Spot=true": tolerates(SPOT, "true"),
    "provisioning=spot": tolerates(PROVISIONING, "spot"),
    "GKE's Spot class": tolerates(COMPUTE_CLASS, "autopilot-spot"),
}
ON_PREEMPTIBLE = {
    "preemptible": tolerates(PREEMPTIBLE, exists=True),
    "provisioning=preemptible": tolerates(PROVISIONING, "preemptible"),
}
ON_FLEX_START = {
    "flex-start": tolerates(FLEX_START, exists=True),
    "flex-start=true": tolerates(FLEX_START, "true", "NoSchedule"),
    "queued": tolerates(QUEUED, exists=True),
    "provisioning=flex-start": tolerates(PROVISIONING, "flex-start"),
    "provisioning": tolerates(PROVISIONING, exists=True),
    "a class of their own": tolerates(COMPUTE_CLASS, SPOT_CLASS),
    "a taint of their own": tolerates(OWN_TAINT, "anything"),
    "every taint": EVERY_TAINT,
}
"""Tolerations by the kinds of nodes that they reach: of flex-start, also what may be of any."""


def _beside(tolerations: dict[str, Spec], affinities: dict[str, Spec]) -> dict[str, Spec]:
    return {
        f"tolerates {name}, {where}": {**one, **affinity}
        for name, one in tolerations.items()
        for where, affinity in affinities.items()
    }


def _reaching() -> dict[str, Spec]:
    """Specifications that let a pod on nodes that can be taken away, or ask for them."""
    found: dict[str, Spec] = {}
    for key, value in LABELS:
        name = f"{key.partition('/')[2]}={value}"
        found[f"selects {name}"] = selects(key, value)
        found[f"tolerates {name}"] = tolerates(key, value, "NoSchedule")
        found[f"tolerates {name} of any effect"] = tolerates(key, value)
        found[f"requires {name}"] = requires([LINUX, expression(key, "In", "other", value)])
        found[f"prefers {name}"] = prefers(expression(key, "In", value))
    for key in BY_KEY:
        name = key.partition("/")[2]
        found[f"tolerates {name}"] = tolerates(key, "", "NoSchedule", exists=True)
        found[f"tolerates {name} of NoExecute"] = tolerates(key, "", "NoExecute", exists=True)
        found[f"requires {name}"] = requires([expression(key, "Exists")])
        found[f"prefers {name}"] = prefers(expression(key, "Exists"))
    return {
        **found,
        "tolerates every taint": EVERY_TAINT,
        "tolerates every NoSchedule": tolerates("", "", "NoSchedule", exists=True),
        "tolerates provisioning": tolerates(PROVISIONING, exists=True),
        "tolerates a taint of their own": tolerates(OWN_TAINT, "anything"),
        "tolerates a taint of their own by key": tolerates(OWN_TAINT, exists=True),
        "requires what is not standard": requires([expression(PROVISIONING, "NotIn", "standard")]),
        "prefers what is not standard": prefers(expression(PROVISIONING, "NotIn", "standard")),
        "requires preemptible by exclusion": requires(
            [expression(PROVISIONING, "NotIn", "standard", "spot")]
        ),
        "one open term": {
            **EVERY_TAINT,
            **requires([expression(SPOT, "DoesNotExist")], [LINUX]),
        },
        **{
            f"blanket, {'-'.join([one['operator'], *one.get('values', [])])} of "
            f"{one['key'].partition('/')[2]}": {**EVERY_TAINT, **requires([one])}
            for one in LEAVES_OPEN
        },
        **_beside(ON_PREEMPTIBLE, OFF_SPOT_ALONE),
        **_beside(ON_FLEX_START, {"off Spot": OFF_SPOT_ALONE["off Spot"]}),
        **_beside(
            {"flex-start": ON_FLEX_START["flex-start"], "every taint": EVERY_TAINT},
            {**OFF_SPOT_ALONE, **OFF_SPOT_AND_PREEMPTIBLE},
        ),
        "off Spot by one term, off flex-start by the other": {
            **EVERY_TAINT,
            **requires(
                [expression(SPOT, "DoesNotExist")], [expression(FLEX_START, "DoesNotExist")]
            ),
        },
        "preference only": {**EVERY_TAINT, **prefers(expression(SPOT, "DoesNotExist"))},
        "in the second of two": {
            "tolerations": [{"key": GPU, "operator": "Exists"}, *EVERY_TAINT["tolerations"]]
        },
        "several at once": {
            **tolerates(SPOT, "true"),
            **selects(FLEX_START, "true"),
            **requires([expression(PROVISIONING, "In", "spot", "flex-start")]),
        },
        "off Spot and on it": {
            **selects(PROVISIONING, "standard"),
            **requires([expression(SPOT, "Exists")]),
        },
    }


DOUBTFUL: dict[str, Spec] = {
    "nodeName": {"nodeName": "gke-a-b-c"},
    "nodeName with a blanket": {"nodeName": "gke-a-b-c", **EVERY_TAINT},
    "required node": requires(fields=[NODE]),
    "preferred node": prefers(fields=[NODE]),
    "any compute class": tolerates(COMPUTE_CLASS, "", "NoSchedule", exists=True),
    "any compute class, off Spot": {
        **tolerates(COMPUTE_CLASS, exists=True),
        **OFF_SPOT_ALONE["off Spot"],
    },
}
"""Only the nodes could tell. The pack reports them as such; the guard, which has no second look,
denies them."""

KEPT_OFF: dict[str, Spec] = {
    "plain": {},
    # On flex-start nodes with GPUs too, but not by any word of its own: see the guard's decision.
    "GPU toleration": tolerates(GPU, exists=True),
    "GKE's own taint": tolerates("components.gke.io/gke-managed-components", exists=True),
    "CriticalAddonsOnly": tolerates("CriticalAddonsOnly", exists=True),
    "every NoExecute": tolerates("", "", "NoExecute", exists=True),
    "every PreferNoSchedule": tolerates("", "", "PreferNoSchedule", exists=True),
    "Spot PreferNoSchedule": tolerates(SPOT, "true", "PreferNoSchedule"),
    "Spot false": tolerates(SPOT, "false", "NoSchedule"),
    "selects not Spot": selects(SPOT, "false"),
    "selects standard": selects(PROVISIONING, "standard"),
    "another class": {**tolerates(COMPUTE_CLASS, "n4"), **selects(COMPUTE_CLASS, "n4")},
    "requires another class": requires([expression(COMPUTE_CLASS, "In", "n4")]),
    "requires off Spot": requires([expression(SPOT, "DoesNotExist")]),
    "requires not Spot": requires([expression(SPOT, "NotIn", "true")]),
    "requires standard": requires([expression(PROVISIONING, "In", "standard")]),
    "requires neither": requires(
        [expression(PROVISIONING, "NotIn", "standard", "spot", "preemptible", "flex-start")]
    ),
    "prefers neither": prefers(
        expression(PROVISIONING, "NotIn", "standard", "spot", "preemptible", "flex-start")
    ),
    "prefers not Spot": prefers(expression(PROVISIONING, "NotIn", "spot")),
    "blanket, selects standard": {**EVERY_TAINT, **selects(PROVISIONING, "standard")},
    **_beside(ON_SPOT, OFF_SPOT_ALONE),
    **_beside({"preemptible": ON_PREEMPTIBLE["preemptible"]}, OFF_SPOT_AND_PREEMPTIBLE),
    **_beside({**ON_SPOT, **ON_PREEMPTIBLE, **ON_FLEX_START}, {"standard": OFF_ALL["standard"]}),
    **_beside({"every taint": EVERY_TAINT}, OFF_ALL),
    "any compute class, standard": {
        **tolerates(COMPUTE_CLASS, exists=True),
        **OFF_ALL["standard"],
    },
    "not a node": requires(fields=[NOT_NODE]),
    "pod affinity": {
        "affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"topologyKey": SPOT, "labelSelector": {"matchLabels": {"app": "work"}}}
                ]
            }
        }
    },
}
REACHING = _reaching()
SPECS: dict[str, Spec] = {**REACHING, **DOUBTFUL, **KEPT_OFF}

_KEYS = [*BY_KEY, PROVISIONING, COMPUTE_CLASS, GPU, OWN_TAINT, "kubernetes.io/os"]
_VALUES = ["true", "false", "spot", "preemptible", "flex-start", "standard", "autopilot-spot",
           SPOT_CLASS, "n4"]  # fmt: skip


def random_spec(source: random.Random) -> Spec:
    """A specification that the API server accepts, made of words that matter."""
    spec: Spec = {}
    if source.random() < 0.6:
        some = range(source.randint(1, 3))
        spec["tolerations"] = [_random_toleration(source) for _ in some]
    if source.random() < 0.3:
        spec["nodeSelector"] = {source.choice(_KEYS): source.choice(_VALUES)}
    node: Spec = {}
    if source.random() < 0.4:
        terms = [_random_term(source) for _ in range(source.randint(1, 2))]
        node["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    if source.random() < 0.2:
        preferred = [{"weight": 1, "preference": _random_term(source)}]
        node["preferredDuringSchedulingIgnoredDuringExecution"] = preferred
    if node:
        spec["affinity"] = {"nodeAffinity": node}
    if source.random() < 0.05:
        spec["nodeName"] = "gke-a-b-c"
    return spec


def _random_toleration(source: random.Random) -> Spec:
    effect = source.choice(["", "NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule"])
    key = source.choice([*_KEYS, ""])
    exists = not key or source.random() < 0.4
    value = "" if exists else source.choice(_VALUES)
    return tolerates(key, value, effect, exists=exists)["tolerations"][0]


def _random_term(source: random.Random) -> Spec:
    if source.random() < 0.1:
        return {"matchFields": [source.choice([NODE, NOT_NODE])]}
    found = []
    for _ in range(source.randint(1, 2)):
        operator = source.choice(["In", "In", "NotIn", "NotIn", "Exists", "DoesNotExist"])
        some = source.sample(_VALUES, source.randint(1, 3)) if "In" in operator else []
        found.append(expression(source.choice(_KEYS), operator, *some))
    return {"matchExpressions": found}
