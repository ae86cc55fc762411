"""Asks a cluster whether its guard is at work: a policy takes effect a moment after its creation.

assert guard_denies(client, ["platform"])
"""

import time
from collections.abc import Sequence

from lightkube import Client
from lightkube.codecs import from_dict
from lightkube.core.exceptions import ApiError

WAIT_SECONDS = 30.0
_PAUSE_SECONDS = 0.1
_PROBE = "spotproof-guard-probe"
_POLICY = "ValidatingAdmissionPolicy"


def guard_denies(
    client: Client, namespaces: Sequence[str], wait_seconds: float = WAIT_SECONDS
) -> bool:
    """Whether a guard denies what it should in each of these namespaces, by a request that is not
    carried out. Asks again until it does.

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
