"""The JobSet manager: found on this machine or built with Go, and started beside a control plane.

It is optional and kept apart from the control plane's own programs, so that neither makes the other
be built anew. Its CRD and its webhooks come with its Go module; where the program is found on this
machine, they are looked for in its folder.
"""

import base64
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from httpx2 import HTTPError
from lightkube import Client
from lightkube.codecs import from_dict, load_all_yaml
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_namespaced_resource

from sandbox.cluster.binaries import BinariesError
from sandbox.cluster.daemons import DaemonError
from sandbox.go_build import Binary, BuildError, Companion, Programs, module_folder
from sandbox.progress import say

NAME = "jobset"
CRD = "jobset-crd.yaml"
WEBHOOKS = "jobset-webhooks.yaml"

_MODULES = Path(__file__).parent / "build-jobset"
_MODULE = "sigs.k8s.io/jobset"
_FROM = "config/components"

JobSet = create_namespaced_resource("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets")
"""The kind, for a client."""


def _companion(name: str, path: str) -> Companion:
    def make(go: str, folder: Path) -> None:
        origin = module_folder(go, _MODULES / NAME, _MODULE) / _FROM / path
        staging = folder / f".{name}.{os.getpid()}"
        shutil.copyfile(origin, staging)
        os.replace(staging, folder / name)

    return Companion(name, make)


PROGRAMS = Programs(
    _MODULES,
    (
        Binary(
            name=NAME,
            module=NAME,
            package=_MODULE,
            version="v0.11.1",
            version_variable=f"{_MODULE}/pkg/version.GitVersion",
            minutes=3,
        ),
    ),
    (
        _companion(CRD, "crd/bases/jobset.x-k8s.io_jobsets.yaml"),
        _companion(WEBHOOKS, "webhook/manifests.yaml"),
    ),
)


@dataclass(frozen=True)
class Manager:
    """Where the program is, with its CRD and webhooks beside it."""

    folder: Path

    @property
    def program(self) -> Path:
        return self.folder / NAME


def lookup() -> Manager | None:
    """The manager that is there already. Builds nothing."""
    folder = next(_folders(), None) or PROGRAMS.built()
    return Manager(folder) if folder else None


def ensure() -> Manager:
    """The manager: of `KUBEBUILDER_ASSETS`, else of PATH, else built. Says which.

    Raises:
        BinariesError: no way works.
    """
    found = lookup()
    if found is None:
        try:
            found = Manager(PROGRAMS.build())
        except BuildError as error:
            raise BinariesError(
                f"no JobSet manager can be had: {NAME}, {CRD} and {WEBHOOKS} are neither in "
                f"KUBEBUILDER_ASSETS nor in one folder on PATH, and it cannot be built ({error}). "
                "Install Go 1.26 or newer (https://go.dev/doc/install)."
            ) from error
    say(f"JobSet manager: {found.folder}")
    return found


def _folders() -> Iterator[Path]:
    assets = os.environ.get("KUBEBUILDER_ASSETS", "")
    for text in (assets, *os.environ.get("PATH", os.defpath).split(os.pathsep)):
        folder = Path(text)
        if text and all((folder / name).is_file() for name in (NAME, CRD, WEBHOOKS)):
            yield folder


def configuration(folder: Path, certificates: Path, port: int, health: int) -> str:
    """The manager's configuration, which writes nothing but what lies in `folder`.

    Args:
        folder: Where it may keep the certificate of its webhooks.
        certificates: Where the API server keeps its own, which is for 127.0.0.1 and serves here
            too.
        port, health: Free ports on loopback.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    for source, name in (("apiserver.crt", "tls.crt"), ("apiserver.key", "tls.key")):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(certificates / source)
    return json.dumps(
        {
            "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
            "kind": "Configuration",
            "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
            "metrics": {"bindAddress": "0"},
            "leaderElection": {"leaderElect": False},
            "internalCertManagement": {"enable": False},
            "webhook": {"host": "127.0.0.1", "port": port, "certDir": str(folder)},
        }
    )


def install(client: Client, manager: Manager) -> None:
    """Makes the kind known to the API server; harmless when it is."""
    for thing in load_all_yaml((manager.folder / CRD).read_text()):
        _apply(client, thing)


def register(client: Client, manager: Manager, certificate: Path, port: int) -> None:
    """Tells the API server to ask the manager about JobSets, as an installed one does.

    Its webhooks about pods are left out: they serve placements that no component of ours asks for.
    """
    authority = base64.b64encode(certificate.read_bytes()).decode()
    for thing in yaml.safe_load_all((manager.folder / WEBHOOKS).read_text()):
        kept = []
        for each in thing["webhooks"]:
            path = each["clientConfig"]["service"]["path"]
            url = f"https://127.0.0.1:{port}{path}"
            if "pod" not in path:
                kept.append({**each, "clientConfig": {"url": url, "caBundle": authority}})
        name = f"jobset-{thing['metadata']['name']}"
        _apply(client, from_dict({**thing, "metadata": {"name": name}, "webhooks": kept}))


def _apply(client: Client, thing: Any) -> None:
    try:
        client.apply(thing, force=True)
    except ApiError as error:
        raise DaemonError(f"the JobSet manager's own objects are refused: {error}") from error


def is_served(client: Client) -> bool:
    """Whether the API server knows the kind by now."""
    try:
        return list(client.list(JobSet, namespace="default")) is not None
    except (ApiError, HTTPError):  # an unknown path is not answered in Kubernetes' form
        return False


def is_asked(client: Client) -> bool:
    """Whether the manager judges new JobSets by now."""
    probe = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "probe", "namespace": "default"},
        "spec": {"replicatedJobs": []},
    }
    try:
        client.create(from_dict(probe), dry_run=True)
    except (ApiError, HTTPError):
        return False
    return True
