"""Asks a cluster whether its guard is at work: a policy takes effect a moment after its creation.

assert guard_denies(client, ["platform"])
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any

from lightkube import Client
from lightkube.codecs import from_dict
from lightkube.core.exceptions import ApiError
from lightkube.resources.apps_v1 import DaemonSet, Deployment, ReplicaSet, StatefulSet
from lightkube.resources.batch_v1 import CronJob, Job
from lightkube.resources.core_v1 import Pod, PodTemplate, ReplicationController

from spotproof_gke.admission import Guard, findings
from spotproof_gke.rules.finding import Finding

WAIT_SECONDS = 30.0
_PAUSE_SECONDS = 0.1
_PROBE = "spotproof-guard-probe"
_KINDS: tuple[type[Any], ...] = (
    Deployment,
    StatefulSet,
    DaemonSet,
    CronJob,
    Job,
    ReplicationController,
    ReplicaSet,
    PodTemplate,
    Pod,
)
_POLICY = "ValidatingAdmissionPolicy"


def guard_denies(
    client: Client, namespaces: Sequence[str], wait_seconds: float = WAIT_SECONDS
) -> bool:
    """Whether a guard denies what it should in each of these namespaces.

    A policy takes effect a moment after its creation, so it asks again until it does. Nothing is
    made: it asks by dry run.

    Args:
        client: A client that may create Deployments there, and whom the guard does not exempt.
        namespaces: Namespaces that exist.
        wait_seconds: For how long to ask.

    Raises:
        ApiError: The request is refused for another reason: a missing namespace, missing rights.
    """
    deadline = time.monotonic() + wait_seconds
    waiting = list(namespaces)
    while waiting:
        waiting = [namespace for namespace in waiting if not _is_denied(client, namespace)]
        if waiting and time.monotonic() > deadline:
            return False
        if waiting:
            time.sleep(_PAUSE_SECONDS)
    return True


def there_before(client: Client, guard: Guard) -> Iterator[Finding]:
    """What a cluster holds that the guard would refuse if it came now.

    The guard lets such objects live on; look at them before it denies in GKE's namespaces too.
    What a controller made is passed over, for its owner says it all.
    """
    for kind in _KINDS:
        for each in client.list(kind, namespace="*"):
            manifest = {**each.to_dict(), "apiVersion": _version(kind), "kind": kind.__name__}
            owners = manifest["metadata"].get("ownerReferences") or ()
            if not any(owner.get("controller") for owner in owners):
                yield from findings(guard, manifest)


def _version(kind: type[Any]) -> str:
    resource = kind._api_info.resource
    return f"{resource.group}/{resource.version}" if resource.group else resource.version


def _is_denied(client: Client, namespace: str) -> bool:
    labels = {"app": _PROBE}
    pod = {
        "containers": [{"name": "probe", "image": "example.invalid/probe"}],
        "tolerations": [{"operator": "Exists"}],
    }
    probe = from_dict(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": _PROBE, "namespace": namespace},
            "spec": {
                "replicas": 0,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pod},
            },
        }
    )
    try:
        client.create(probe, dry_run=True)  # pyright: ignore[reportArgumentType, reportCallIssue]
    except ApiError as error:
        if _POLICY not in str(error.status.message):
            raise
        return True
    return False
