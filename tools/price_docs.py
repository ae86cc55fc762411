"""Pages of prices and quotas, out of their tables."""

from collections.abc import Iterator
from datetime import date
from typing import Any

from spotproof_gke.prices import FRESH_DAYS, SOURCES
from spotproof_gke.tables import table as facts
from tools.markdown import GENERATED, table

_DIGITS = 3


def prices_page() -> str:
    """Every price that `spotproof cost` knows, with its source."""
    prices = facts("prices")
    return "\n\n".join([
        GENERATED,
        "# Prices",
        "What [`spotproof cost`](../how-to/estimate-cost.md) reckons with, in US dollars, before "
        "taxes, commitments, credits and negotiated discounts. A price that does not stand here "
        "is unknown to it, and said to be.",
        f"A price is called old when its source was dated more than {FRESH_DAYS} days ago, or "
        "bears no date.",
        table(("source", "address", "what", "dated", "read on"), list(_sources())),
        "## Machines",
        "An hour of one machine, on demand and as Spot; `-` where no Spot price was found. Other "
        "sizes of a series cost as much more as they have vCPUs. "
        "Those of A2 and A3 hold their GPUs.",
        *(_by_place(f"`{row['of']}`", row, "regions") for row in prices["series"].values()),
        "## GPUs beside their machine",
        "An hour of so many GPUs.",
        *(
            _by_place(f"{row['gpus']} x `{name}`", row, "regions")
            for name, row in prices["gpus"].items()
        ),
        "## Spot and flex-start",
        _rules(prices),
        "## Disks",
        "A month of a GB.",
        *(_by_place(f"`{name}`", row, "regions") for name, row in prices["disks"].items()),
        "## Cloud Storage",
        "A month of a GiB. Deleted objects are paid for as long as soft delete keeps them.",
        *(_by_place(f"`{name}`", row, "locations") for name, row in prices["buckets"].items()),
        "## The rest",
        table(("what", "price", "source"), list(_rest(prices))),
    ]) + "\n"  # fmt: skip


def _sources() -> Iterator[tuple[str, ...]]:
    for source in SOURCES.values():
        dated = source.dated.isoformat() if isinstance(source.dated, date) else "no date"
        yield (
            f"`{source.name}`",
            f"<{source.address}>",
            source.what,
            dated,
            source.read_on.isoformat(),
        )


def _by_place(name: str, row: dict[str, Any], key: str) -> str:
    """One price by region: regions with the same price share a row."""
    alike: dict[str, list[str]] = {}
    for place, price in row[key].items():
        alike.setdefault(_shown(price), []).append(place)
    lines = [(price, ", ".join(places)) for price, places in alike.items()]
    return f"{name}, from `{row['from']}`:\n\n" + table(("$", key), lines)


def _shown(price: Any) -> str:
    if not isinstance(price, list):
        return _money(price)
    spot = _money(price[1]) if len(price) > 1 else "-"
    return f"{_money(price[0])} / {spot}"


def _money(price: float) -> str:
    return f"{price:.{_DIGITS}g}"


def _rules(prices: dict[str, Any]) -> str:
    spot, flex = prices["spot"], prices["flex_start"]
    return (
        f"A Spot price moves. Today's is taken to lie between the one above divided by "
        f"{spot['spread']:g} and multiplied by {spot['spread']:g}, at most "
        f"{spot['most_discount']:.0%} below the on-demand price and never above it: by so much the "
        "sources differ, which were written a year or so apart.\n\n"
        f"Flex-start is taken to cost from {flex['least_share']:.0%} of the on-demand price up to "
        f"all of it, by the discounts that `{flex['from']}` promises: its prices were not found."
    )


def _rest(prices: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    fee, nat, messages = prices["cluster"], prices["nat"], prices["messages"]
    yield "an hour of a cluster", f"{fee['hour']:g}", f"`{fee['from']}`"
    free = f"{fee['free_tier_month']:g}, once for each billing account"
    yield "free tier for a zonal or Autopilot cluster, a month", free, f"`{fee['from']}`"
    yield "an hour of a NAT gateway, at most", f"{nat['most_hour']:g}", f"`{nat['from']}`"
    yield "a GiB through it", f"{nat['gib']:g}", f"`{nat['from']}`"
    tib = f"{messages['tib']:g}, after {messages['free_gib']} GiB a month"
    yield "a TiB of messages in or out", tib, f"`{messages['from']}`"


def quotas_page() -> str:
    """The names of quotas that `spotproof cost` knows."""
    quotas = facts("quotas")
    gpus = [
        (f"`{name}`", _name(row.get("standard")), _name(row.get("preemptible")))
        for name, row in quotas["gpus"].items()
    ]
    cpus = [(f"{family.upper()}", _name(name)) for family, name in quotas["cpus"].items()]
    disks = [(f"`{kind}`", _name(name)) for kind, name in quotas["disks"].items()]
    others = [
        ("vCPUs of Spot nodes", _name(quotas["preemptible_cpus"]), "region"),
        ("nodes", _name(quotas["instances"]), "region"),
        ("public addresses of nodes", _name(quotas["addresses"]), "region"),
        ("queued requests at a time", _name(quotas["resize_requests"]), "region"),
        ("GPUs of any kind", _name(quotas["all_gpus"]), "project"),
        ("vCPUs of any kind", _name(quotas["all_cpus"]), "project"),
    ]
    return "\n\n".join([
        GENERATED,
        "# Quotas",
        "What [`spotproof cost`](../how-to/estimate-cost.md) lists for a plan, by the names that "
        "`gcloud compute regions describe` has. A name that does not stand here was not found.",
        f"Source, read on {quotas['read_on']}: {' '.join(quotas['source'].split())}.",
        "## GPUs, by region",
        "Spot and flex-start nodes count against the preemptible quota. "
        "Spot nodes count against the standard one until a preemptible one was granted.",
        table(("GPU", "standard", "preemptible"), gpus),
        "## vCPUs, by region and machine family",
        table(("family", "standard"), cpus),
        "## Boot disks, by region, in GB",
        table(("disk", "quota"), disks),
        "## Others",
        table(("what", "quota", "for each"), others),
    ]) + "\n"  # fmt: skip


def _name(quota: str | None) -> str:
    return f"`{quota}`" if quota else "not known"
