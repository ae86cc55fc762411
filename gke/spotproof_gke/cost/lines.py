"""What each resource of a plan costs in a month, as a range."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from spotproof_gke import prices
from spotproof_gke.audit.evidence import printable
from spotproof_gke.capacity import Capacity, is_flexible
from spotproof_gke.cost.amounts import money, span
from spotproof_gke.cost.nodes import NodeGroup
from spotproof_gke.locations import is_zone
from spotproof_gke.prices import Missing, Price
from spotproof_gke.rules.clusters import Cluster, region_or_none
from spotproof_gke.rules.finding import Resource
from spotproof_gke.rules.reading import UNKNOWN, is_true, number, text

MONTH_HOURS = 730.0
"""Hours of an average month."""


@dataclass(frozen=True)
class Line:
    """A part of the estimate.

    Attributes:
        name: The resource's name in the program.
        what: What is paid for.
        low: The least that it costs in a month, in dollars.
        high: The most; None when it cannot be told.
        unknown: Why it cannot be told, in one clause, or "".
        depends_on: What decides between the two, in one clause, or "".
        sources: Keys of `prices.SOURCES`.
    """

    name: str
    what: str
    low: float = 0.0
    high: float | None = None
    unknown: str = ""
    depends_on: str = ""
    sources: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Use:
    """What a plan does not tell.

    Attributes:
        node_hours: Hours of a month in which the nodes run.
        stored_gib: What each bucket holds, in GiB, on average; None when nobody knows.
        messages_gib: Messages published in a month, in GiB; likewise.
        traffic_gib: What each NAT gateway carries in a month, in GiB; likewise.
    """

    node_hours: float = MONTH_HOURS
    stored_gib: float | None = None
    messages_gib: float | None = None
    traffic_gib: float | None = None


def node_lines(group: NodeGroup, use: Use) -> Iterator[Line]:
    """The nodes of a pool, and their boot disks."""
    share = use.node_hours / MONTH_HOURS
    what = _described(group)
    if group.machine_type is None or group.capacity is None:
        hour: Price | Missing = Missing(
            "its machine type or capacity is not known before the update"
        )
    elif group.region is None:
        hour = Missing("its region is not known; give --region")
    else:
        hour = prices.machine_hour(
            group.machine_type, group.region, group.capacity, group.accelerator, group.gpus
        )
    if isinstance(hour, Price):
        hour = hour.times(use.node_hours)
    yield _counted(group, what, hour, _why_a_range(group))
    if group.has_local_ssd and not _includes_local_ssd(group):
        why = "the price of local SSD is not in the table"
        yield Line(group.name, "local SSD of its nodes", unknown=why)
    yield _counted(group, _disks(group), _disk_month(group, share), "")


def _described(group: NodeGroup) -> str:
    nodes = span(group.least, group.most, "node")
    parts = [f"{nodes} {group.machine_type or 'of an unknown type'}"]
    if group.gpus:
        parts.append(f"{group.gpus} x {group.accelerator} each")
    parts.append(group.capacity.value if group.capacity else "capacity unknown")
    parts.append(group.region or "region unknown")
    return ", ".join(parts)


def _why_a_range(group: NodeGroup) -> str:
    reasons: list[str] = []
    if group.least != group.most:
        reasons.append("how many nodes run")
    if group.capacity is Capacity.SPOT:
        reasons.append("the Spot price of the day")
    if group.capacity is not None and is_flexible(group.capacity):
        reasons.append("the flex-start discount")
    if group.capacity is Capacity.RESERVATION:
        reasons.append("the reservation, which is paid for unused too")
    return ", ".join(reasons)


def _includes_local_ssd(group: NodeGroup) -> bool:
    return (group.machine_type or "").startswith(("a2-ultragpu-", "a3-"))


def _disks(group: NodeGroup) -> str:
    size = "of unknown size" if group.disk_gb is None else f"of {group.disk_gb:.0f} GB"
    return f"boot disks {size}, {group.disk_type or 'type unknown'}"


def _disk_month(group: NodeGroup, share: float) -> Price | Missing:
    if group.disk_type is None or group.disk_gb is None:
        return Missing("their type or size is not known before the update")
    if group.region is None:
        return Missing("the region of its pool is not known; give --region")
    price = prices.disk_gb_month(group.disk_type, group.region)
    return price if isinstance(price, Missing) else price.times(group.disk_gb * share)


def _counted(group: NodeGroup, what: str, each: Price | Missing, depends_on: str) -> Line:
    if group.most == 0:
        return Line(group.name, what, 0.0, 0.0)
    if isinstance(each, Missing):
        return Line(group.name, what, unknown=each.why, depends_on=depends_on)
    low = (group.least or 0.0) * each.low
    if group.most is None:
        why = "how many nodes there may be is not known before the update; give --nodes"
        return Line(group.name, what, low, None, why, depends_on, each.sources)
    return Line(group.name, what, low, group.most * each.high, "", depends_on, each.sources)


def cluster_lines(clusters: Iterable[Cluster]) -> Iterator[Line]:
    """The management of all clusters; the free tier of a billing account does for one of them."""
    left = True
    for cluster in clusters:
        kind = _kind(cluster)
        yield _cluster_line(cluster.resource, kind, free=left and kind != _REGIONAL)
        left = left and kind == _REGIONAL


_REGIONAL, _UNKNOWN_KIND = "regional cluster", "cluster, zonal or regional"


def _kind(cluster: Cluster) -> str:
    if is_true(cluster.resource.get("enableAutopilot")):
        return "Autopilot cluster"
    if is_zone(text(cluster.location)):
        return "zonal cluster"
    return _UNKNOWN_KIND if cluster.region is None else _REGIONAL


def _cluster_line(cluster: Resource, kind: str, *, free: bool) -> Line:
    fee = prices.cluster_hour().times(MONTH_HOURS)
    reason = "whether the billing account's free tier is used up" if free else ""
    low = max(fee.low - prices.FREE_TIER_MONTH, 0.0) if free else fee.low
    return Line(cluster.name, kind, low, fee.high, "", reason, fee.sources)


def autopilot_line(cluster: Resource) -> Line:
    """The pods of an Autopilot cluster."""
    why = "Autopilot is paid by what pods ask for, and the plan does not tell how many run"
    return Line(cluster.name, "pods", unknown=why)


def bucket_line(bucket: Resource, stored_gib: float | None) -> Line:
    """What a bucket holds."""
    kind = text(bucket.get("storageClass")) or "STANDARD"
    location = bucket.get("location")
    if location is UNKNOWN or bucket.get("storageClass") is UNKNOWN:
        price: Price | Missing = Missing("its location or class is not known before the update")
    elif bucket.get("customPlacementConfig"):
        price = Missing("the price of a dual-region of one's own is not in the table")
    else:
        price = prices.bucket_gib_month(printable(kind), printable(text(location)))
    what = f"{printable(kind).lower()} storage in {printable(text(location)).lower() or 'unknown'}"
    return _used(bucket.name, what, price, stored_gib, "a GiB stored", "--stored-gib")


def nat_lines(gateway: Resource, traffic_gib: float | None) -> Iterator[Line]:
    """A NAT gateway, and what goes through it."""
    hour = prices.nat_hour().times(MONTH_HOURS)
    reason = "how many nodes are behind it"
    yield Line(gateway.name, "NAT gateway", hour.low, hour.high, "", reason, hour.sources)
    yield _used(
        gateway.name, "NAT traffic", prices.nat_gib(), traffic_gib, "a GiB", "--traffic-gib"
    )


def message_line(
    topics: Sequence[Resource], subscriptions: Sequence[Resource], messages_gib: float | None
) -> Line:
    """All topics and subscriptions together: each message is paid for going in and going out."""
    what = f"{_many(len(topics), 'topic')} and {_many(len(subscriptions), 'subscription')}"
    price = prices.messages_gib()
    if messages_gib is None:
        return _used("Pub/Sub", what, price, None, "a GiB in or out", "--messages-gib")
    carried = messages_gib * 2
    free = max(carried - prices.FREE_MESSAGES_GIB, 0.0)
    reason = "whether the billing account's free messages are used up"
    return Line("Pub/Sub", what, price.low * free, price.high * carried, "", reason, price.sources)


def disk_line(disk: Resource) -> Line:
    """A disk that stands by itself."""
    kind, size = text(disk.get("type")) or "pd-standard", number(disk.get("size"))
    region = region_or_none(disk.get("zone"))
    what = f"disk, {printable(kind)}"
    if size is None or not 0 <= size < 1e6 or region is None or disk.get("type") is UNKNOWN:
        return Line(disk.name, what, unknown="its size, type or zone is not known")
    price = prices.disk_gb_month(kind, region)
    if isinstance(price, Missing):
        return Line(disk.name, what, unknown=printable(price.why))
    price = price.times(size)
    return Line(disk.name, what, price.low, price.high, "", "", price.sources)


def _used(
    name: str, what: str, price: Price | Missing, amount: float | None, unit: str, option: str
) -> Line:
    if isinstance(price, Missing):
        return Line(name, what, unknown=price.why)
    if amount is None:
        why = f"{money(price.high)} for {unit}, and how much it is, is not known; give {option}"
        return Line(name, what, unknown=why, sources=price.sources)
    whole = price.times(amount)
    return Line(name, what, whole.low, whole.high, "", "", whole.sources)


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
