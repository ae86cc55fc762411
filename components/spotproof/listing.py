"""What a registry shows of the package beside its components."""

from typing import Any

REPOSITORY = "https://github.com/spotproof/spotproof"

LISTING: dict[str, Any] = {
    "displayName": "Spotproof",
    "description": "Pulumi components for GKE capacity that can be taken away, without losing work",
    "keywords": [
        "pulumi",
        "gke",
        "kubernetes",
        "gpu",
        "spot",
        "flex-start",
        "checkpoints",
        "category/infrastructure",
        "kind/component",
    ],
    "homepage": REPOSITORY,
    "repository": REPOSITORY,
    "license": "Apache-2.0",
    "publisher": "Spotproof",
    "logoUrl": "https://raw.githubusercontent.com/spotproof/spotproof/main/components/icon.svg",
}
"""Keys of Pulumi's package schema. `category/…` and `kind/…` are the registry's own keywords.

There is no `pluginDownloadURL`: a CLI that fetched the package from a repository fills in which one,
and for a folder there is none.
"""

NODEJS_PACKAGE = "spotproof"
"""Name of the SDK for TypeScript, the same wherever the package comes from. Without it the name would
carry the scope of whoever's repository it was added from, and Pulumi's own for a folder."""
