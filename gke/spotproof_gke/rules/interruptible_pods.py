"""Which pods of a stack may run where their node can be taken away or ends, and on which pools.

A pod is found by its own selector, tolerations and affinity; by a selector that only such pools of
the stack answer to; and by a compute class of the stack that takes such nodes. DaemonSets are part
of a node and go with it, so they are left out, and so are patches, which say little of a pod.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spotproof_gke.capacity import FLEX_START_KEY, PROVISIONING_KEY, Capacity, is_flexible
from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.interruptible_pools import (
    NODE_POOL_KEY,
    Pool,
    is_set_by_others,
    pools_of,
)
from spotproof_gke.rules.reading import UNKNOWN, dig, is_true, items, mapping, text
from spotproof_gke.rules.spot_scheduling import COMPUTE_CLASS_KEY, spot_scheduling
from spotproof_gke.rules.workloads import PodSpec, kind_of, pod_specs


@dataclass(frozen=True)
class Landing:
    """Where a pod may run.

    Attributes:
        spot: Whether on nodes that can be taken away; None when that is not known.
        flex_start: Whether on nodes that end at a known time; None when that is not known.
        pools: The pools of the stack with such nodes that its selector finds.
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
        self.pools = tuple(pools_of(stack))
        self._classes = dict(_classes(stack, self.pools))

    def of(self, spec: object) -> Landing:
        """Where a pod with this specification may run."""
        selector = mapping(mapping(spec).get("nodeSelector"))
        spot, flex = _by_scheduling(spec)
        found = [pool for pool in self.pools if pool.answers(selector) is not False]
        if not spot and not flex and self._names_pools(selector) and found:
            answers = [_either(pool.is_interruptible) for pool in found]
            if all(answers) and all(pool.capacity for pool in found):
                sure = all(pool.answers(selector) for pool in found)
                spot = _among(found, (Capacity.SPOT,), sure)
                flex = _among(found, (Capacity.FLEX_START, Capacity.FLEX_START_QUEUED), sure)
        by_class = self._classes.get(text(selector.get(COMPUTE_CLASS_KEY)))
        if by_class:
            spot, flex = _either(spot, by_class[0]), _either(flex, by_class[1])
        return Landing(spot, flex, tuple(pool for pool in found if pool.is_interruptible))

    def _names_pools(self, selector: Mapping[Any, Any]) -> bool:
        """Whether a selector asks for a pool by its name or by a label that its owner gave it."""
        return any(
            key == NODE_POOL_KEY
            or (not is_set_by_others(key) and any(key in pool.labels for pool in self.pools))
            for key in selector
        )


def _among(pools: Sequence[Pool], capacities: Sequence[Capacity], sure: bool) -> bool | None:
    return (True if sure else None) if any(p.capacity in capacities for p in pools) else False


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
    found = [certain for _, certain in spot_scheduling(spec)]
    if not found:
        return False, False
    either = True if any(found) else None
    selector = mapping(mapping(spec).get("nodeSelector"))
    if text(selector.get(FLEX_START_KEY)) == "true" or (
        text(selector.get(PROVISIONING_KEY)) == "flex-start"
    ):
        return False, either
    rest = [certain for _, certain in spot_scheduling(_without_flex_start(spec))]
    spot = (True if any(rest) else None) if rest else False
    return spot, (False if len(rest) == len(found) else either)


def _without_flex_start(value: object) -> Any:
    """A pod specification, or a part of it, without what speaks of flex-start."""
    if isinstance(value, Mapping):
        key, chosen = text(value.get("key")), value.get("values")
        if key == FLEX_START_KEY or (
            key == PROVISIONING_KEY
            and (text(value.get("value")) == "flex-start" or chosen in (["flex-start"],))
        ):
            return {}
        return {
            name: _without_flex_start(each)
            for name, each in value.items()
            if name not in (FLEX_START_KEY, "containers", "initContainers", "volumes")
        }
    if isinstance(value, (list, tuple)):
        return [_without_flex_start(each) for each in value if text(each) != "flex-start"]
    return value


def _classes(
    stack: Stack, pools: Sequence[Pool]
) -> Iterator[tuple[str, tuple[bool | None, bool | None]]]:
    """Compute classes: whether one takes Spot nodes, and whether flex-start ones."""
    ends = {text(pool.labels[NODE_POOL_KEY]) or pool.name: pool for pool in pools}
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
            named = [ends.get(text(name)) for name in items(dig(each, "nodepools"))]
            spot += [pool.capacity is Capacity.SPOT for pool in named if pool]
            flex += [bool(pool.capacity and is_flexible(pool.capacity)) for pool in named if pool]
        name = text(dig(resource.get("metadata"), "name")) or resource.name
        yield name, (_either(*spot), _either(*flex))
