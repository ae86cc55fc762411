"""How far regions are from each other. Table: `data/places.yaml`."""

from collections.abc import Iterable
from math import asin, cos, radians, sin, sqrt

from spotproof_gke.tables import table

_EARTH_KM = 6371.0


def kilometres(one: str, other: str) -> float | None:
    """The way between two regions over the ground; None when the table has not both.

    The places are towns in whole degrees, so this orders regions and is good to 100 km or so.
    """
    places = table("places")["places"]
    if one not in places or other not in places:
        return None
    (north, east), (north_2, east_2) = places[one]["at"], places[other]["at"]
    a = sin(radians(north_2 - north) / 2) ** 2
    b = cos(radians(north)) * cos(radians(north_2)) * sin(radians(east_2 - east) / 2) ** 2
    return 2 * _EARTH_KM * asin(min(1.0, sqrt(a + b)))


def nearest(region: str, others: Iterable[str]) -> str | None:
    """The one of `others` nearest to a region; None when there is none, or no place is known."""
    far = {other: kilometres(region, other) for other in others}
    known = {other: way for other, way in far.items() if way is not None}
    return min(known, key=lambda other: (known[other], other), default=None)
