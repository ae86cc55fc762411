"""A cluster of the user's own: how to reach it. Nothing here changes anything in it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lightkube import Client, KubeConfig
from lightkube.core.exceptions import ApiError, ConfigError

from sandbox.cluster.control_plane import HTTPError

DEFAULT_KUBECONFIG = "~/.kube/config"
_LOGIN = (
    "run `gcloud container clusters get-credentials CLUSTER --location LOCATION`, or name the "
    "file by --kubeconfig and the context by --context"
)


class UnreachableError(Exception):
    """The cluster cannot be read; the text says why and what to do."""


def client_of(kubeconfig: Path | None, context: str | None) -> tuple[str, Client]:
    """Name of the context, and a client for it.

    Args:
        kubeconfig: The file; None for KUBECONFIG, else `~/.kube/config`.
        context: Its context; None for the current one.

    Raises:
        UnreachableError: there is no such file or context, or it cannot be read.
    """
    path = kubeconfig or Path(os.environ.get("KUBECONFIG") or DEFAULT_KUBECONFIG).expanduser()
    try:
        config = KubeConfig.from_file(path)
        single = config.get(context)
        if single is None:
            raise ConfigError("it has no context")
        return str(context or config.current_context), Client(single)
    except ConfigError as error:
        raise UnreachableError(f"{path}: {error}; {_LOGIN}") from None
    except OSError as error:
        raise UnreachableError(f"{path}: {error.strerror}; {_LOGIN}") from None
    except Exception as error:  # a file of any other content fails anywhere in its reading
        kind = type(error).__name__
        raise UnreachableError(f"{path} is no kubeconfig ({kind}); {_LOGIN}") from None


@contextmanager
def reaching(name: str) -> Iterator[None]:
    """Turns what a cluster refuses or does not answer into `UnreachableError`."""
    try:
        yield
    except ApiError as error:
        why = {401: "you are not logged in", 403: "you may not"}.get(error.status.code or 0, "")
        raise UnreachableError(f"{name}: {why + ': ' if why else ''}{error}; {_LOGIN}") from None
    except ConfigError as error:
        raise UnreachableError(f"{name}: {error}; {_LOGIN}") from None
    except (HTTPError, OSError) as error:
        raise UnreachableError(
            f"{name} does not answer ({error}): is it there, and may this machine reach its "
            "control plane?"
        ) from None


def plain(thing: Any, kind: str, version: str = "v1") -> dict[str, Any]:
    """An object of a list as data, with its kind, which a list leaves out."""
    return {**thing.to_dict(), "kind": kind, "apiVersion": version}
