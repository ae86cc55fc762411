"""GKE versions and the least one for each feature. Table: `data/minimum_versions.yaml`."""

import re
from dataclasses import dataclass

from spotproof_gke.problems import Problem, did_you_mean
from spotproof_gke.tables import table

_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?(?:-gke\.(\d+))?")


@dataclass(frozen=True)
class Feature:
    """A feature and the least control plane version that has it."""

    name: str
    version: str
    what: str


FEATURES: dict[str, Feature] = {
    name: Feature(name, str(row["version"]), row["what"])
    for name, row in table("minimum_versions")["features"].items()
}
"""All features with a least version, by name."""


def parse(version: str) -> tuple[int, int, int, int]:
    """A version as numbers that compare: `1.33.4-gke.1036000` or the beginning of one.

    Raises:
        ValueError: It has the form of no GKE version.
    """
    found = _VERSION.fullmatch(version.strip())
    if found is None:
        raise ValueError(f"{version!r} is no GKE version; one looks like 1.33.4-gke.1036000")
    major, minor, patch, build = found.groups()
    return int(major), int(minor), int(patch or 0), int(build or 0)


def version_problems(key: str, version: str, feature: str) -> list[Problem]:
    """What is wrong with a control plane of this version that is to have a feature.

    Args:
        key: Where the version stands, for the message.
        version: A full version, or the beginning of one (`1.33`), which counts as its first.
        feature: A name in `FEATURES`.

    Raises:
        KeyError: There is no such feature; the message names the nearest.
    """
    if feature not in FEATURES:
        raise KeyError(f"no such feature; {did_you_mean(feature, FEATURES)}")
    needed = FEATURES[feature]
    try:
        enough = parse(version) >= parse(needed.version)
    except ValueError as error:
        return [Problem(key, version, str(error), "take one from a release channel")]
    if enough:
        return []
    rule = f"{needed.what} needs GKE {needed.version} or newer"
    return [Problem(key, version, rule, "choose a newer version, or leave the feature out")]
