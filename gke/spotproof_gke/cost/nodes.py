"""How many nodes of which kind the pools of a plan have, at least and at most."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from spotproof_gke.accelerators import MACHINE_TYPES
from spotproof_gke.audit.evidence import printable
from spotproof_gke.capacity import Capacity
from spotproof_gke.cost.upgrades import surge_of
from spotproof_gke.locations import is_zone
from spotproof_gke.prices import vcpus_of
from spotproof_gke.rules.clusters import Clusters, owner_of, region_or_none
from spotproof_gke.rules.finding import Resource
from spotproof_gke.rules.pool_shape import PoolShape
from spotproof_gke.rules.pools import pools_in
from spotproof_gke.rules.reading import UNKNOWN, dig, is_true, items, mapping, number, text

REGIONAL_ZONES = 3
"""Zones that GKE chooses in a region when none is named."""

DEFAULT_POOL = "default pool: "
"""What `pools_in` calls the pool that a cluster has when it lists none."""

DEFAULT_MACHINE = "e2-medium"
DEFAULT_DISK = ("pd-balanced", 100.0)
"""What GKE takes when a pool says nothing: see the documentation strings of pulumi-gcp 10.2.0."""


@dataclass(frozen=True)
class NodeGroup:
    """Nodes of one kind; None stands for what is not known.

    Attributes:
        name: The pool's name in the program; for a pool in a cluster's own list, with its place.
        also_called: Other names: in the cloud, and of the component around it.
        region: Where the nodes are.
        machine_type: For example `g2-standard-8`.
        accelerator: The GPU as GKE names it, "" for none.
        gpus: GPUs of one node.
        vcpus: vCPUs of one node.
        capacity: How the nodes are obtained.
        least: The fewest nodes.
        most: The most nodes.
        disk_type: Type of the boot disks.
        disk_gb: Size of one boot disk.
        has_local_ssd: Whether the pool asks for local SSD.
        surge: Further nodes during an upgrade; None for as many as there are.
        public: Whether nodes have public addresses.
    """

    name: str
    also_called: tuple[str, ...]
    region: str | None
    machine_type: str | None
    accelerator: str
    gpus: int
    vcpus: int | None
    capacity: Capacity | None
    least: float | None
    most: float | None
    disk_type: str | None
    disk_gb: float | None
    has_local_ssd: bool
    surge: int | None
    public: bool | None

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that the pool may be called."""
        return (self.name, *self.also_called)

    def with_nodes(self, count: float) -> "NodeGroup":
        """The same with a number of nodes that somebody gives."""
        return replace(self, least=count, most=count)

    @property
    def most_added(self) -> int:
        """The most further nodes during an upgrade; 0 where it is not known how many there are."""
        if self.most == 0:
            return 0
        return int(self.most or 0) if self.surge is None else self.surge


def groups_of(
    resource: Resource, clusters: Clusters, region: str | None = None
) -> Iterator[NodeGroup]:
    """The nodes of a pool, or of the pools that a cluster lists itself.

    Args:
        resource: A node pool or a cluster.
        clusters: All clusters of the plan; the owner of a pool tells what the pool does not.
        region: Where nodes are whose place is not known.
    """
    for where, pool in pools_in(resource):
        own = [each for each in clusters if each.resource is resource]
        owner = own[0] if own else owner_of(resource, clusters)
        if owner is None and len(clusters) == 1:
            # The name of a cluster that is to be made is not known yet.
            owner = clusters[0]
        cluster = owner.resource if owner else None
        place = resource.get("location")
        if not text(place) and owner:
            place = owner.location
        if where == DEFAULT_POOL:
            pool = {**pool, "initialNodeCount": resource.get("initialNodeCount")}
        zones = _zones(pool, resource, cluster)
        yield _group(resource, where, pool, zones, place, cluster, region)


def _zones(
    pool: Mapping[str, Any], resource: Resource, cluster: Resource | None
) -> list[Any] | None:
    for holder in (pool.get("nodeLocations"), resource.get("nodeLocations")):
        if holder is UNKNOWN:
            return None
        if items(holder):
            return list(items(holder))
    named = cluster.get("nodeLocations") if cluster else None
    if named is UNKNOWN:
        return None
    home = text(cluster.get("location")) if cluster else ""
    # A zonal cluster lists its further zones alone.
    return [*([home] if is_zone(home) and items(named) else []), *items(named)]


