"""Pods as they are now: who made them, and on which nodes they run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spotproof_gke.rules.finding import Resource, Stack
from spotproof_gke.rules.live_nodes import LiveNode, live_nodes
from spotproof_gke.rules.reading import is_true, items, mapping, text

POD = "kubernetes:v1:Pod"
HASH_LABEL = "pod-template-hash"
MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
FINISHED_PHASES = ("Succeeded", "Failed")

EVERYWHERE = ("DaemonSet", "Node")
"""Makers of pods that run on every node on purpose; a node itself makes static pods."""


@dataclass(frozen=True)
class LivePod:
    """A pod that runs on a node.

    Attributes:
        name: Its name.
        namespace: Its namespace.
        kind: Kind of what made it; `Pod` when nothing did.
        owner: Name of what made it; its own when nothing did.
        spec: Its specification.
        node_name: The node that it runs on.
        node: That node; None when it was not seen.
    """

    name: str
    namespace: str
    kind: str
    owner: str
    spec: Mapping[str, Any]
    node_name: str
    node: LiveNode | None


def live_pods(stack: Stack) -> list[LivePod]:
    """The pods that have a node and are not finished, without those that run on every node."""
    nodes = {node.name: node for node in live_nodes(stack)}
    found = []
    for resource in stack.of_type(POD):
        spec, metadata = mapping(resource.get("spec")), mapping(resource.get("metadata"))
        node_name = text(spec.get("nodeName"))
        kind, owner = controller_of(resource)
        if not node_name or kind in EVERYWHERE or is_static(resource) or is_finished(resource):
            continue
        name = text(metadata.get("name"))
        found.append(
            LivePod(
                name=name,
                namespace=text(metadata.get("namespace")) or "default",
                kind=kind or "Pod",
                owner=owner or name,
                spec=spec,
                node_name=node_name,
                node=nodes.get(node_name),
            )
        )
    return found


def by_owner(pods: list[LivePod]) -> dict[tuple[str, str, str], list[LivePod]]:
    """Pods by kind, namespace and name of what made them."""
    groups: dict[tuple[str, str, str], list[LivePod]] = {}
    for pod in pods:
        groups.setdefault((pod.kind, pod.namespace, pod.owner), []).append(pod)
    return groups


def controller_of(resource: Resource) -> tuple[str, str]:
    """Kind and name of what made an object, two empty texts when nothing did.

    A Deployment's pods name its ReplicaSet, whose name is the Deployment's and the hash of the pod
    template; the Deployment is told for it.
    """
    metadata = mapping(resource.get("metadata"))
    owners = [mapping(each) for each in items(metadata.get("ownerReferences"))]
    owners.sort(key=lambda each: not is_true(each.get("controller")))
    if not owners:
        return "", ""
    kind, name = text(owners[0].get("kind")), text(owners[0].get("name"))
    ending = "-" + text(mapping(metadata.get("labels")).get(HASH_LABEL))
    if kind == "ReplicaSet" and len(ending) > 1 and name.endswith(ending) and name != ending:
        return "Deployment", name[: -len(ending)]
    return kind, name


def is_static(resource: Resource) -> bool:
    """Whether a pod is the mirror of one that the node itself runs, such as kube-proxy."""
    annotations = mapping(mapping(resource.get("metadata")).get("annotations"))
    return MIRROR_ANNOTATION in annotations


def is_finished(resource: Resource) -> bool:
    """Whether a pod or Job has ended."""
    status = mapping(resource.get("status"))
    if text(status.get("phase")) in FINISHED_PHASES or status.get("completionTime"):
        return True
    return any(
        text(mapping(each).get("type")) in ("Complete", "Failed")
        and is_true(mapping(each).get("status"))
        for each in items(status.get("conditions"))
    )
