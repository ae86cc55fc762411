"""What each way of obtaining nodes demands of a node pool, and what it excludes.

Sources, read on 2026-11-29: preconditions of GoogleCloudPlatform/cluster-toolkit
(modules/compute/gke-node-pool); docs.cloud.google.com/kubernetes-engine pages
how-to/dws-flex-start-training, how-to/provisioningrequest, concepts/node-pool-upgrade-strategies;
documentation strings of pulumi-gcp 10.2.0; refusals of the real provider.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from spotproof_gke.capacity import QUEUED_KEY
from spotproof_gke.grace import SHUTDOWN_SECONDS
from spotproof_gke.rules.pool_gpus import judge_gpus
from spotproof_gke.rules.pool_shape import Conflict, PoolShape
from spotproof_gke.rules.pool_size import judge_size, judge_surge
from spotproof_gke.rules.reading import UNKNOWN, dig, items, mapping, number, text

NODE_LIFETIME_SECONDS = (600, 604_800)
"""Least and most lifetime of a node. GKE ends flex-start nodes after 7 days; the least is its own
least for flex-start, and ours for the other kinds."""

COMPACT_FLEX_START_MACHINES = ("a3-ultragpu-", "a4-", "h4d-")
"""Machine types that flex-start offers with compact placement."""

NO_RESERVATION = "NO_RESERVATION"
RESERVED = ("ANY_RESERVATION", "SPECIFIC_RESERVATION")


def pool_conflicts(pool: Mapping[str, Any]) -> Iterator[Conflict]:
    """Each demand of its capacity that a node pool does not meet.

    Args:
        pool: The pool's properties as the provider takes them, camelCase: `nodeConfig`,
            `autoscaling`, `management` and so on. A value that is `UNKNOWN` breaks no rule.
    """
    read = PoolShape(pool)
    for judge in _JUDGES:
        yield from judge(read)


def _exclusive(pool: PoolShape) -> Iterator[Conflict]:
    if pool.flex_start and pool.spot:
        rule = "flex-start and Spot exclude each other"
        yield Conflict("nodeConfig.spot", True, rule, "keep one of the two")
    if pool.queued and pool.spot:
        rule = "queued provisioning and Spot exclude each other"
        yield Conflict("queuedProvisioning.enabled", True, rule, "keep one of the two")
    if pool.spot and pool.is_("preemptible"):
        rule = "Spot and preemptible exclude each other"
        yield Conflict("nodeConfig.preemptible", True, rule, "drop it: Spot has replaced it")
    if pool.flex_start and pool.is_("preemptible"):
        rule = "flex-start and preemptible exclude each other"
        yield Conflict("nodeConfig.preemptible", True, rule, "drop it")


def _flex_start(pool: PoolShape) -> Iterator[Conflict]:
    if not pool.flex_start:
        return
    repair = dig(pool.props.get("management"), "autoRepair")
    if repair is not UNKNOWN and repair is not False:
        rule = "flex-start nodes are not repaired, since a repair would end the run"
        yield Conflict("management.autoRepair", repair, rule, "set it to false", refused=False)
    static = pool.props.get("nodeCount")
    if static not in (None, UNKNOWN):
        rule = "a flex-start pool has no static number of nodes"
        fix = "remove it, and let the pool scale from zero"
        yield Conflict("nodeCount", static, rule, fix, refused=number(static) != 0)
    policy = pool.autoscaling.get("locationPolicy")
    if pool.autoscaling and policy is not UNKNOWN and text(policy) != "ANY":
        rule = "a flex-start pool goes to any zone that has capacity"
        yield Conflict("autoscaling.locationPolicy", policy, rule, "set it to ANY", refused=False)
    if pool.props.get("upgradeSettings") not in (None, UNKNOWN):
        rule = "GKE upgrades flex-start nodes by letting them run out, and no settings apply"
        fix = "remove it, or it differs for ever"
        yield Conflict("upgradeSettings", "…", rule, fix, refused=False)
    yield from _from_zero(pool, "a flex-start pool")


def _from_zero(pool: PoolShape, what: str) -> Iterator[Conflict]:
    if pool.props.get("autoscaling") is UNKNOWN or pool.props.get("nodeCount") is not None:
        return
    path, least = pool.least
    if not pool.autoscaling:
        rule = f"{what} is scaled by the autoscaler, from zero"
        fix = "add limits from 0 to the most nodes"
        yield Conflict("autoscaling", None, rule, fix, refused=pool.queued)
    elif (number(least) or 0) > 0:
        rule = f"{what} scales from zero"
        yield Conflict(path, least, rule, "set it to 0", refused=pool.queued)
    elif (number(initial := pool.props.get("initialNodeCount")) or 0) > 0:
        rule = f"{what} starts at zero"
        yield Conflict("initialNodeCount", initial, rule, "set it to 0", refused=False)


def _reservation(pool: PoolShape) -> Iterator[Conflict]:
    affinity = pool.affinity
    path = "nodeConfig.reservationAffinity.consumeReservationType"
    if affinity is UNKNOWN:
        return
    taken = affinity in RESERVED
    for holds, what in ((pool.flex_start, "flex-start"), (pool.queued, "queued")):
        if holds and affinity != NO_RESERVATION:
            rule = f"{what} nodes never come from a reservation, and the pool must say so"
            fix = f"set it to {NO_RESERVATION}"
            yield Conflict(path, affinity, rule, fix, refused=taken or pool.queued)
            return
    if pool.spot and affinity not in (None, NO_RESERVATION):
        rule = "Spot nodes never come from a reservation"
        fix = f"set it to {NO_RESERVATION}, or leave it out"
        yield Conflict(path, affinity, rule, fix, refused=taken)
    if affinity == "SPECIFIC_RESERVATION":
        stated = mapping(pool.config.get("reservationAffinity"))
        if stated.get("key") is None or not stated.get("values"):
            rule = "a specific reservation is named by key and values"
            fix = "add key compute.googleapis.com/reservation-name and the name in values"
            yield Conflict("nodeConfig.reservationAffinity", affinity, rule, fix)


def _queued(pool: PoolShape) -> Iterator[Conflict]:
    if not pool.queued:
        return
    if not pool.flex_start:
        yield from _from_zero(pool, "a queued pool")
    labels = pool.config.get("labels")
    stated = mapping(labels).get(QUEUED_KEY)
    if labels is not UNKNOWN and stated is not UNKNOWN and stated != "true":
        rule = "GKE gives a queued pool the taint alone, and workloads select by label"
        fix = f'add the label {QUEUED_KEY}: "true"'
        yield Conflict("nodeConfig.labels", stated, rule, fix, refused=False)
    lifetime = pool.config.get("maxRunDuration")
    if lifetime not in (None, UNKNOWN):
        rule = "on a queued pool each request states how long its nodes run"
        fix = "remove it, and set maxRunDurationSeconds in the ProvisioningRequest"
        yield Conflict("nodeConfig.maxRunDuration", lifetime, rule, fix, refused=False)


def _compact(pool: PoolShape) -> Iterator[Conflict]:
    if not pool.compact:
        return
    machine = text(pool.config.get("machineType"))
    known_machine = pool.config.get("machineType") is not UNKNOWN
    impossible = None
    if pool.queued:
        impossible = "queued GPU nodes are not placed compactly"
    elif pool.flex_start and known_machine and not machine.startswith(COMPACT_FLEX_START_MACHINES):
        names = ", ".join(name.rstrip("-") for name in COMPACT_FLEX_START_MACHINES)
        impossible = f"flex-start places only {names} machines compactly"
    elif pool.spot:
        impossible = "Spot capacity is too scattered to be placed compactly"
    if impossible:
        fix = "remove the placement"
        yield Conflict("placementPolicy.type", "COMPACT", impossible, fix, refused=pool.queued)
        return
    zones = pool.props.get("nodeLocations")
    if zones is not UNKNOWN and zones is not None and len(items(zones)) != 1:
        rule = "nodes are placed compactly in exactly one zone"
        named = list(items(zones))
        yield Conflict("nodeLocations", named, rule, "name one zone", refused=len(named) > 1)
    if text(dig(pool.props.get("upgradeSettings"), "strategy")) == "BLUE_GREEN":
        rule = "a compactly placed pool has no room for a second set of nodes"
        yield Conflict("upgradeSettings.strategy", "BLUE_GREEN", rule, "use SURGE", refused=False)


def _lifetime(pool: PoolShape) -> Iterator[Conflict]:
    stated = pool.config.get("maxRunDuration")
    if stated in (None, UNKNOWN, "") or pool.queued:
        return
    path, (least, most) = "nodeConfig.maxRunDuration", NODE_LIFETIME_SECONDS
    seconds = number(text(stated)[:-1]) if text(stated).endswith("s") else None
    if seconds is None:
        rule = 'the lifetime of nodes is a number of seconds with an "s", such as 86400s'
        yield Conflict(path, stated, rule, "write it so")
    elif not least <= seconds <= most:
        rule = f"nodes (not jobs) live {least} to {most} seconds"
        fix = "choose a number in it"
        yield Conflict(path, stated, rule, fix, refused=pool.flex_start)


def _shutdown(pool: PoolShape) -> Iterator[Conflict]:
    path = "nodeConfig.kubeletConfig"
    kubelet = mapping(pool.config.get("kubeletConfig"))
    total = kubelet.get("shutdownGracePeriodSeconds")
    critical = kubelet.get("shutdownGracePeriodCriticalPodsSeconds")
    if total in (None, UNKNOWN) or critical is UNKNOWN:
        return
    if number(total) not in SHUTDOWN_SECONDS:
        known = ", ".join(map(str, SHUTDOWN_SECONDS))
        rule = f"GKE takes {known} seconds for the shutdown of a node, whatever the SDK says"
        yield Conflict(f"{path}.shutdownGracePeriodSeconds", total, rule, "choose one of them")
    elif number(total) and not pool.spot:
        rule = "only Spot nodes have an extended shutdown"
        yield Conflict(f"{path}.shutdownGracePeriodSeconds", total, rule, "remove it")
    elif number(total) and critical is not None and (number(critical) or 0) >= (number(total) or 0):
        rule = f"critical pods get less than all of the {total} seconds"
        fix = "lower it; what is left is for ordinary pods"
        yield Conflict(f"{path}.shutdownGracePeriodCriticalPodsSeconds", critical, rule, fix)


_JUDGES: tuple[Callable[[PoolShape], Iterator[Conflict]], ...] = (
    _exclusive,
    _flex_start,
    _queued,
    _reservation,
    _compact,
    judge_gpus,
    judge_size,
    judge_surge,
    _lifetime,
    _shutdown,
)
