"""Which quotas of Compute Engine nodes need. Table and sources: `data/quotas.yaml`.

A project may have less quota than its plan needs, and for GPUs often has none: nodes then do not
come, and nothing but an event says so. Preemptible quotas are apart from standard ones.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from spotproof_gke.capacity import Capacity, is_flexible
from spotproof_gke.tables import table

_TABLE = table("quotas")
ALL_REGIONS = "all regions"
"""The scope of a quota that counts everything in a project."""


@dataclass(frozen=True)
class Demand:
    """Nodes that count against quotas.

    Attributes:
        name: What they are called.
        region: Where they are; None when it is not known.
        nodes: How many at most; None when it is not known.
        capacity: How they are obtained; None when it is not known.
        machine_type: Their machine type, or "" when it is not known.
        vcpus: vCPUs of one; None when it is not known.
        accelerator: Their GPU as GKE names it, or "".
        gpus: GPUs of one.
        disk_type: The type of their boot disks, or "" when it is not known.
        disk_gb: The size of one; None when it is not known.
        public: Whether each has a public address.
    """

    name: str
    region: str | None
    nodes: float | None
    capacity: Capacity | None
    machine_type: str
    vcpus: int | None
    accelerator: str
    gpus: int
    disk_type: str
    disk_gb: float | None
    public: bool


@dataclass(frozen=True)
class AutoGpus:
    """GPUs that a cluster may add by itself, up to its limit.

    Attributes:
        name: What the cluster is called.
        region: Where it is; None when it is not known.
        accelerator: The GPU as GKE names it.
        most: The limit.
    """

    name: str
    region: str | None
    accelerator: str
    most: float


@dataclass(frozen=True)
class Need:
    """A quota that is needed.

    Attributes:
        quota: Its name in the Compute API; None when it was not found.
        region: The region, or `ALL_REGIONS`; None when it is not known.
        amount: How much at the most nodes; None when some part of it is not known.
        what: What counts against it.
        asked_by: The names of the demands.
        otherwise: Which quotas count in other cases, and in which; or "".
    """

    quota: str | None
    region: str | None
    amount: float | None
    what: str
    asked_by: tuple[str, ...]
    otherwise: str = ""


@dataclass(frozen=True)
class _Part:
    quota: str | None
    region: str | None
    amount: float | None
    what: str
    by: str
    otherwise: str = ""


def needs(demands: Iterable[Demand], added: Iterable[AutoGpus] = ()) -> list[Need]:
    """The quotas that all of it needs together, by region and name.

    A quota whose name is not known is there too, once for each kind of thing that it counts.

    Args:
        demands: Nodes of pools.
        added: GPUs of nodes that clusters add by themselves.
    """
    parts = [part for demand in demands if demand.nodes != 0 for part in _parts(demand)]
    parts += [part for gpus in added if gpus.most for part in _auto_parts(gpus)]
    merged: dict[tuple[str, str], list[_Part]] = {}
    for part in parts:
        key = (part.region or "", part.quota or f"~{part.what}")
        merged.setdefault(key, []).append(part)
    return [_together(merged[key]) for key in sorted(merged, key=_order)]


def _together(parts: list[_Part]) -> Need:
    first = parts[0]
    known = [part.amount for part in parts if part.amount is not None]
    return Need(
        quota=first.quota,
        region=first.region,
        amount=sum(known) if len(known) == len(parts) else None,
        what=first.what,
        asked_by=tuple(dict.fromkeys(part.by for part in parts)),
        otherwise="; ".join(dict.fromkeys(part.otherwise for part in parts if part.otherwise)),
    )


def _order(key: tuple[str, str]) -> tuple[bool, str, bool, str]:
    region, quota = key
    return region == ALL_REGIONS, region, "GPU" not in quota, quota


def _parts(demand: Demand) -> list[_Part]:
    def part(
        quota: str | None,
        each: float | None,
        what: str,
        region: str | None = demand.region,
        otherwise: str = "",
    ) -> _Part:
        known = each is not None and demand.nodes is not None
        amount = (each or 0) * (demand.nodes or 0) if known else None
        return _Part(quota, region, amount, what, demand.name, otherwise)

    found = [part(_TABLE["instances"], 1, "nodes")]
    if demand.gpus:
        found.append(part(_gpu_quota(demand), demand.gpus, f"{demand.accelerator} GPUs"))
        found.append(part(_TABLE["all_gpus"], demand.gpus, "GPUs of any kind", ALL_REGIONS))
    quota, otherwise = _cpu_quota(demand)
    what = "vCPUs" if quota else f"vCPUs of {_family(demand).upper() or 'unknown'} machines"
    found.append(part(quota, demand.vcpus, what, otherwise=otherwise))
    found.append(part(_TABLE["all_cpus"], demand.vcpus, "vCPUs of any kind", ALL_REGIONS))
    disk = _TABLE["disks"].get(demand.disk_type)
    what = "GB of boot disks" if disk else f"GB of {demand.disk_type or 'unknown'} disks"
    found.append(part(disk, demand.disk_gb, what))
    if demand.capacity is Capacity.FLEX_START_QUEUED:
        found.append(part(_TABLE["resize_requests"], None, "queued requests at a time"))
    if demand.public:
        found.append(part(_TABLE["addresses"], 1, "public addresses of nodes"))
    return found


def _auto_parts(gpus: AutoGpus) -> list[_Part]:
    names = _TABLE["gpus"].get(gpus.accelerator, {})
    standard = names.get("standard", "the standard quota, whose name is not known,")
    otherwise = f"{standard} where pods ask for on-demand nodes"
    what = f"{gpus.accelerator} GPUs"
    return [
        _Part(names.get("preemptible"), gpus.region, gpus.most, what, gpus.name, otherwise),
        _Part(_TABLE["all_gpus"], ALL_REGIONS, gpus.most, "GPUs of any kind", gpus.name),
    ]


def _is_preemptible(capacity: Capacity | None) -> bool:
    return capacity is Capacity.SPOT or (capacity is not None and is_flexible(capacity))


def gpu_quota(accelerator: str, preemptible: bool) -> str | None:
    """The quota of a GPU in the Compute API; None when its name was not found.

    Args:
        accelerator: The GPU as GKE names it.
        preemptible: Whether it is obtained as Spot or flex-start.
    """
    return _TABLE["gpus"].get(accelerator, {}).get("preemptible" if preemptible else "standard")


def _gpu_quota(demand: Demand) -> str | None:
    if demand.capacity is None:
        return None
    return gpu_quota(demand.accelerator, _is_preemptible(demand.capacity))


def _cpu_quota(demand: Demand) -> tuple[str | None, str]:
    """The quota of vCPUs, and which one counts until it was granted."""
    standard = _TABLE["cpus"].get(_family(demand))
    if demand.capacity is None:
        return None, ""
    if demand.capacity is Capacity.SPOT:
        otherwise = f"those of Spot count as {standard} until it was granted" if standard else ""
        return _TABLE["preemptible_cpus"], otherwise
    # Of flex-start only the GPUs are documented.
    return (None, "") if is_flexible(demand.capacity) else (standard, "")


def _family(demand: Demand) -> str:
    return demand.machine_type.partition("-")[0]
