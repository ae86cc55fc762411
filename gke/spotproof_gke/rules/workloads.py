"""Where the pod specification stands in each kind of Kubernetes workload."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spotproof_gke.rules.finding import Resource
from spotproof_gke.rules.reading import UNKNOWN, dig, items, mapping, text

_TYPE = re.compile(r"^kubernetes:[^:]+:([A-Za-z0-9]+)$")
_TEMPLATE_AT = ("spec", "template", "spec")
POD_AT: dict[str, tuple[str, ...]] = {
    "Pod": ("spec",),
    "PodTemplate": ("template", "spec"),
    "CronJob": ("spec", "jobTemplate", *_TEMPLATE_AT),
    **dict.fromkeys(
        (
            "Deployment",
            "StatefulSet",
            "DaemonSet",
            "ReplicaSet",
            "ReplicationController",
            "Job",
        ),
        _TEMPLATE_AT,
    ),
}
"""Where the pod specification stands in Kubernetes' own kinds."""

_NO_PODS = ("CustomResourceDefinition",)
_POD_PARTS = ("containers", "tolerations", "nodeSelector", "affinity", "nodeName")
_DEEPEST = 20


@dataclass(frozen=True)
class PodSpec:
    """One pod specification of a workload.

    Attributes:
        kind: The workload's kind, for example `Deployment`.
        spec: The specification; `UNKNOWN` when the preview does not know it.
        namespace: Where it lands; `UNKNOWN` when the preview does not know it.
    """

    kind: str
    spec: Any
    namespace: Any


def kind_of(resource: Resource) -> str:
    """The Kubernetes kind of a resource, "" when it is not one. A patch has the kind it patches."""
    match = _TYPE.match(resource.type)
    if not match:
        return ""
    return re.sub(r"Patch$", "", match.group(1))


def pod_specs(resource: Resource) -> list[PodSpec]:
    """Every pod specification in a resource; none when it is not a workload.

    Custom kinds count by what they carry: a `spec` with containers or scheduling, in anything that
    is called a template, at any depth. The items of a list count one by one.
    """
    kind = kind_of(resource)
    if not kind:
        return []
    props = {key: resource.get(key) for key in ("metadata", "spec", "template", "items")}
    above = resource.provider.get("namespace")
    if not kind.endswith("List"):
        return list(_pods(kind, props, above))
    return [
        pod
        for item in items(props["items"])
        for pod in _pods(_kind_in_list(item) or kind[:-4], mapping(item), above)
    ]


def _kind_in_list(item: object) -> str:
    """The kind that an item of a list states, when it has the form of one: messages show it."""
    stated = text(mapping(item).get("kind"))
    return stated if stated.isalnum() else ""


def _pods(kind: str, props: Mapping[str, Any], above: Any) -> Iterator[PodSpec]:
    namespace = _namespace(props.get("metadata"), above)
    if kind in POD_AT:
        spec = dig(props, *POD_AT[kind])
        specs = [spec] if spec else []
    elif kind == "JobSet" and dig(props, "spec", "replicatedJobs") is UNKNOWN:
        specs = [UNKNOWN]
    elif kind in _NO_PODS:
        specs = []
    else:
        specs = list(_templates(props.get("spec"), "", 0))
    for spec in specs:
        yield PodSpec(kind, spec, namespace)


def _templates(value: Any, key: str, depth: int) -> Iterator[Mapping[str, Any]]:
    """The specifications of pod templates at any depth: `spec` in what is called a template."""
    if depth > _DEEPEST:
        return
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _templates(each, key, depth + 1)
        return
    parts = mapping(value)
    spec = mapping(parts.get("spec")) if key.lower().endswith("template") else {}
    if any(spec.get(part) for part in _POD_PARTS):
        yield spec
        return
    for name, each in parts.items():
        yield from _templates(each, str(name), depth + 1)


def namespace_of(resource: Resource) -> Any:
    """The namespace that a resource lands in: its own, its provider's, else `default`.

    `UNKNOWN` when the preview does not know it.
    """
    return _namespace(resource.get("metadata"), resource.provider.get("namespace"))


def _namespace(metadata: object, above: Any) -> Any:
    for given in (dig(metadata, "namespace"), above):
        if given is UNKNOWN or text(given):
            return given
    return "default"


def containers(spec: object) -> Iterator[Mapping[str, Any]]:
    """The containers of a pod specification, of every sort."""
    for key in ("initContainers", "containers", "ephemeralContainers"):
        for container in items(mapping(spec).get(key)):
            yield mapping(container)
