"""The resource types that the emulated cloud knows, one module for each group."""

from functools import cache
from importlib import import_module

from sandbox.cloud.problems import ProviderError
from sandbox.cloud.types.base import Kind

MODULES = (
    "network",
    "router",
    "cluster",
    "node_pool",
    "bucket",
    "service_account",
    "project_services",
    "iam",
    "firewall",
    "resource_policy",
    "topic",
    "subscription",
    "pubsub_iam",
    "repository",
    "service_identity",
    "alert_policy",
    "dashboard",
)


@cache
def kinds() -> dict[str, Kind]:
    """All resource types by token. A module lists its own in `KINDS`."""
    found: dict[str, Kind] = {}
    for name in MODULES:
        for kind in import_module(f"sandbox.cloud.types.{name}").KINDS:
            found[kind.token] = kind
    return found


def kind_of(token: str) -> Kind:
    """The resource type of this token.

    Raises:
        ProviderError: The emulated cloud does not know the type.
    """
    kind = kinds().get(token)
    if kind is None:
        known = ", ".join(sorted(kinds()))
        raise ProviderError(f"the emulated cloud has no resource type {token}; it has {known}")
    return kind
