"""A token for a cluster of GKE, from the plugin that kubectl and the provider use too."""

import json
import shutil
import subprocess
from collections.abc import Mapping

from sandbox.reach.server import NoAnswerError

PLUGIN = "gke-gcloud-auth-plugin"
TIMEOUT_SECONDS = 60.0
_INSTALL = f"gcloud components install {PLUGIN} (or your distribution's package of that name)"


def token(environment: Mapping[str, str]) -> str:
    """The token of whoever is logged in with gcloud.

    Args:
        environment: That of the engine, whose provider will ask in the same way.

    Raises:
        NoAnswerError: There is no plugin, or it gives no token.
    """
    found = shutil.which(PLUGIN, path=environment.get("PATH"))
    if found is None:
        raise NoAnswerError(f"{PLUGIN} is not on PATH, and without it nobody gets in: {_INSTALL}")
    info = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "kind": "ExecCredential",
        "spec": {"interactive": False},
    }
    try:
        ended = subprocess.run(
            [found],
            env={**environment, "KUBERNETES_EXEC_INFO": json.dumps(info)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise NoAnswerError(f"{PLUGIN} gives no token within {TIMEOUT_SECONDS:.0f} s") from None
    except OSError as error:
        raise NoAnswerError(f"{PLUGIN} can't be run ({error.strerror}): {_INSTALL}") from None
    if ended.returncode != 0:
        lines = ended.stderr.strip().splitlines() or ["it does not say why"]
        raise NoAnswerError(f"{PLUGIN} gives no token: {lines[-1]}. Log in: gcloud auth login")
    try:
        given = json.loads(ended.stdout)["status"]["token"]
    except (ValueError, LookupError, TypeError):
        given = None
    if not isinstance(given, str) or not given:
        raise NoAnswerError(f"{PLUGIN} gives something that is no token. Log in: gcloud auth login")
    return given
