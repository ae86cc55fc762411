"""Where projects, regions and zones stand in a component's arguments."""

import re
from collections.abc import Iterable

from spotproof.reader import Reader
from spotproof_gke import locations, names
from spotproof_gke.problems import did_you_mean


def read_project(read: Reader) -> str:
    """The id of a project."""
    return read.name("project", names.project_id_problems)


def read_region(read: Reader, key: str = "region") -> str:
    """A region in lower case; one that is not known is taken when the caller vouches for it."""
    region = read.text(key)
    if not region or region in locations.REGIONS:
        return region
    rule = "this is a region in lower case"
    if locations.is_zone(region) and locations.region_of(region) in locations.REGIONS:
        fix = f'a zone is not a region; did you mean "{locations.region_of(region)}"?'
    else:
        fix = did_you_mean(region, locations.REGIONS)
    if region == region.lower() and locations.is_region(region):
        return region if read.unlisted(key, region, rule, fix) else ""
    read.problem(key, region, rule, fix)
    return ""


def read_location(read: Reader, key: str) -> str:
    """A region or zone of a cluster, in lower case."""
    location = read.text(key).lower()
    if not location:
        return ""
    rule = "this is a region (us-central1) or a zone (us-central1-a) of a cluster"
    fix = did_you_mean(location, locations.REGIONS)
    if not (locations.is_zone(location) or locations.is_region(location)):
        read.problem(key, location, rule, fix)
        return ""
    region = locations.region_of(location)
    if region not in locations.REGIONS:
        return location if read.unlisted(key, location, rule, fix) else ""
    if locations.is_zone(location) and location not in locations.zones_of(region):
        fix = did_you_mean(location, locations.zones_of(region))
        return location if read.unlisted(key, location, "there is no such zone", fix) else ""
    return location


def read_zones(
    read: Reader, key: str, region: str, allowed: Iterable[str], what: str
) -> tuple[str, ...]:
    """Zones of a region out of `allowed`; all of `allowed` when none are given.

    Args:
        read: The reader.
        key: The argument.
        region: The region in which the zones must lie, "" when it is not known.
        allowed: The zones that may be named, for example those that have an accelerator.
        what: What the allowed zones are, for the message.
    """
    possible = tuple(allowed)
    zones = read.texts(key, default=possible)
    if zones == () and read.has(key) and read.is_right(key):
        read.problem(key, [], "at least one zone is named", "name a zone or leave the key out")
    wrong = [zone for zone in zones if zone not in possible]
    if not wrong or not region:
        return zones
    rule, fix = f"these are not among {what}", "use " + (", ".join(possible) or "others")
    elsewhere = [zone for zone in wrong if not re.fullmatch(rf"{region}-[a-z0-9]+", zone)]
    if elsewhere:
        read.problem(key, elsewhere, rule, fix)
        return possible
    return zones if read.unlisted(key, wrong, rule, fix) else possible
