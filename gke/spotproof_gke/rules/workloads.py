"""Where the pod specification stands in each kind of Kubernetes workload."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spotproof_gke.rules.finding import Resource
from spotproof_gke.rules.reading import UNKNOWN, dig, items, mapping, text

_TYPE = re.compile(r"^kubernetes:[^:]+:([A-Za-z0-9]+)$")
_POD_AT: dict[str, tuple[str, ...]] = {
    "Pod": ("spec",),
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
    "PodTemplate": ("template", "spec"),
}
_TEMPLATE_AT = ("spec", "template", "spec")
_DECLARED = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job")


@dataclass(frozen=True)
class PodSpec:
    """One pod specification of a workload.

    Attributes:
        kind: The workload's kind, for example `Deployment`.
        spec: The specification; `UNKNOWN` when the preview does not know it.
    """

    kind: str
    spec: Any


def kind_of(resource: Resource) -> str:
    """The Kubernetes kind of a resource, "" when it is not one. A patch has the kind it patches."""
    match = _TYPE.match(resource.type)
    if not match:
        return ""
    return re.sub(r"Patch$", "", match.group(1))


def pod_specs(resource: Resource) -> list[PodSpec]:
    """Every pod specification in a resource; none when it is not a workload.

    Custom kinds count when they carry a pod template where the common kinds or a JobSet do.
    """
    kind = kind_of(resource)
    if not kind:
        return []
    props = {key: resource.get(key) for key in ("spec", "template")}
    if kind == "JobSet":
        return [PodSpec(kind, spec) for spec in _job_set_specs(props)]
    spec = dig(props, *_POD_AT.get(kind, _TEMPLATE_AT))
    declared = kind in _POD_AT or kind in _DECLARED
    if isinstance(mapping(spec).get("containers"), (list, tuple)) or (declared and spec):
        return [PodSpec(kind, spec)]
    return []


def _job_set_specs(props: Mapping[str, Any]) -> Iterator[Any]:
    jobs = dig(props, "spec", "replicatedJobs")
    if jobs is UNKNOWN:
        yield UNKNOWN
    for job in items(jobs):
        spec = dig(job, "template", "spec", "template", "spec")
        if spec:
            yield spec


def namespace_of(resource: Resource) -> Any:
    """The namespace that a resource lands in: its own, its provider's, else `default`.

    `UNKNOWN` when the preview does not know it.
    """
    own = dig(resource.get("metadata"), "namespace")
    if own is UNKNOWN or text(own):
        return own
    given = resource.provider.get("namespace")
    if given is UNKNOWN or text(given):
        return given
    return "default"


def containers(spec: object) -> Iterator[Mapping[str, Any]]:
    """The containers of a pod specification, of every sort."""
    for key in ("initContainers", "containers", "ephemeralContainers"):
        for container in items(mapping(spec).get(key)):
            yield mapping(container)
