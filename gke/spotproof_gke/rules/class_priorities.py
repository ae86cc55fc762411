"""What GKE, and long-running work, demand of the priorities of a compute class.

Sources, read on 2026-11-29: docs.cloud.google.com/kubernetes-engine pages
reference/crds/computeclass and concepts/about-custom-compute-classes; google/skills
(gke-compute-classes): a cooldown of minutes after each priority without capacity, and
`activeMigration`, which restarts what runs.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from spotproof_gke.problems import Problem
from spotproof_gke.rules.pool_capacity import NODE_LIFETIME_SECONDS
from spotproof_gke.rules.reading import UNKNOWN, dig, is_true, items, mapping, number, text

MOST_PRIORITIES = 10
"""Our limit. Each that has no capacity costs minutes before the next is tried."""


def class_conflicts(spec: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with the specification of a class, ours or another's.

    The key of each problem is the path in the specification; what is `UNKNOWN` breaks no rule.
    """
    priorities = spec.get("priorities")
    if priorities is UNKNOWN:
        return
    count = len(items(priorities))
    if not 1 <= count <= MOST_PRIORITIES:
        rule = f"a class has 1 to {MOST_PRIORITIES} priorities; each without capacity costs minutes"
        yield Problem("priorities", count, rule, "keep those that differ in what is scarce")
        return
    for index, priority in enumerate(items(priorities)):
        yield from _priority_conflicts(f"priorities[{index}]", mapping(priority))
        for earlier in range(index):
            if priority is not UNKNOWN and items(priorities)[earlier] == priority:
                rule = f"it is the same as priorities[{earlier}]"
                yield Problem(f"priorities[{index}]", None, rule, "remove one of the two")
                break
    if is_true(dig(spec.get("activeMigration"), "optimizeRulePriority")):
        rule = "moving running work to a better priority interrupts it"
        yield Problem("activeMigration.optimizeRulePriority", True, rule, "set it to false")


def _priority_conflicts(at: str, priority: Mapping[str, Any]) -> Iterator[Problem]:
    spot, flex = is_true(priority.get("spot")), is_true(dig(priority.get("flexStart"), "enabled"))
    if spot and flex:
        rule = "flex-start and Spot exclude each other"
        yield Problem(f"{at}.spot", True, rule, "make two priorities of it")
    affinity = text(dig(priority.get("reservations"), "affinity"))
    if (spot or flex) and affinity not in ("", "None"):
        kind = "Spot" if spot else "flex-start"
        rule = f"{kind} nodes never come from a reservation"
        yield Problem(f"{at}.reservations", affinity, rule, "make two priorities of it")
    lifetime = number(priority.get("maxRunDurationSeconds"))
    least, most = NODE_LIFETIME_SECONDS
    if lifetime is not None and not least <= lifetime <= most:
        rule = f"nodes (not jobs) live {least} to {most} seconds"
        yield Problem(f"{at}.maxRunDurationSeconds", lifetime, rule, "choose a number in it")