def _group(
    resource: Resource,
    where: str,
    pool: Mapping[str, Any],
    zones: list[Any] | None,
    place: Any,
    cluster: Resource | None,
    region: str | None,
) -> NodeGroup:
    shape = PoolShape(pool)
    config = shape.config
    unknown_config = pool.get("nodeConfig") is UNKNOWN
    machine = config.get("machineType")
    machine_type = None if machine is UNKNOWN or unknown_config else text(machine)
    if machine_type == "":
        machine_type = DEFAULT_MACHINE
    accelerator, gpus = _gpus(config, machine_type)
    places = [text(zone) for zone in zones or () if text(zone)]
    known = region_or_none(places[0]) if places else region_or_none(place)
    least, most = _counts(pool, _zone_count(zones, place))
    capacity = None if unknown_config else _capacity(shape)
    disk_type, disk_gb = (None, None) if unknown_config else _disk(config)
    inside = [text(pool.get("name")), text(resource.get("name"))]
    parent = resource.parent.rpartition("::")[2]
    return NodeGroup(
        name=printable(f"{resource.name} {where.removesuffix(': ')}".strip()),
        also_called=tuple(printable(each) for each in (*inside, parent) if each),
        region=known or region,
        machine_type=printable(machine_type) if machine_type else None,
        accelerator=accelerator,
        gpus=gpus,
        vcpus=vcpus_of(machine_type) if machine_type else None,
        capacity=capacity,
        least=least,
        most=most,
        disk_type=disk_type,
        disk_gb=disk_gb,
        has_local_ssd=_has_local_ssd(config),
        surge=0 if unknown_config else surge_of(pool, capacity),
        public=_public(pool, cluster),
    )


def _gpus(config: Mapping[str, Any], machine_type: str | None) -> tuple[str, int]:
    built_in = MACHINE_TYPES.get(machine_type or "")
    if built_in:
        return built_in.accelerator, built_in.gpus
    stated = items(config.get("guestAccelerators"))
    first = mapping(stated[0]) if stated else {}
    count = number(first.get("count")) or 0
    return (printable(text(first.get("type"))), int(count)) if 0 < count < 1000 else ("", 0)


def _capacity(pool: PoolShape) -> Capacity | None:
    config = pool.config
    flags = [config.get(key) for key in ("spot", "preemptible", "flexStart")]
    if pool.queued:
        return Capacity.FLEX_START_QUEUED
    if pool.flex_start:
        return Capacity.FLEX_START
    if pool.spot or pool.is_("preemptible"):
        return Capacity.SPOT
    if UNKNOWN in flags:
        return None
    return Capacity.RESERVATION if pool.affinity == "SPECIFIC_RESERVATION" else Capacity.ON_DEMAND


def _zone_count(zones: list[Any] | None, place: Any) -> int | None:
    if zones:
        return len(zones)
    if zones is None or not text(place):
        return None
    return 1 if is_zone(text(place)) else REGIONAL_ZONES


def _counts(pool: Mapping[str, Any], zones: int | None) -> tuple[float | None, float | None]:
    """The fewest and the most nodes; counts of a pool are for each zone, totals for all."""
    scaled = pool.get("autoscaling")
    if scaled is UNKNOWN:
        return None, None
    if mapping(scaled):
        least = _limit(mapping(scaled), "totalMinNodeCount", "minNodeCount", zones)
        most = _limit(mapping(scaled), "totalMaxNodeCount", "maxNodeCount", zones)
        # GKE refuses a least above the most; what is paid stays within the most.
        return (least if None in (least, most) else min(least or 0, most or 0)), most
    stated = pool.get("nodeCount")
    if stated is None:
        stated = pool.get("initialNodeCount")
    each = _count(stated)
    total = None if each is None else (0.0 if each == 0 else _for_all(each, zones))
    return total, total


def _limit(scaled: Mapping[str, Any], total: str, each: str, zones: int | None) -> float | None:
    if scaled.get(total) is not None:
        return _count(scaled[total])
    if scaled.get(each) is None:
        return 0.0 if "Min" in total else None
    count = _count(scaled[each])
    return count if not count else _for_all(count, zones)


def _for_all(each: float, zones: int | None) -> float | None:
    return None if zones is None else each * zones


def _count(value: Any) -> float | None:
    count = number(value)
    return count if count is not None and 0 <= count < 1e6 else None


def _disk(config: Mapping[str, Any]) -> tuple[str | None, float | None]:
    boot = config.get("bootDisk")
    kinds = (config.get("diskType"), None if boot is UNKNOWN else dig(boot, "diskType"))
    sizes = (config.get("diskSizeGb"), None if boot is UNKNOWN else dig(boot, "sizeGb"))
    kind = next((each for each in kinds if each is not None), DEFAULT_DISK[0])
    size = next((each for each in sizes if each is not None), DEFAULT_DISK[1])
    return printable(text(kind)) or None, _count(size)


def _has_local_ssd(config: Mapping[str, Any]) -> bool:
    counts: Iterable[Any] = (
        config.get("localSsdCount"),
        dig(config.get("localNvmeSsdBlockConfig"), "localSsdCount"),
        dig(config.get("ephemeralStorageLocalSsdConfig"), "localSsdCount"),
    )
    return any((number(count) or 0) > 0 for count in counts)


def _public(pool: Mapping[str, Any], cluster: Resource | None) -> bool | None:
    """Whether nodes have public addresses, by the pool, else by the cluster."""
    for holder in (
        pool.get("networkConfig"),
        cluster.get("privateClusterConfig") if cluster else None,
    ):
        private = dig(holder, "enablePrivateNodes")
        if private is UNKNOWN:
            return None
        if private is not None:
            return not is_true(private)
    return True if cluster else None
