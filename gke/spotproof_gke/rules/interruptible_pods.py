"""Which pods of a stack may run where their node can be taken away or ends, and on which pools.

A pod is found by its own selector, tolerations and affinity; by a selector that only such pools of
the stack answer to; and by a compute class of the stack that takes such nodes. DaemonSets are part
of a node and go with it, so they are left out, and so are patches, which say little of a pod.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spotproof_gke.capacity import (
    COMPUTE_CLASS_KEY,
    FLEX_START_KEY,
    NODE_POOL_KEY,
    PROVISIONING_KEY,
    QUEUED_KEY,
)
from spotproof_gke.interruptible import Kind
from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.interruptible_pools import (
    Pool,
    is_set_by_others,
    pools_of,
)
from spotproof_gke.rules.reading import UNKNOWN, dig, is_true, items, mapping, text
from spotproof_gke.rules.spot_scheduling import ANY_CLASS, BLANKET, kinds_left_open, spot_scheduling
from spotproof_gke.rules.workloads import PodSpec, kind_of, pod_specs

_Answer = tuple[tuple[Pool, ...], tuple[Pool, ...]]

_FLEX_START_KEYS = (FLEX_START_KEY, QUEUED_KEY)

_MAYBE = "?"
"""No value of a label: Kubernetes allows letters, digits and `-_.` alone."""


@dataclass(frozen=True)
class Landing:
    """Where a pod may run.

    Attributes:
        spot: Whether on nodes that can be taken away; None when that is not known.
        flex_start: Whether on nodes that end at a known time; None when that is not known.
        pools: The pools of the stack with such nodes that its selector finds, the first of each
            termination budget.
    """

    spot: bool | None
    flex_start: bool | None
    pools: tuple[Pool, ...] = ()

    @property
    def may_end(self) -> bool | None:
        """Whether it may lose its node in either way; None when that is not known."""
        return _either(self.spot, self.flex_start)


def _either(*answers: bool | None) -> bool | None:
    if any(answers):
        return True
    return None if None in answers else False


class Landings:
    """Says of the pods of one stack where they may run."""

    def __init__(self, stack: Stack) -> None:
        self.pools: tuple[Pool, ...] = tuple(pools_of(stack))
        self._classes = dict(_classes(stack, self.pools))
        self._found: dict[tuple[Any, ...], _Answer] = {}
        self._holders: dict[str, dict[str, list[Pool]]] = {}

    def of(self, spec: object) -> Landing:
        """Where a pod with this specification may run."""
        selector = mapping(mapping(spec).get("nodeSelector"))
        spot, flex = _by_scheduling(spec)
        found, budgets = self._answering(selector)
        if not spot and not flex and self._names_pools(selector):
            named = _by_pools(found, selector)
            spot, flex = _either(spot, named[0]), _either(flex, named[1])
        by_class = self._classes.get(text(selector.get(COMPUTE_CLASS_KEY)))
        if by_class:
            spot, flex = _either(spot, by_class[0]), _either(flex, by_class[1])
        return Landing(spot, flex, budgets)

    def _answering(self, selector: Mapping[Any, Any]) -> _Answer:
        """The pools that a selector finds, or may find. Many pods have the same selector."""
        key = tuple(
            (name, value if value is UNKNOWN else text(value)) for name, value in selector.items()
        )
        if key not in self._found:
            near = self._holding(selector)
            found = tuple(pool for pool in near if pool.answers(selector) is not False)
            ending = [pool for pool in found if pool.is_interruptible is not False]
            first = {pool.budget: pool for pool in reversed(ending)}
            self._found[key] = found, tuple(pool for pool in ending if first[pool.budget] is pool)
        return self._found[key]

    def _holding(self, selector: Mapping[Any, Any]) -> Sequence[Pool]:
        """The pools that one label of a selector leaves: not all are looked at each time."""
        for key, wanted in selector.items():
            if wanted is not UNKNOWN and _is_the_owners(key):
                holders = self._holders_of(text(key))
                return [*holders.get(text(wanted), ()), *holders[_MAYBE]]
        return self.pools

    def _holders_of(self, key: str) -> dict[str, list[Pool]]:
        """Pools by what they have under a label; `_MAYBE` for those of which it is not known."""
        if key not in self._holders:
            holders: dict[str, list[Pool]] = {_MAYBE: []}
            for pool in self.pools:
                held = pool.labels.get(key)
                unseen = key not in pool.labels and not pool.all_known
                place = _MAYBE if held is UNKNOWN or unseen else text(held)
                holders.setdefault(place, []).append(pool)
            self._holders[key] = holders
        return self._holders[key]

    def _names_pools(self, selector: Mapping[Any, Any]) -> bool:
        """Whether a selector asks for a pool by its name or by a label that its owner gave it."""
        return any(_is_the_owners(key) for key in selector)


def _is_the_owners(key: object) -> bool:
    return key == NODE_POOL_KEY or not is_set_by_others(key)


def _by_pools(
    found: Sequence[Pool], selector: Mapping[Any, Any]
) -> tuple[bool | None, bool | None]:
    """Whether a selector that names pools leads to Spot, and to flex-start nodes alone."""
    sure = True
    for pool in found:
        answer = pool.answers(selector)
        if answer and pool.is_interruptible is False:
            return False, False
        sure = sure and bool(answer and pool.is_interruptible)
    spot = _either(*(pool.is_spot for pool in found))
    flex = _either(*(pool.is_flex_start for pool in found))
    return (spot if sure or not spot else None), (flex if sure or not flex else None)


def interruptible_pods(
    stack: Stack, landings: Landings | None = None
) -> Iterator[tuple[Resource, PodSpec, Landing]]:
    """The pods of a stack that may lose their node, or of which that is not known."""
    landings = landings or Landings(stack)
    for resource in stack.resources:
        if not kind_of(resource) or resource.type.endswith("Patch"):
            continue
        for pod in pod_specs(resource):
            landing = landings.of(pod.spec)
            if pod.kind != "DaemonSet" and landing.may_end is not False:
                yield resource, pod, landing


def _by_scheduling(spec: object) -> tuple[bool | None, bool | None]:
    """Whether selector, tolerations and affinity let a pod run on Spot, and on flex-start nodes."""
    found = _certainties(spec)
    if not found:
        return False, False
    either = True if any(found) else None
    selector = mapping(mapping(spec).get("nodeSelector"))
    if any(text(selector.get(key)) == "true" for key in _FLEX_START_KEYS) or (
        text(selector.get(PROVISIONING_KEY)) == "flex-start"
    ):
        return False, either
    rest = _certainties(_without_flex_start(spec))
    spot = (True if any(rest) else None) if rest else False
    if len(rest) < len(found):
        return spot, either
    return spot, (False if all(found) else None)


def _certainties(spec: object) -> list[bool]:
    """Of each clause of a specification, whether it is certain.

    Who keeps off Spot and tolerates every taint or class asks for no node that ends.
    """
    off_spot = Kind.SPOT not in kinds_left_open(spec)
    return [
        certain
        for what, certain in spot_scheduling(spec)
        if not (off_spot and what in (BLANKET, ANY_CLASS))
    ]


def _without_flex_start(value: object) -> Any:
    """A pod specification, or a part of it, without what speaks of flex-start."""
    if isinstance(value, Mapping):
        if text(value.get("key")) in _FLEX_START_KEYS or text(value.get("value")) == "flex-start":
            return {}
        return {
            name: _without_flex_start(each)
            for name, each in value.items()
            if name not in _FLEX_START_KEYS
        }
    if isinstance(value, (list, tuple)):
        return [_without_flex_start(each) for each in value if text(each) != "flex-start"]
    return value


def _classes(
    stack: Stack, pools: Sequence[Pool]
) -> Iterator[tuple[str, tuple[bool | None, bool | None]]]:
    """Compute classes: whether one takes Spot nodes, and whether flex-start ones."""
    known: dict[str, Pool] = {}
    nameless: list[Pool] = []
    for pool in pools:
        name = pool.labels[NODE_POOL_KEY]
        if name is UNKNOWN:
            nameless.append(pool)
        known[pool.name if name is UNKNOWN else text(name)] = pool
    for resource in stack.resources:
        if kind_of(resource) != "ComputeClass" or ":cloud.google.com/" not in resource.type:
            continue
        spot: list[bool | None] = [False]
        flex: list[bool | None] = [False]
        priorities = dig(resource.get("spec"), "priorities")
        for each in [UNKNOWN] if priorities is UNKNOWN else items(priorities):
            for said, answers in (
                (dig(each, "spot"), spot),
                (dig(each, "flexStart", "enabled"), flex),
            ):
                answers.append(None if said is UNKNOWN else is_true(said))
            names = dig(each, "nodepools")
            if UNKNOWN in (names, *items(names)):
                spot.append(None)
                flex.append(None)
            for name in items(names):
                pool = known.get(text(name))
                chosen = [pool] if pool else nameless
                spot += [(one.is_spot if pool or not one.is_spot else None) for one in chosen]
                flex += [
                    (one.is_flex_start if pool or not one.is_flex_start else None) for one in chosen
                ]
        name = text(dig(resource.get("metadata"), "name")) or resource.name
        yield name, (_either(*spot), _either(*flex))
