"""Which workloads and volumes name which bucket, as far as a stack shows it.

Read are volumes of the Cloud Storage FUSE driver, `gs://` addresses and bare bucket names in
commands, arguments and environment, the ConfigMaps that a workload takes these from, and what the
specification depends on. Nothing of it but names of resources gets into a message.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.reading import UNKNOWN, dig, items, mapping, text
from spotproof_gke.rules.workloads import containers, kind_of, namespace_of, pod_specs

BUCKET = "gcp:storage/bucket:Bucket"
FUSE_DRIVER = "gcsfuse.csi.storage.gke.io"

_OBJECT = "gcp:storage/bucketObject:BucketObject"
_SPEC_KEYS = ("spec", "template", "items")
_ADDRESS = re.compile(
    r"(?:\bgc?s://|\bstorage\.googleapis\.com/)([a-z0-9][a-z0-9._-]*[a-z0-9])", re.IGNORECASE
)
_DEEPEST = 30


@dataclass(frozen=True)
class User:
    """A workload or volume that names buckets.

    Attributes:
        resource: Its resource.
        addressed: What can only be a bucket's name: from a volume or an address.
        words: What may be a bucket's name: whole values of the environment and of arguments.
        urns: All that its specification depends on.
        is_unclear: Whether it holds a value that the preview does not know and that depends on
            nothing that would tell where it comes from.
    """

    resource: Resource
    addressed: frozenset[str]
    words: frozenset[str]
    urns: frozenset[str]
    is_unclear: bool


class References:
    """The users of buckets in a stack, found by bucket without a search."""

    def __init__(self, stack: Stack) -> None:
        maps = _ConfigMaps(stack)
        buckets = stack.of_type(BUCKET)
        known = {text(bucket.get("name")) for bucket in buckets}
        urns = {bucket.urn for bucket in buckets}
        self._by_name: dict[str, list[User]] = {}
        self._by_urn: dict[str, list[User]] = {}
        self.unclear: list[User] = []
        """Users with a value that may be any bucket's name."""
        self.of_strangers: list[User] = []
        """Users of a bucket of which no bucket in the stack is known to have the name."""
        for resource in stack.resources:
            user = _user(resource, stack, maps)
            if user is None:
                continue
            for name in (user.addressed | user.words) & known:
                self._by_name.setdefault(name, []).append(user)
            for urn in user.urns & urns:
                self._by_urn.setdefault(urn, []).append(user)
            if user.is_unclear:
                self.unclear.append(user)
            if user.addressed - known:
                self.of_strangers.append(user)

    def to(self, bucket: Resource) -> list[User]:
        """The users of a bucket, each once."""
        named = self._by_name.get(text(bucket.get("name")), [])
        found = [*named, *self._by_urn.get(bucket.urn, [])]
        return list({id(user): user for user in found}.values())


def _user(resource: Resource, stack: Stack, maps: "_ConfigMaps") -> User | None:
    if not kind_of(resource):
        return None
    # Parts that are unknown without depending on anything matter here, so they are read too.
    raw = replace(resource, dependencies=None)
    urns = {urn for key in _SPEC_KEYS for urn in resource.depends_on(key)}
    found = _Found()
    pods = pod_specs(raw)
    for pod in pods:
        found.read_pod(pod.spec)
    if not pods:
        found.read_tree(raw.get("spec"))
    found.read_values(raw.get("values"))
    if not found.has_read:
        return None
    is_unclear = found.has_unknown and not urns
    for value, sources in maps.values_for(found.config_maps, namespace_of(resource), urns):
        found.read_word(value)
        urns |= sources
        is_unclear |= value is UNKNOWN and not sources
    for urn in list(urns):
        source = stack.by_urn.get(urn)
        if source and source.type == _OBJECT:
            urns |= set(source.depends_on("bucket"))
            found.addressed.add(text(source.get("bucket")))
    addressed, words = frozenset(found.addressed - {""}), frozenset(found.words - {""})
    return User(resource, addressed, words, frozenset(urns), is_unclear)


