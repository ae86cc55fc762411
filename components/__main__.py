"""Serves the components to programs in any Pulumi language."""

from pulumi.provider.experimental import component_provider_host

import spotproof

COMPONENTS = (
    spotproof.CheckpointBucket,
    spotproof.GkeCluster,
    spotproof.Network,
    spotproof.ProjectServices,
    spotproof.SpotGpuPool,
    spotproof.SystemNodePool,
)

if __name__ == "__main__":
    component_provider_host(
        name="spotproof", version=spotproof.__version__, components=list(COMPONENTS)
    )
