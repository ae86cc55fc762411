"""GKE versions that the emulated cloud offers: enough to test version rules, and no promise."""

import re

VERSIONS = (
    "1.32.9-gke.1239000",
    "1.33.5-gke.1080000",
    "1.34.1-gke.2364000",
    "1.34.4-gke.1047000",
    "1.35.1-gke.1616000",
    "1.35.2-gke.1842000",
    "1.36.0-gke.3204000",
)
"""Oldest first."""

CHANNELS = {
    "RAPID": "1.36.0-gke.3204000",
    "REGULAR": "1.35.2-gke.1842000",
    "STABLE": "1.34.4-gke.1047000",
    "EXTENDED": "1.34.4-gke.1047000",
}
DEFAULT_VERSION = CHANNELS["REGULAR"]


def resolve(wanted: str | None, channel: str | None) -> str | None:
    """The version that `wanted` (a prefix, `latest`, or nothing) means; None when there is none."""
    if not wanted or wanted == "-":
        return CHANNELS.get(channel or "", DEFAULT_VERSION)
    if wanted == "latest":
        return VERSIONS[-1]
    fitting = [v for v in VERSIONS if v == wanted or v.startswith((f"{wanted}.", f"{wanted}-"))]
    return fitting[-1] if fitting else None


def older(version: str, other: str) -> bool:
    """Whether a version comes before another."""
    return _numbers(version) < _numbers(other)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))
