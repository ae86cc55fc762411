"""A control plane on loopback: etcd, API server, scheduler, controller manager, and kwok.

The JobSet manager joins them when it is given. kwok stands in the place of every kubelet. Nothing
needs a container, a network or root. The credentials are made anew at each start and lie in the
folder, readable by its owner alone.
"""

import base64
import json
import os
import secrets
import socket
from pathlib import Path
from types import TracebackType

from httpx2 import HTTPError
from lightkube import Client, KubeConfig
from lightkube.core.exceptions import ApiError
from lightkube.resources.core_v1 import Namespace, ServiceAccount

from sandbox.cluster import jobset
from sandbox.cluster.binaries import Binaries
from sandbox.cluster.daemons import DaemonError, Daemons
from sandbox.cluster.stages import stages

START_TIMEOUT_SECONDS = 180.0
NODE_LEASE_SECONDS = 40

_USER = "admin"
_NOT_YET = (ApiError, OSError)


class ControlPlaneError(Exception):
    """The control plane cannot be started; the text says why."""


class ControlPlane:
    """One control plane in a folder of its own.

    It is a context manager as well, which stops it in the end; it then also stops when this process
    is killed. After `start` alone it runs on until somebody stops it.

    Args:
        folder: Where it keeps everything.
        binaries: Its programs.
        manager: The JobSet manager, if it is to run as well.

    Attributes:
        folder: Data, keys, logs and the kubeconfig.
        kubeconfig: How to reach it, for any client.
    """

    def __init__(
        self, folder: Path, binaries: Binaries, manager: jobset.Manager | None = None
    ) -> None:
        self.folder = folder.resolve()
        self.kubeconfig = self.folder / "kubeconfig"
        self._binaries = binaries
        self._manager = manager
        self._daemons = Daemons(self.folder)

    def __enter__(self) -> "ControlPlane":
        self._launch(bound=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Starts it on free ports and waits until pods can be made. What was stored is kept.

        Raises:
            ControlPlaneError: it runs already, or a part of it did not start.
        """
        self._launch(bound=False)

    def _launch(self, *, bound: bool) -> None:
        if running := self._daemons.running():
            raise ControlPlaneError(
                f"{self.folder}: {', '.join(running)} still running; stop it before"
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        try:
            if bound:
                self._daemons.end_with_this_process()
            self._start()
        except DaemonError as error:
            self.stop()
            raise ControlPlaneError(str(error)) from None
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends all of it; harmless when it does not run."""
        self._daemons.stop()

    def client(self) -> Client:
        """A client with all rights."""
        return Client(
            KubeConfig.from_file(self.kubeconfig).get(), trust_env=False, field_manager="spotproof"
        )

    def _start(self) -> None:
        etcd, peer, port = _free_ports(3)
        store, url = f"http://127.0.0.1:{etcd}", f"https://127.0.0.1:{port}"
        token = secrets.token_urlsafe(24)
        self._private("tokens.csv", f"{token},{_USER},{_USER},system:masters\n")
        self._private("stages.yaml", stages())
        self._run(
            "etcd",
            f"--data-dir={self.folder / 'etcd'}",
            "--unsafe-no-fsync",
            f"--listen-client-urls={store}",
            f"--advertise-client-urls={store}",
            f"--listen-peer-urls=http://127.0.0.1:{peer}",
        )
        self._run("kube-apiserver", *self._api_server_flags(store, port))
        certificate = self.folder / "certs" / "apiserver.crt"
        self._await("the API server's certificate", certificate.exists)
        self._await("the API server's key", certificate.with_suffix(".key").exists)
        self._private("kubeconfig", _kubeconfig(url, certificate, token))
        self._await("the API server", self._has_namespace)
        client = f"--kubeconfig={self.kubeconfig}"
        # Fixed ports would clash with a second control plane.
        alone = ("--leader-elect=false", "--secure-port=0")
        self._run("kube-scheduler", client, *alone)
        # Each controller has an account of its own, by which GKE's admission tells them apart.
        accounts = "--use-service-account-credentials=true"
        self._run("kube-controller-manager", client, accounts, *alone)
        self._run(
            "kwok",
            client,
            f"--config={self.folder / 'stages.yaml'}",
            "--manage-all-nodes",
            # Without leases all nodes turn NotReady every minute or so.
            f"--node-lease-duration-seconds={NODE_LEASE_SECONDS}",
        )
        # A pod that comes before its namespace's service account is refused.
        self._await("the service account of pods", self._has_service_account)
        if self._manager:
            self._start_jobset(self._manager)

    def _start_jobset(self, manager: jobset.Manager) -> None:
        port, health = _free_ports(2)
        own, certificates = self.folder / jobset.NAME, self.folder / "certs"
        client = self.client()
        jobset.install(client, manager)
        self._await("the kind JobSet", lambda: jobset.is_served(client))
        self._private("jobset.json", jobset.configuration(own, certificates, port, health))
        self._daemons.start(
            jobset.NAME,
            [manager.program, f"--config={self.folder / 'jobset.json'}"],
            {"KUBECONFIG": str(self.kubeconfig)},
        )
        jobset.register(client, manager, certificates / "apiserver.crt", port)
        self._await("the JobSet manager", lambda: jobset.is_asked(client))

    def _api_server_flags(self, store: str, port: int) -> list[str]:
        # The server makes this key for its certificate; it signs service accounts as well.
        key = self.folder / "certs" / "apiserver.key"
        return [
            f"--etcd-servers={store}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={port}",
            f"--cert-dir={key.parent}",
            "--endpoint-reconciler-type=none",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--service-cluster-ip-range=10.0.0.0/24",
            # GKE adds the GPU toleration to pods that ask for GPUs, as this plugin does.
            "--enable-admission-plugins=ExtendedResourceToleration",
        ]

    def _run(self, name: str, *flags: str) -> None:
        self._daemons.start(name, [self._binaries.paths[name], *flags])

    def _await(self, what: str, condition) -> None:
        self._daemons.wait(what, condition, START_TIMEOUT_SECONDS)

    def _has_namespace(self) -> bool:
        try:
            return bool(self.client().get(Namespace, "default"))
        except (*_NOT_YET, HTTPError):
            return False

    def _has_service_account(self) -> bool:
        try:
            return bool(self.client().get(ServiceAccount, "default", namespace="default"))
        except (*_NOT_YET, HTTPError):
            return False

    def _private(self, name: str, text: str) -> None:
        path = self.folder / name
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)


def _kubeconfig(url: str, certificate: Path, token: str) -> str:
    # The serving certificate's file ends with the authority that signed it. JSON is YAML.
    authority = base64.b64encode(certificate.read_bytes()).decode()
    name = "spotproof"
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "clusters": [
                {"name": name, "cluster": {"server": url, "certificate-authority-data": authority}}
            ],
            "users": [{"name": _USER, "user": {"token": token}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": _USER}}],
        },
        indent=1,
    )


def _free_ports(count: int) -> list[int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports
