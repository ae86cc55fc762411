"""What the values of a Helm release say about where its pods run."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spotproof_gke.rules.finding import Resource
from spotproof_gke.rules.reading import UNKNOWN, mapping, text
from spotproof_gke.rules.workloads import kind_of

SCHEDULING_KEYS = ("nodeSelector", "tolerations", "affinity", "nodeName")
REPLICA_KEYS = ("replicas", "replicaCount")
_DEEPEST = 20


@dataclass(frozen=True)
class ScheduledValues:
    """A place in the values that says where pods run.

    Attributes:
        path: Keys that lead to it, joined by dots; "" for the top of the values.
        spec: The mapping there, to be read like a pod specification; `UNKNOWN` when the preview
            does not know it.
    """

    path: str
    spec: Any

    @property
    def for_daemon_set(self) -> bool:
        """Whether a key on the way says that it is for a DaemonSet."""
        return "daemonset" in self.path.lower()

    @property
    def has_replicas(self) -> bool:
        """Whether a number of replicas stands beside it, which no DaemonSet has."""
        return any(mapping(self.spec).get(key) is not None for key in REPLICA_KEYS)


def scheduled_values(resource: Resource) -> list[ScheduledValues]:
    """Every place in the values of a Helm `Release` with a scheduling key; none for other kinds.

    Charts name the parts of their values as they like, so the keys count wherever they stand. Files
    of values are not read. The children of a `Chart` are resources of their own.
    """
    if kind_of(resource) != "Release" or ":helm.sh/" not in resource.type:
        return []
    return list(_places(resource.get("values"), ()))


def release_namespace(resource: Resource) -> Any:
    """The namespace of a Helm release; `UNKNOWN` when the preview does not know it."""
    for given in (resource.get("namespace"), resource.provider.get("namespace")):
        if given is UNKNOWN or text(given):
            return given
    return "default"


def _places(value: Any, path: tuple[str, ...]) -> Iterator[ScheduledValues]:
    if len(path) > _DEEPEST:
        return
    if isinstance(value, (list, tuple)):
        inner: Iterable[tuple[Any, Any]] = enumerate(value)
    else:
        parts = mapping(value)
        inner = parts.items()
        if value is UNKNOWN or any(parts.get(key) for key in SCHEDULING_KEYS):
            yield ScheduledValues(".".join(path), value)
    for key, each in inner:
        if isinstance(each, (Mapping, list, tuple)):
            yield from _places(each, (*path, str(key)))
