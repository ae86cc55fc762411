"""Reads a live cluster through `kubectl get`, and through nothing else."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spotproof_gke.audit.dump import add_objects
from spotproof_gke.audit.evidence import Evidence, InputError, Source, printable

KINDS = (
    "nodes",
    "pods",
    "deployments.apps",
    "statefulsets.apps",
    "daemonsets.apps",
    "jobs.batch",
    "cronjobs.batch",
    "persistentvolumes",
    "namespaces",
)
"""What is asked for, one call each, so that a kind that may not be listed leaves the rest."""

CUSTOM_KINDS = ("computeclasses.cloud.google.com", "jobsets.jobset.x-k8s.io")
"""Kinds that a cluster need not have."""

DEFAULT_TIMEOUT_SECONDS = 60.0
"""How long one kind may take."""

_NO_SUCH_KIND = ("the server doesn't have a resource type", "could not find the requested resource")
_FORBIDDEN = ("forbidden", "cannot list resource")
_UNAUTHORIZED = ("unauthorized", "must be logged in", "provide credentials")


@dataclass(frozen=True)
class Access:
    """How to reach the cluster.

    Attributes:
        context: Context of the kubeconfig; "" for the current one.
        kubeconfig: The kubeconfig's file; "" for kubectl's own choice (KUBECONFIG).
        timeout_seconds: How long one kind may take.
    """

    context: str = ""
    kubeconfig: str = ""
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS

    @property
    def name(self) -> str:
        """What the cluster is called in the report."""
        words = f"context {self.context}" if self.context else "current context"
        return f"cluster ({printable(words)})"


def add_cluster(evidence: Evidence, access: Access) -> None:
    """Add the objects of a live cluster to the evidence.

    A kind that may not be listed becomes a note.

    Raises:
        InputError: There is no kubectl, the cluster does not answer, or nothing may be listed.
    """
    program = shutil.which("kubectl")
    if program is None:
        raise InputError(
            "kubectl is not on PATH: install it, or give files written by "
            "`kubectl get ... -o json` instead"
        )
    source = Source(access.name, "cluster")
    refused = []
    for kind in (*KINDS, *CUSTOM_KINDS):
        answer = _get(program, access, kind)
        if answer.refused:
            refused.append(kind)
        elif answer.document is not None:
            add_objects(evidence, source, [answer.document])
    if not set(KINDS) - set(refused):
        raise InputError(
            f"{access.name}: kubectl may list none of {', '.join(KINDS)}: ask for a role that "
            "may, for example roles/container.viewer or the ClusterRole view with nodes"
        )
    if refused:
        evidence.notes.append(
            f"{access.name}: no permission to list {', '.join(refused)}; what depends on them was "
            "not judged"
        )
    evidence.sources.append(source)


@dataclass(frozen=True)
class _Answer:
    document: Any = None
    refused: bool = False


def _get(program: str, access: Access, kind: str) -> _Answer:
    seconds = access.timeout_seconds
    command = [
        program,
        *([f"--kubeconfig={access.kubeconfig}"] if access.kubeconfig else []),
        *([f"--context={access.context}"] if access.context else []),
        "get",
        kind,
        "--all-namespaces",
        "--output=json",
        f"--request-timeout={max(1, round(seconds))}s",
    ]
    asked = f"kubectl get {kind} --all-namespaces ({access.name})"
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise InputError(
            f"{asked}: no answer within {seconds:g} s; is the cluster reachable from here? "
            "--timeout-seconds allows more"
        ) from None
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or "it cannot be started"
        raise InputError(f"{asked}: {words}") from None
    if done.returncode != 0:
        return _failed(asked, kind, done.stderr.decode("utf-8", "replace"))
    try:
        return _Answer(json.loads(done.stdout))
    except (ValueError, RecursionError):
        raise InputError(f"{asked}: the answer is no JSON; is this kubectl a wrapper?") from None


def _failed(asked: str, kind: str, said: str) -> _Answer:
    words = said.lower()
    if any(each in words for each in _NO_SUCH_KIND):
        if kind in CUSTOM_KINDS:
            return _Answer()
        raise InputError(f"{asked}: the server does not know this kind; is it a cluster of GKE?")
    if any(each in words for each in _FORBIDDEN):
        return _Answer(refused=True)
    if any(each in words for each in _UNAUTHORIZED):
        raise InputError(
            f"{asked}: not logged in; run `gcloud container clusters get-credentials` for the "
            f"cluster first. {_last_line([said])}"
        )
    raise InputError(
        f"{asked} failed; check the context, the network and the credentials. {_last_line([said])}"
    )


def _last_line(texts: Sequence[str]) -> str:
    """The last thing that kubectl said, on one line of printable characters."""
    lines = [line.strip() for each in texts for line in each.splitlines() if line.strip()]
    return f"kubectl: {printable(lines[-1] if lines else 'it said nothing')}"
