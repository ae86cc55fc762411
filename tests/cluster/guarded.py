"""Requests to an API server as somebody, and what a guard said about them."""

import base64
import json
import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2 as httpx

from spotproof_gke.admission import Guard, Scope, guard_manifests

PERSON = "ada@example.com"
CONTROLLER = "system:serviceaccount:kube-system:{}"
OF_CONTROLLERS = ("system:serviceaccounts", "system:serviceaccounts:kube-system")
_PLURALS = {
    "Namespace": "namespaces",
    "Pod": "pods",
    "PodTemplate": "podtemplates",
    "ReplicationController": "replicationcontrollers",
    "Deployment": "deployments",
    "StatefulSet": "statefulsets",
    "DaemonSet": "daemonsets",
    "ReplicaSet": "replicasets",
    "Job": "jobs",
    "CronJob": "cronjobs",
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
}


@dataclass(frozen=True)
class Reply:
    """What the API server answered."""

    status: int
    body: Mapping[str, Any]
    warnings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return self.status < 300

    @property
    def message(self) -> str:
        return "" if self.ok else str(self.body.get("message"))

    @property
    def denied(self) -> bool:
        """Whether a guard refused it; fails the test when something else did."""
        if not self.ok:
            assert "ValidatingAdmissionPolicy" in self.message, self.body
        return not self.ok

    @property
    def warned(self) -> bool:
        """Whether a guard warned of it."""
        return any("ValidatingAdmissionPolicy" in each for each in self.warnings)

    @property
    def clauses(self) -> set[str]:
        """What a guard named, in a denial or in a warning."""
        texts = [self.message] if self.denied else list(self.warnings)
        found = set()
        for each in texts:
            found |= set(each.partition(": ")[2].partition(". Rule")[0].split(": ")[-1].split("; "))
        return found - {""}


@dataclass
class Server:
    """An API server, and who asks it."""

    http: httpx.Client
    headers: dict[str, str] = field(default_factory=dict)
    groups: tuple[str, ...] = ()

    def asked_by(self, user: str, *groups: str) -> "Server":
        """The same server, asked by somebody."""
        return Server(self.http, {"Impersonate-User": user}, groups)

    def create(self, manifest: Mapping[str, Any], *, dry_run: bool = False) -> Reply:
        return self._send("POST", _path(manifest, named=False), manifest, dry_run)

    def replace(self, manifest: Mapping[str, Any], *, dry_run: bool = False) -> Reply:
        return self._send("PUT", _path(manifest), manifest, dry_run)

    def patch(
        self, manifest: Mapping[str, Any], change: Mapping[str, Any], *, dry_run: bool = False
    ) -> Reply:
        """Merges a change into an object that is there; its lists are replaced."""
        return self._send("PATCH", _path(manifest), change, dry_run, "merge-patch")

    def get(self, manifest: Mapping[str, Any]) -> Reply:
        return self._send("GET", _path(manifest))

    def delete(self, manifest: Mapping[str, Any], *, how: str = "Background") -> Reply:
        return self._send("DELETE", _path(manifest), {"propagationPolicy": how})

    def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        dry_run: bool = False,
        kind: str = "",
    ) -> Reply:
        content_type = f"application/{kind}+json" if kind else "application/json"
        headers = [("Content-Type", content_type), *self.headers.items()]
        headers += [("Impersonate-Group", group) for group in self.groups]
        reply = self.http.request(
            method,
            path,
            params={"dryRun": "All"} if dry_run else {},
            headers=headers,
            content=None if body is None else json.dumps(body),
        )
        warnings = tuple(reply.headers.get_list("warning"))
        return Reply(reply.status_code, reply.json(), warnings)


def _path(manifest: Mapping[str, Any], *, named: bool = True) -> str:
    version, metadata = manifest["apiVersion"], manifest["metadata"]
    path = f"/api/{version}" if "/" not in version else f"/apis/{version}"
    if "namespace" in metadata:
        path += f"/namespaces/{metadata['namespace']}"
    path += f"/{_PLURALS[manifest['kind']]}"
    return f"{path}/{metadata['name']}" if named else path


