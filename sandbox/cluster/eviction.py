"""How a node ends on GKE: with notice, as the kubelet reports it, or without a word.

Notice means: the node takes no new pod, ordinary pods get SIGTERM and have their share of the
node's grace; each ends with its own code; then the node is gone. A pod that needs longer is cut
off. The kubelet leaves pods in the phase Failed with the condition DisruptionTarget, but one whose
containers all exited 0 ends as Succeeded, whatever it had still to do.
Sources: docs.cloud.google.com/kubernetes-engine/docs/concepts/spot-vms and
kubernetes.io/docs/concepts/cluster-administration/node-shutdown, read on 2026-11-29.
"""

import re
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from typing import Any

from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.resources.core_v1 import Node, Pod
from lightkube.types import PatchType

from spotproof_gke.grace import CRITICAL_SECONDS, NOTICE_SECONDS

SIGTERM_EXIT_CODE = "spotproof-sim/sigterm-exit-code"
SIGTERM_TAKES = "spotproof-sim/sigterm-takes"
FINISHED_AT = "spotproof-sim/finished-at"
ORDINARY_SECONDS = float(NOTICE_SECONDS - CRITICAL_SECONDS)
"""The share of ordinary pods in the notice of a node as GKE makes it."""

KILLED = 137
INTERRUPTED = 143

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def take_away(
    client: Client,
    node: str,
    grace_seconds: float = ORDINARY_SECONDS,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Takes a node away the way GKE takes a Spot node: notice, grace, gone.

    Args:
        client: A client with all rights.
        node: Name of the node.
        grace_seconds: The share of ordinary pods in the notice.
        sleep: Waits; a test may let the time pass at once.
    """
    client.patch(Node, node, {"spec": {"unschedulable": True}})
    pods = sorted(_pods_on(client, node), key=_takes_seconds)
    passed = 0.0
    for pod in pods:
        takes = min(_takes_seconds(pod), grace_seconds)
        sleep(takes - passed)
        passed = takes
        cut_off = _takes_seconds(pod) > grace_seconds
        end_pod(client, pod, KILLED if cut_off else _exit_code(pod))
    client.delete(Node, node)


def end_node(client: Client, node: str) -> None:
    """Ends a node at the end of its life, without letting time pass."""
    take_away(client, node, sleep=lambda seconds: None)


def vanish(client: Client, node: str) -> None:
    """Takes a node away without notice: its pods are found missing later."""
    client.delete(Node, node)


def end_pod(client: Client, pod: Mapping[str, Any], exit_code: int) -> None:
    """Ends a pod as a kubelet does that shuts its node down."""
    about, marks = pod["metadata"], pod["metadata"].get("annotations") or {}
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    ended = {
        "exitCode": exit_code,
        "reason": "Completed" if exit_code == 0 else "Error",
        "finishedAt": marks.get(FINISHED_AT, now),
    }
    status = {
        "phase": "Succeeded" if exit_code == 0 else "Failed",
        "reason": "Terminated",
        "message": "Pod was terminated in response to imminent node shutdown.",
        "conditions": [
            {
                "type": "DisruptionTarget",
                "status": "True",
                "reason": "TerminationByKubelet",
                "lastTransitionTime": now,
            },
            {"type": "Ready", "status": "False", "lastTransitionTime": now},
        ],
        "containerStatuses": [
            {
                "name": container["name"],
                "image": container["image"],
                "imageID": "",
                "ready": False,
                "restartCount": 0,
                "state": {"terminated": ended},
            }
            for container in pod["spec"]["containers"]
        ],
    }
    try:
        client.patch(
            Pod.Status,
            about["name"],
            {"status": status},
            namespace=about["namespace"],
            patch_type=PatchType.STRATEGIC,
        )
    except ApiError as error:
        if error.status.code != 404:
            raise


def _pods_on(client: Client, node: str) -> list[dict[str, Any]]:
    found = client.list(Pod, namespace="*", fields={"spec.nodeName": node})
    pods = [pod.to_dict() for pod in found]
    return [pod for pod in pods if pod["status"].get("phase") not in ("Succeeded", "Failed")]


def _exit_code(pod: Mapping[str, Any]) -> int:
    marks = pod["metadata"].get("annotations") or {}
    return int(marks.get(SIGTERM_EXIT_CODE, INTERRUPTED))


def _takes_seconds(pod: Mapping[str, Any]) -> float:
    marks = pod["metadata"].get("annotations") or {}
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h)", marks.get(SIGTERM_TAKES, "0s"))
    return float(match[1]) * _UNITS[match[2]] if match else 0.0
