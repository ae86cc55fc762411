"""Kubernetes objects as resources."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from spotproof_gke.audit.evidence import Evidence, Source, plain
from spotproof_gke.rules.finding import Resource
from spotproof_gke.rules.live_nodes import NODE
from spotproof_gke.rules.reading import items, mapping, text
from spotproof_gke.rules.workloads import pod_specs

_WORD = re.compile(r"^[A-Za-z0-9][A-Za-z0-9./-]{0,200}$")
_READ_KINDS = ("Node", "PersistentVolume", "Namespace", "ComputeClass")
_DEEPEST_LIST = 5

# Of what an object says about itself the rest is long and asked for by no rule.
_METADATA = ("name", "namespace", "labels", "annotations", "ownerReferences")
_STATUS = ("phase", "capacity", "conditions", "completionTime")


def add_objects(evidence: Evidence, source: Source, documents: Iterable[Any]) -> None:
    """Add the objects of a cluster to the evidence; what no rule asks for is only counted."""
    seen = {resource.urn for resource in evidence.live}
    for document in documents:
        for item in _objects(document, "", "", 0):
            _add(evidence, source, item, seen)


def _objects(document: Any, kind: str, version: str, depth: int) -> Iterator[dict[str, Any]]:
    """The objects in a document. Items of a list of one kind need not name it themselves."""
    if not isinstance(document, Mapping) or depth > _DEEPEST_LIST:
        yield {}
        return
    kind = text(document.get("kind")) or kind
    version = text(document.get("apiVersion")) or version
    if kind.endswith("List") and "items" in document:
        for item in items(document["items"]):
            yield from _objects(item, kind[:-4], "" if kind == "List" else version, depth + 1)
        return
    yield {**document, "kind": kind, "apiVersion": version}


def _add(evidence: Evidence, source: Source, item: Mapping[str, Any], seen: set[str]) -> None:
    kind, version = text(item.get("kind")), text(item.get("apiVersion")) or "v1"
    metadata = mapping(item.get("metadata"))
    name, namespace = text(metadata.get("name")), text(metadata.get("namespace"))
    if not name or not _WORD.match(kind) or not _WORD.match(version):
        source.ignored["(no object)"] += 1
        return
    type_ = f"kubernetes:{version}:{kind}"
    if kind in ("Secret", "ConfigMap") or (type_ == NODE and namespace):
        source.ignored[kind] += 1
        return
    resource = Resource(
        type=type_,
        name=f"{namespace}/{name}" if namespace else name,
        urn=f"live:{kind}:{namespace}/{name}",
        props={
            "apiVersion": version,
            "kind": kind,
            "metadata": {k: plain(metadata[k]) for k in _METADATA if k in metadata},
            "spec": plain(item.get("spec")),
            "status": {k: plain(v) for k, v in mapping(item.get("status")).items() if k in _STATUS},
            # A PodTemplate has no specification of its own.
            **({"template": plain(item["template"])} if "template" in item else {}),
        },
    )
    if kind not in _READ_KINDS and not pod_specs(resource):
        source.ignored[kind] += 1
        return
    if resource.urn in seen:
        source.ignored[f"{kind} (again)"] += 1
        return
    seen.add(resource.urn)
    evidence.live.append(resource)
    evidence.origins[resource.urn] = source.name
    source.read[kind] += 1
