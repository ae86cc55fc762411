"""What Google Cloud charges, and how well that is known. Table: `data/prices.yaml`.

All prices are in US dollars, before taxes, commitments, credits and negotiated discounts. What the
table does not have is a `Missing`, with the reason, and never a guess.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from spotproof_gke.accelerators import MACHINE_TYPES
from spotproof_gke.capacity import Capacity, is_flexible
from spotproof_gke.tables import table

FRESH_DAYS = 90
"""A price that was dated longer ago is old; so is one whose source bears no date."""

_TABLE = table("prices")
_SIZE = re.compile(r"(?P<series>[a-z0-9]+-[a-z]+)-(?P<vcpus>[0-9]{1,4})")


@dataclass(frozen=True)
class Source:
    """Where prices were read.

    Attributes:
        name: Its key in the table.
        address: Where it stands.
        what: What it is, and what is special about the copy that was read.
        dated: The date that it bears; None when it bears none.
        read_on: When it was read.
    """

    name: str
    address: str
    what: str
    dated: date | None
    read_on: date

    def is_old(self, today: date) -> bool:
        """Whether a price from here is to be called old on a day."""
        return self.dated is None or (today - self.dated).days > FRESH_DAYS


SOURCES: Mapping[str, Source] = {
    name: Source(name, row["address"], row["what"], row["dated"], row["read_on"])
    for name, row in _TABLE["sources"].items()
}
"""All sources, by their key in the table."""


def is_free(type_: str) -> bool:
    """Whether resources of a type cost nothing by themselves.

    Objects in a cluster are paid for through its nodes, but for those that make the cloud do more.
    """
    if type_.startswith("kubernetes:"):
        return type_.rpartition(":")[2] not in _TABLE["charged_in_cluster"]
    return type_ in _TABLE["no_charge"]


@dataclass(frozen=True)
class Price:
    """What one unit costs, in dollars, as a range; both ends are the same where one price is known.

    Attributes:
        low: The least.
        high: The most.
        sources: Keys of `SOURCES`.
    """

    low: float
    high: float
    sources: tuple[str, ...]

    def times(self, amount: float) -> "Price":
        """The price of so many units."""
        return Price(self.low * amount, self.high * amount, self.sources)

    def plus(self, other: "Price") -> "Price":
        """Both together."""
        sources = tuple(dict.fromkeys(self.sources + other.sources))
        return Price(self.low + other.low, self.high + other.high, sources)


@dataclass(frozen=True)
class Missing:
    """A price that is not known.

    Attributes:
        why: What is not known, in one clause.
    """

    why: str


def vcpus_of(machine_type: str) -> int | None:
    """The vCPUs of a machine type; None for one whose name does not tell."""
    if machine_type in MACHINE_TYPES:
        return MACHINE_TYPES[machine_type].vcpus
    size = _SIZE.fullmatch(machine_type)
    return int(size["vcpus"]) if size else None


def machine_hour(
    machine_type: str,
    region: str,
    capacity: Capacity,
    accelerator: str = "",
    gpus: int = 0,
) -> Price | Missing:
    """An hour of a machine with its GPUs.

    Args:
        machine_type: For example `g2-standard-8`.
        region: For example `us-central1`.
        capacity: How it is obtained. Spot is a range, since its price moves, and so is
            flex-start, whose prices were not found. A machine of a reservation costs what it does
            on demand, and does so unused too.
        accelerator: The GPU as GKE names it; taken from the machine type where that has it.
        gpus: GPUs of one machine; likewise.
    """
    known = MACHINE_TYPES.get(machine_type)
    if known:
        accelerator, gpus = known.accelerator, known.gpus
    series = machine_type.rpartition("-")[0]
    row = _TABLE["series"].get(series)
    vcpus = vcpus_of(machine_type)
    if row is None or vcpus is None:
        return Missing(f"the price of {machine_type} is not in the table")
    machine = _of_capacity(row, region, capacity, f"{series} machines")
    if isinstance(machine, Missing):
        return machine
    machine = machine.times(vcpus / row["vcpus"])
    if not gpus or row.get("with_gpus"):
        return machine
    card = _TABLE["gpus"].get(accelerator)
    if card is None:
        return Missing(f"the price of {accelerator} is not in the table")
    attached = _of_capacity(card, region, capacity, accelerator)
    if isinstance(attached, Missing):
        return attached
    return machine.plus(attached.times(gpus / card["gpus"]))


def _of_capacity(
    row: Mapping[str, Any], region: str, capacity: Capacity, what: str
) -> Price | Missing:
    prices = row["regions"].get(region)
    if prices is None:
        return Missing(f"no price of {what} in {region} is in the table")
    if capacity is Capacity.SPOT:
        if len(prices) == 1:
            return Missing(f"no Spot price of {what} in {region} is in the table")
        spread, most_off = _TABLE["spot"]["spread"], _TABLE["spot"]["most_discount"]
        low = max(prices[1] / spread, prices[0] * (1 - most_off))
        return Price(min(low, prices[1]), min(prices[1] * spread, prices[0]), (row["from"],))
    if is_flexible(capacity):
        flexible = _TABLE["flex_start"]
        least = prices[0] * flexible["least_share"]
        return Price(least, prices[0], (row["from"], flexible["from"]))
    return Price(prices[0], prices[0], (row["from"],))


def disk_gb_month(disk_type: str, region: str) -> Price | Missing:
    """A month of a GB of a zonal disk."""
    return _placed(_TABLE["disks"], disk_type, region, "regions", "disks")


def bucket_gib_month(storage_class: str, location: str) -> Price | Missing:
    """A month of a GiB in a bucket, by its storage class and location in any letter case."""
    place = location.lower()
    return _placed(_TABLE["buckets"], storage_class.lower(), place, "locations", "storage")


def _placed(rows: Mapping[str, Any], kind: str, place: str, key: str, what: str) -> Price | Missing:
    if kind not in rows:
        return Missing(f"the price of {kind} {what} is not in the table")
    price = rows[kind][key].get(place)
    if price is None:
        return Missing(f"no price of {kind} {what} in {place} is in the table")
    return Price(price, price, (rows[kind]["from"],))


def cluster_hour() -> Price:
    """An hour of a cluster, without its nodes."""
    row = _TABLE["cluster"]
    return Price(row["hour"], row["hour"], (row["from"],))


def nat_hour() -> Price:
    """An hour of a NAT gateway: from no node behind it to so many that it costs no more."""
    row = _TABLE["nat"]
    return Price(0.0, row["most_hour"], (row["from"],))


def nat_gib() -> Price:
    """A GiB through a NAT gateway."""
    row = _TABLE["nat"]
    return Price(row["gib"], row["gib"], (row["from"],))


def messages_gib() -> Price:
    """A GiB of messages published, or delivered to one subscription; the first 10 may be free."""
    row = _TABLE["messages"]
    return Price(row["tib"] / 1024, row["tib"] / 1024, (row["from"],))


FREE_MESSAGES_GIB: float = _TABLE["messages"]["free_gib"]
"""Messages of a month that a billing account gets for nothing, in GiB."""

FREE_TIER_MONTH: float = _TABLE["cluster"]["free_tier_month"]
"""What the free tier pays in a month towards one zonal or Autopilot cluster."""
