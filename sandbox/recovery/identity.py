"""The cloud's id of a resource whose create was interrupted, from what the program asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.cloud.configuration import configuration
from sandbox.cloud.problems import ProviderError
from sandbox.cloud.types import kinds
from sandbox.cloud.types.base import Config
from sandbox.cloud.types.monitoring import MonitoringKind
from sandbox.cloud.types.service_identity import SERVICE_IDENTITY
from sandbox.recovery.operations import provider_of
from spotproof_gke.stack_state.operations import Resource

_SECRET = "4dabf18193072939515e22adb298388d"
"""The key by which the engine marks an object in a state as a secret, an asset and the like."""
_OFTEN_LEFT_OUT = ("project", "region", "location", "zone", "condition")
"""Properties without which an id can be made too, but another one."""
# As Kubernetes has them: the kinds whose objects have no namespace.
_WITHOUT_NAMESPACE = frozenset(
    {
        *("APIService", "CertificateSigningRequest", "ClusterRole", "ClusterRoleBinding"),
        *("CSIDriver", "CSINode", "CustomResourceDefinition", "DeviceClass", "FlowSchema"),
        *("IngressClass", "IPAddress", "MutatingWebhookConfiguration", "Namespace", "Node"),
        *("PersistentVolume", "PodSecurityPolicy", "PriorityClass", "PriorityLevelConfiguration"),
        *("ResourceSlice", "RuntimeClass", "ServiceCIDR", "StorageClass"),
        *("StorageVersionMigration", "ValidatingAdmissionPolicy"),
        *("ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration"),
        "VolumeAttachment",
    }
)


@dataclass(frozen=True)
class Identity:
    """An id, or the reason why there is none to be had.

    Attributes:
        again: there is nothing to look for, and the next update may create it again.
    """

    identifier: str = ""
    reason: str = ""
    again: bool = False


def identify(resource: Resource, there: Sequence[Resource]) -> Identity:
    """The id that a create with these inputs gives.

    Args:
        resource: what was to be created, with checked inputs: a name made up is among them.
        there: the resources in the state; the provider among them has project and region.
    """
    token = resource["type"]
    if provider_of(resource, there) is None:
        return Identity(reason="its provider is not in the state any more")
    if token.startswith("kubernetes:"):
        return _in_kubernetes(token, resource.get("inputs") or {})
    kind = kinds().get(token)
    if kind is None:
        return Identity(reason="how its id is made up from its name is not known here")
    if token == SERVICE_IDENTITY:
        # The provider reads nothing of it back: a refresh would keep one that has no address.
        return Identity(reason="creating it again is harmless", again=True)
    if isinstance(kind, MonitoringKind):
        return Identity(reason="the server chooses its id")
    inputs = resource.get("inputs") or {}
    hidden = {name for name, value in inputs.items() if _is_secret(value)}
    known = {name: value for name, value in inputs.items() if name not in hidden}
    if unclear := sorted(hidden.intersection(_OFTEN_LEFT_OUT)):
        return Identity(reason=f"its {unclear[0]} is a secret")
    try:
        return Identity(kind.identify(kind.complete(known, _configuration(resource, there))))
    except KeyError as missing:
        why = "is a secret" if missing.args[0] in hidden else "is not known"
        return Identity(reason=f"its {missing.args[0]} {why}")
    except ProviderError:
        return Identity(reason="neither the resource nor its provider says project and region")


def _configuration(resource: Resource, there: Sequence[Resource]) -> Config:
    provider = provider_of(resource, there) or {}
    settings = {
        name: value
        for name, value in (provider.get("inputs") or {}).items()
        if name in ("project", "region", "zone") and not _is_secret(value)
    }
    return configuration(settings)


def _in_kubernetes(token: str, inputs: dict[str, Any]) -> Identity:
    group, _, kind = token.rpartition(":")
    is_release = group.startswith("kubernetes:helm.sh/")
    metadata = inputs if is_release else inputs.get("metadata")
    if not isinstance(metadata, dict) or _is_secret(metadata):
        return Identity(reason="its metadata are a secret or not there")
    name, namespace = metadata.get("name"), metadata.get("namespace")
    if not isinstance(name, str) or not name:
        return Identity(reason="its name is a secret or made up by the server")
    if kind.removesuffix("Patch") in _WITHOUT_NAMESPACE and not is_release:
        return Identity(name)
    if not isinstance(namespace, str) or not namespace:
        return Identity(reason="its namespace is not among its inputs")
    return Identity(f"{namespace}/{name}")


def _is_secret(value: Any) -> bool:
    return isinstance(value, dict) and _SECRET in value
