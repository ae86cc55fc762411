"""Serves a policy pack to the engine, and converts only what its rules read.

The SDK turns the properties of each resource into Python's data anew for each policy, and wraps
every value. On a state of thousands of resources that takes longer than all rules together. Here
they are converted when a rule first reads them, and once for all policies of a call.

This hangs on names inside the SDK's module. Where one is missing, the pack is served as the SDK
does it: slower, with the same findings.
"""

import gc
import weakref
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pulumi_policy.policy as sdk
from pulumi_policy import Policy, PolicyPack

from spotproof_gke.policy_adapter import Properties

_ALLOCATIONS_BETWEEN_COLLECTIONS = 100_000
_REPLACED = ("json_format", "deserialize_properties", "unknown_checking_proxy")


def serve(name: str, policies: Sequence[Policy]) -> None:
    """Serves policies under the pack's name until the engine ends; does not return before."""
    # A stack's resources stay in memory anyway: looking through them ever again for garbage took a
    # third of the time, and more for each resource the more there are.
    gc.set_threshold(_ALLOCATIONS_BETWEEN_COLLECTIONS, 20, 20)
    convert_when_read(sdk)
    PolicyPack(name=name, policies=list(policies))


def convert_when_read(module: Any) -> bool:
    """Makes the SDK hand over properties that are converted when they are read.

    Args:
        module: the SDK's module that serves packs.

    Returns:
        Whether it could be done.
    """
    if not all(hasattr(module, one) for one in _REPLACED):
        return False
    as_mapping = module.json_format.MessageToDict
    deserialize, check = module.deserialize_properties, module.unknown_checking_proxy

    class _Later(Properties):
        def __init__(self, message: Any) -> None:
            super().__init__(lambda: deserialize(as_mapping(message)))
            self.message = message

        def copy(self) -> dict[str, Any]:
            """For a policy's configuration, which comes as a message too."""
            return dict(self.given)

    # A message stays the same object as long as something holds it; its properties do.
    read: weakref.WeakValueDictionary[int, _Later] = weakref.WeakValueDictionary()

    def later(message: Any) -> Any:
        found = read.get(id(message))
        if found is None:
            found = read[id(message)] = _Later(message)
        return found

    def deserialized(props: Any, proxy_secrets: bool = False) -> Any:
        if not isinstance(props, _Later):
            return deserialize(props, proxy_secrets)
        # A remediation gives back what it gets, with its secrets marked.
        return deserialize(as_mapping(props.message), True) if proxy_secrets else props

    def checked(props: Any) -> Any:
        return props if isinstance(props, _Later) else check(props)

    module.json_format = SimpleNamespace(MessageToDict=later)
    module.deserialize_properties = deserialized
    module.unknown_checking_proxy = checked
    return True