class _Found:
    """What has been read of one resource."""

    def __init__(self) -> None:
        self.addressed: set[str] = set()
        self.words: set[str] = set()
        self.config_maps: list[tuple[Any, str]] = []
        """Names of ConfigMaps, each with the key that is taken, "" for all keys."""
        self.has_read = False
        """Whether there was anything that names buckets where this looks for them."""
        self.has_unknown = False

    def read_pod(self, spec: object) -> None:
        self.has_read = True
        self.has_unknown |= spec is UNKNOWN
        pod = mapping(spec)
        for volume in self._listed(pod.get("volumes")):
            self.read_volume(dig(volume, "csi"))
            for source in (volume, *items(dig(volume, "projected", "sources"))):
                self._read_config_map(dig(source, "configMap"))
        self.has_unknown |= UNKNOWN in (pod.get("containers"), pod.get("initContainers"))
        for container in containers(spec):
            command = self._listed(container.get("command"))
            for word in command[:1]:
                self.read_address(word)
            for word in (*command[1:], *self._listed(container.get("args"))):
                self.read_address(word)
                self.words.add(text(word).rsplit("=", 1)[-1])
            for variable in self._listed(container.get("env")):
                self.read_word(mapping(variable).get("value"))
                source = dig(variable, "valueFrom", "configMapKeyRef")
                self._read_config_map(source, text(dig(source, "key")))
            for source in self._listed(container.get("envFrom")):
                self._read_config_map(dig(source, "configMapRef"))

    def _listed(self, value: object) -> Sequence[Any]:
        self.has_unknown |= value is UNKNOWN
        return items(value)

    def read_volume(self, source: object) -> None:
        if text(dig(source, "driver")) != FUSE_DRIVER:
            return
        self.has_read = True
        for name in (dig(source, "volumeAttributes", "bucketName"), dig(source, "volumeHandle")):
            self.has_unknown |= name is UNKNOWN
            self.addressed.add(text(name).split(":")[0])

    def read_word(self, value: object) -> None:
        self.read_address(value)
        self.words.add(text(value))

    def read_address(self, value: object) -> None:
        self.has_unknown |= value is UNKNOWN
        self.addressed.update(_ADDRESS.findall(text(value)))

    def read_tree(self, value: object, depth: int = 0) -> None:
        """Reads the volume of a PersistentVolume, and pods and volumes anywhere in other kinds."""
        if isinstance(value, Mapping):
            if isinstance(value.get("containers"), (list, tuple)):
                self.read_pod(value)
            if isinstance(value.get("container"), Mapping):
                self.read_pod({"containers": [value["container"]]})
            self.read_volume(value)
        for each in _inner(value, depth):
            self.read_tree(each, depth + 1)

    def read_values(self, value: object, depth: int = 0) -> None:
        """Reads the addresses anywhere in the values of a Helm chart."""
        if isinstance(value, str):
            self.has_read = True
            self.read_address(value)
        for each in _inner(value, depth):
            self.read_values(each, depth + 1)

    def _read_config_map(self, source: object, key: str = "") -> None:
        name = dig(source, "name")
        if name is UNKNOWN or text(name):
            self.config_maps.append((name, key))


def _inner(value: object, depth: int) -> Iterable[Any]:
    if depth > _DEEPEST:
        return ()
    return value.values() if isinstance(value, Mapping) else items(value)


class _ConfigMaps:
    """The ConfigMaps of a stack, by name and by URN."""

    def __init__(self, stack: Stack) -> None:
        self._by_name: dict[str, list[Resource]] = {}
        self._by_urn: dict[str, Resource] = {}
        for resource in stack.resources:
            if kind_of(resource) == "ConfigMap":
                name = text(dig(resource.get("metadata"), "name"))
                self._by_name.setdefault(name, []).append(resource)
                self._by_urn[resource.urn] = resource

    def values_for(
        self, taken: Iterable[tuple[Any, str]], namespace: Any, urns: Iterable[str]
    ) -> Iterator[tuple[Any, set[str]]]:
        """The values that are taken from ConfigMaps, each with what an unknown one depends on."""
        depended = [self._by_urn[urn] for urn in urns if urn in self._by_urn]
        for name, key in taken:
            for source in depended if name is UNKNOWN else self._by_name.get(text(name), []):
                spaces = {namespace, namespace_of(source)}
                if len(spaces - {UNKNOWN}) > 1:
                    continue
                data = source.props.get("data")
                values = mapping(data).get(key, ()) if key else mapping(data).values()
                for value in (data,) if data is UNKNOWN else [values] if key else values:
                    yield value, set(source.depends_on("data")) if value is UNKNOWN else set()
