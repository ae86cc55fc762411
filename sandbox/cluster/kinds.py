"""Kinds of controllers that others own, made known to a control plane without the controllers.

An API server that has them judges what our components make by its fields and types. `crds/` holds
what the documentation says of them; the JobSet manager brings its own (see `jobset.py`).
"""

from pathlib import Path
from typing import Any

import yaml
from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition

from sandbox.cluster.daemons import DaemonError

CRDS = Path(__file__).parent / "crds"


def definitions() -> dict[str, dict[str, Any]]:
    """All of them by name, in the order of files and documents."""
    return {
        one["metadata"]["name"]: one
        for file in sorted(CRDS.glob("*.yaml"))
        for one in yaml.safe_load_all(file.read_text(encoding="utf-8"))
    }


def install(client: Client) -> None:
    """Makes them known and waits until they are served; harmless when they are.

    Raises:
        DaemonError: the API server refuses one, or does not serve it in time.
    """
    found: Any = CustomResourceDefinition
    for name, one in definitions().items():
        try:
            client.apply(found.from_dict(one), field_manager="spotproof-kinds", force=True)
        except ApiError as error:
            raise DaemonError(f"{name} is refused: {error}") from error
    for name in definitions():
        client.wait(found, name, for_conditions=["Established"], raise_for_conditions=())


def remove(client: Client, *names: str) -> None:
    """Makes kinds unknown again, all or those with these names, with all objects of them."""
    for name in names or definitions():
        try:
            client.delete(CustomResourceDefinition, name)
        except ApiError as error:
            if error.status.code != 404:
                raise
