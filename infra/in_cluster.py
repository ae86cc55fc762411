"""The Kubernetes provider of an environment: its own cluster, or a folder of YAML files."""

import json
import os
from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes

from settings import Settings
from spotproof.cluster_base import ClusterComponent
from workload_sections import Layer

PLUGIN = "gke-gcloud-auth-plugin"
"""What gets a token for a cluster of GKE from the login of gcloud."""

_ROOT = Path(__file__).resolve().parent.parent


def kubeconfig(name: str, dns_endpoint: str) -> str:
    """How to reach a cluster by the DNS name of its control plane; it holds no secret.

    The name has a certificate that every machine trusts, so none stands here.
    Source: docs.cloud.google.com/kubernetes-engine/docs/how-to/cluster-access-for-kubectl and
    concepts/network-isolation, read on 2026-11-30.
    """
    login = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": PLUGIN,
        "installHint": f"gcloud components install {PLUGIN}",
        "provideClusterInfo": True,
        "interactiveMode": "Never",
    }
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "clusters": [{"name": name, "cluster": {"server": f"https://{dns_endpoint}"}}],
            "users": [{"name": name, "user": {"exec": login}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        }
    )


def declare_provider(
    settings: Settings, cluster: ClusterComponent, opts: pulumi.ResourceOptions
) -> kubernetes.Provider:
    """The provider that everything inside the cluster has, never that of the user's kubeconfig."""
    # The provider would take what the variable names as its own, and refuses it beside a folder.
    ambient = os.environ.pop("KUBECONFIG", None)
    try:
        if settings.workloads is Layer.RENDER:
            folder = rendered_folder(settings.workloads_folder, pulumi.get_stack())
            return kubernetes.Provider("in-cluster", render_yaml_to_directory=folder, opts=opts)
        return kubernetes.Provider(
            "in-cluster",
            kubeconfig=cluster.dns_endpoint.apply(
                lambda endpoint: kubeconfig(settings.cluster_name, endpoint)
            ),
            # Without it, each change of the kubeconfig would replace all that is in the cluster.
            cluster_identifier=cluster.cluster_id,
            opts=opts,
        )
    finally:
        if ambient is not None:
            os.environ["KUBECONFIG"] = ambient


def rendered_folder(given: str | None, stack: str) -> str:
    """Where objects are rendered, seen from the folder of the program.

    It stands in the state, so it is the same on each machine; in a sandbox it is the sandbox's.
    """
    if sandbox := os.environ.get("SPOTPROOF_SANDBOX_DIR"):
        return str(Path(sandbox) / "rendered")
    target = _ROOT / (given or f".spotproof/rendered/{stack}")
    return os.path.relpath(target, Path(__file__).resolve().parent)
