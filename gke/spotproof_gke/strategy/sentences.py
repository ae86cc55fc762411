"""Quantities in words."""

from collections.abc import Iterable
from math import isinf

from spotproof_gke.locations import region_of


def duration(hours: float) -> str:
    """A duration as one says it: `90 minutes`, `36 hours`, `10 days`, `no end`."""
    if isinf(hours):
        return "work without an end"
    for size, unit in ((24.0, "day"), (1.0, "hour"), (1 / 60, "minute")):
        count = hours / size
        if count >= 2 or unit == "minute":
            rounded = round(count, 0 if count >= 10 else 1)
            return f"{rounded:g} {unit}{'s' if rounded != 1 else ''}"
    raise AssertionError("minutes take everything")


def seconds(value: float) -> str:
    """The same for a number of seconds below a minute or above it."""
    if value < 120:
        return f"{value:.0f} s"
    return duration(value / 3600)


def nodes(count: int) -> str:
    """A number of nodes in words."""
    return "one node" if count == 1 else f"{count} nodes"


def zones(names: Iterable[str]) -> str:
    """Zones by region, as one says them: `us-east1-b,c`."""
    letters: dict[str, list[str]] = {}
    for name in names:
        region = region_of(name)
        letters.setdefault(region, []).append(name.removeprefix(f"{region}-"))
    return ", ".join(f"{region}-{','.join(found)}" for region, found in letters.items())
