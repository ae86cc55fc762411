"""Where projects, regions and zones stand in a component's arguments."""

from collections.abc import Iterable

from spotproof.reader import Reader
from spotproof_gke import locations, names
from spotproof_gke.problems import did_you_mean


def read_project(read: Reader) -> str:
    """The id of a project."""
    return read.name("project", names.project_id_problems)


def read_region(read: Reader, key: str = "region") -> str:
    """A known region, in lower case."""
    region = read.text(key)
    if region and region not in locations.REGIONS:
        rule = "this is a region in lower case"
        if locations.is_zone(region) and locations.region_of(region) in locations.REGIONS:
            fix = f'a zone is not a region; did you mean "{locations.region_of(region)}"?'
        else:
            fix = did_you_mean(region, locations.REGIONS)
        read.problem(key, region, rule, fix)
        return ""
    return region


def read_location(read: Reader, key: str) -> str:
    """A region or zone of a cluster, in lower case."""
    location = read.text(key).lower()
    if not location:
        return ""
    known = locations.is_zone(location) or locations.is_region(location)
    if not known or locations.region_of(location) not in locations.REGIONS:
        rule = "this is a region (us-central1) or a zone (us-central1-a) of a cluster"
        read.problem(key, location, rule, did_you_mean(location, locations.REGIONS))
        return ""
    if locations.is_zone(location) and location not in locations.zones_of(
        locations.region_of(location)
    ):
        zones = locations.zones_of(locations.region_of(location))
        read.problem(key, location, "there is no such zone", did_you_mean(location, zones))
        return ""
    return location


def read_zones(read: Reader, key: str, allowed: Iterable[str], what: str) -> tuple[str, ...]:
    """Zones out of `allowed`; all of `allowed` when none are given.

    Args:
        read: The reader.
        key: The argument.
        allowed: The zones that may be named, for example those that have an accelerator.
        what: What the allowed zones are, for the message.
    """
    possible = tuple(allowed)
    zones = read.texts(key, default=possible)
    if zones == () and read.has(key) and read.is_right(key):
        read.problem(key, [], "at least one zone is named", "name a zone or leave the key out")
    wrong = [zone for zone in zones if zone not in possible]
    if wrong and possible:
        read.problem(key, wrong, f"these are not among {what}", "use " + ", ".join(possible))
        return possible
    return zones
