"""Serves the components to programs in any Pulumi language."""

import sys
from typing import Any

import pulumi
from pulumi.provider import ConstructResult, main
from pulumi.provider.experimental.component import ComponentProvider
from pulumi.provider.server import ComponentInitError

import spotproof
from spotproof.reader import ArgumentsError

COMPONENTS = (
    spotproof.CheckpointBucket,
    spotproof.GkeCluster,
    spotproof.Network,
    spotproof.ProjectServices,
    spotproof.SpotGpuPool,
    spotproof.SystemNodePool,
)


class Components(ComponentProvider):
    """Answers refused arguments as what they are; the SDK's own host calls them a crash."""

    def construct(
        self,
        name: str,
        resource_type: str,
        inputs: Any,
        options: pulumi.ResourceOptions | None = None,
    ) -> ConstructResult:
        """Make a component; its refusal names each property as the caller's language spells it."""
        try:
            return super().construct(name, resource_type, inputs, options)
        except ComponentInitError as error:
            if isinstance(error.inner, ArgumentsError):
                refusal = error.inner
                raise pulumi.InputPropertiesError(refusal.subject, refusal.errors) from None
            raise


if __name__ == "__main__":
    provider = Components(list(COMPONENTS), "spotproof", None, spotproof.__version__)
    main(provider, sys.argv[1:])
