"""What a configuration may say about regions, and what is wrong with it.

The engine checks a configuration against the pack's JSON schema when it loads the pack, so that
most mistakes end there. What a pattern cannot tell becomes a finding.
"""

from collections.abc import Iterator, Mapping, Sequence

from spotproof_gke.locations import REGIONS
from spotproof_gke.rules.bucket_location import regions_of_dual_region
from spotproof_gke.rules.clusters import region_or_none
from spotproof_gke.rules.finding import Finding, shown

_REGION = "[A-Za-z]+-[A-Za-z]+[0-9]+"
LOCATION_PATTERN = rf"^\s*{_REGION}(-[A-Za-z0-9]+)?\s*$"
"""The form of a region or zone, as a pattern of JSON schema."""

DUAL_REGION_PATTERN = rf"^\s*([A-Za-z]+[0-9]|{_REGION}\s*[+]\s*{_REGION})\s*$"
"""The form of a dual-region: `NAM4`, or two regions as in `us-central1 + us-east1`."""

_RULE = "the configuration names regions that there are"


def configuration_problems(
    allowed_dual_regions: Sequence[str] = (), cluster_locations: Mapping[str, str] = {}
) -> Iterator[Finding]:
    """Findings for locations in the configuration that can match nothing.

    A region that has the form of one and is not in the table may be newer than the table, so it
    gives an uncertain finding.
    """
    for words in allowed_dual_regions:
        name = shown(words.replace(" ", ""))
        regions = regions_of_dual_region(words)
        if not regions:
            yield _problem(
                f"allowedDualRegions: {name} is neither a predefined dual-region nor two regions",
                "write NAM4, or two regions as in us-central1+us-east1",
            )
        yield from _strangers("allowedDualRegions", regions)
    for cluster, location in cluster_locations.items():
        region = region_or_none(location)
        key = f"clusters.{shown(cluster)}"
        if region is None:
            yield _problem(
                f"{key}: {shown(location)} is neither a region nor a zone",
                "write a region (us-central1) or a zone (us-central1-a)",
            )
        else:
            yield from _strangers(key, [region])


def _strangers(key: str, regions: Sequence[str]) -> Iterator[Finding]:
    for region in regions:
        if region not in REGIONS:
            yield _problem(
                f"{key}: whether there is a region {shown(region)}, which our table does not hold",
                "check how the region is written",
                certain=False,
            )


def _problem(value: str, fix: str, certain: bool = True) -> Finding:
    return Finding("configuration", value, _RULE, fix, certain)
