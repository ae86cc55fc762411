"""References between resources, and other values that the resource types share."""

import hashlib
from typing import Any

Properties = dict[str, Any]
COMPUTE_API = "https://www.googleapis.com/compute/v1/"


def project_number(project: str) -> str:
    """The number of a project: made up, but always the same."""
    return str(10**11 + int(hashlib.sha256(project.encode()).hexdigest(), 16) % (9 * 10**11))


def last_part(reference: str) -> str:
    """The name at the end of a name, an id or a self link."""
    return reference.rstrip("/").rpartition("/")[2]


def path_of(link: str) -> str:
    """A self link without the service's address: `projects/…`."""
    at = link.find("projects/")
    return link[at:] if at >= 0 else link


def same_name(old: Any, new: Any) -> bool:
    """Whether a reference refers to what the recorded one does, be it a name, an id or a link."""
    if not isinstance(old, str) or not isinstance(new, str):
        return False
    return path_of(old) == path_of(new) if "/" in new else last_part(old) == new


def block(properties: Properties, *path: str) -> Properties:
    """The nested object at a path; empty where there is none, or where it is unknown."""
    found: Any = properties
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def fingerprint(value: object) -> str:
    """A short text that changes with the value, as etags and fingerprints do."""
    return hashlib.sha256(repr(value).encode()).hexdigest()[:11] + "="


def foreign_labels(found: Properties, recorded: Properties) -> dict[str, str]:
    """Labels that are there and that the program does not manage: the provider keeps them."""
    managed = recorded.get("pulumiLabels") or {}
    effective = found.get("effectiveLabels") or {}
    return {key: value for key, value in effective.items() if key not in managed}
