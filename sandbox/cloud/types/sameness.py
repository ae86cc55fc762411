"""Different values that say the same to the provider: names and links, letter case, durations."""

from collections.abc import Callable
from typing import Any

from sandbox.cloud.types import durations
from sandbox.cloud.types.values import last_part, path_of, same_name

Same = Callable[[Any, Any], bool]
_SCOPE_ALIASES = {
    "storage-ro": "devstorage.read_only",
    "storage-rw": "devstorage.read_write",
    "storage-full": "devstorage.full_control",
    "logging-write": "logging.write",
    "monitoring-write": "monitoring.write",
    "compute-rw": "compute",
    "compute-ro": "compute.readonly",
    "service-control": "servicecontrol",
    "service-management": "service.management.readonly",
    "trace": "trace.append",
}


def full_scope(scope: Any) -> str:
    """A scope with its address: the provider takes `cloud-platform` for it."""
    if not isinstance(scope, str) or scope.startswith("https://"):
        return str(scope)
    return f"https://www.googleapis.com/auth/{_SCOPE_ALIASES.get(scope, scope)}"


def _texts(compare: Same) -> Same:
    def same(old: Any, new: Any) -> bool:
        return isinstance(old, str) and isinstance(new, str) and compare(old, new)

    return same


def _lists(normal: Callable[[str], str]) -> Same:
    """Lists are equal when their items are, whatever their order."""

    def same(old: Any, new: Any) -> bool:
        if not isinstance(old, list) or not isinstance(new, list):
            return False
        if not all(isinstance(item, str) for item in [*old, *new]):
            return False
        return sorted(map(normal, old)) == sorted(map(normal, new))

    return same


def unspecified(default: str) -> Same:
    """Saying `default` is saying nothing."""

    def same(old: Any, new: Any) -> bool:
        return {old or "", new or ""} == {"", default}

    return same


same_scopes = _lists(full_scope)
COMPARISONS: dict[str, Same] = {
    "case": _texts(lambda old, new: old.lower() == new.lower()),
    "cases": _lists(str.lower),
    "duration": durations.same,
    "hour": _texts(lambda old, new: old == f"0{new}"),
    "name": same_name,
    "names": _lists(last_part),
    "path": _texts(lambda old, new: path_of(old) == path_of(new)),
    "scopes": same_scopes,
    # A range of a given size is whatever range the server has chosen.
    "size": _texts(lambda old, new: new.startswith("/") and old.endswith(new)),
}
"""By name, as `tables/values/*.yaml` writes it after `same:`."""