@contextmanager
def server_of(kubeconfig: Path) -> Iterator[Server]:
    """The API server of a control plane, with all rights."""
    config = json.loads(kubeconfig.read_text())
    cluster, token = config["clusters"][0]["cluster"], config["users"][0]["user"]["token"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    trust = ssl.create_default_context(cadata=authority)
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(
        base_url=cluster["server"], verify=trust, headers=headers, trust_env=False, timeout=30
    ) as http:
        yield Server(http)


def make_namespaces(server: Server, names: Sequence[str]) -> None:
    """Makes namespaces, and waits until pods can be made in them."""
    for name in names:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        reply = server.create(namespace)
        assert reply.ok or reply.status == 409, reply.body

    def has_account(name: str) -> bool:
        path = f"/api/v1/namespaces/{name}/serviceaccounts/default"
        return server.http.get(path).status_code == 200

    _await("the namespaces have accounts", lambda: all(map(has_account, names)))


def await_policies(server: Server, manifests: Mapping[str, Mapping[str, Any]]) -> None:
    """Waits until each policy is compiled, and its types are checked, as it stands now."""

    def is_checked(manifest: Mapping[str, Any]) -> bool:
        found = server.get(manifest).body
        return found["status"].get("observedGeneration") == found["metadata"]["generation"]

    found = [one for one in manifests.values() if one["kind"] == "ValidatingAdmissionPolicy"]
    _await("the types are checked", lambda: all(map(is_checked, found)))


@contextmanager
def guarding(server: Server, guard: Guard) -> Iterator[dict[str, dict[str, Any]]]:
    """A guard that is at work until the end of the block; its manifests."""
    manifests = guard_manifests(guard)
    asking = server.asked_by(PERSON)
    probes = [
        workload("Deployment", BLANKET_SPEC, namespace, "probe")
        for namespace in guard.system_namespaces
        if "*" not in namespace
    ]

    def is_at_work(probe: Mapping[str, Any]) -> bool:
        name = guard.policy_name(Scope.OWN)
        return f"'{name}'" in asking.create(probe, dry_run=True).message

    try:
        for manifest in manifests.values():
            reply = server.create(manifest)
            assert reply.ok, reply.body
        _await("it is at work", lambda: all(map(is_at_work, probes)))
        await_policies(server, manifests)
        yield manifests
    finally:
        for manifest in reversed(manifests.values()):
            server.delete(manifest)
        _await("it is gone", lambda: not any(map(is_at_work, probes)))


def _await(what: str, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.1)


BLANKET_SPEC: dict[str, Any] = {"tolerations": [{"operator": "Exists"}]}
KINDS = {
    "Pod": "v1",
    "PodTemplate": "v1",
    "ReplicationController": "v1",
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "ReplicaSet": "apps/v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
}


def workload(
    kind: str, spec: Mapping[str, Any], namespace: str, name: str = "work", **top: Any
) -> dict[str, Any]:
    """A right workload of a kind, whose pods have this in their specification.

    Args:
        kind: The kind.
        spec: Parts of the pod specification.
        namespace: The namespace.
        name: The name; also the label `app` of its pods.
        top: Further parts of the workload's own specification, such as `replicas`.
    """
    containers = [{"name": "main", "image": "example.invalid/work"}]
    pod: dict[str, Any] = {"containers": containers, **spec}
    labels = {"app": name}
    if kind in ("Job", "CronJob"):
        pod = {"restartPolicy": "Never", **pod}
    template = {"metadata": {"labels": labels}, "spec": pod}
    selected = {"selector": {"matchLabels": labels}, "template": template}
    inner: dict[str, Any] = {
        "Pod": {"spec": pod},
        "PodTemplate": {"template": template},
        "ReplicationController": {"spec": {"selector": labels, "template": template}},
        "StatefulSet": {"spec": {"serviceName": name, **selected}},
        "Job": {"spec": {"template": template}},
        "CronJob": {
            "spec": {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template": template}}}
        },
    }.get(kind, {"spec": selected})
    if top:
        inner["spec"] = {**inner["spec"], **top}
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return {"apiVersion": KINDS[kind], "kind": kind, "metadata": metadata, **inner}
