"""The Kubernetes provider plugin of an official CLI, fetched once for all sandboxes.

A build with Go brings its own. Every sandbox has a home of its own, and an engine would fetch the
plugin into each of them.
"""

import os
from importlib.metadata import version
from pathlib import Path

from sandbox import cache
from sandbox.progress import StepError, heartbeat, run_step, say

INSTALL_TIMEOUT_SECONDS = 900


def kubernetes_plugin(pulumi: Path, fetch: bool) -> Path | None:
    """The plugin from the user's home or the cache; fetched into the cache if wanted."""
    number = version("pulumi-kubernetes")
    name = f"plugins/resource-kubernetes-v{number}/pulumi-resource-kubernetes"
    users_home = Path(os.environ.get("PULUMI_HOME") or Path.home() / ".pulumi")
    for home in (users_home, _home()):
        if (home / name).is_file():
            return home / name
    if fetch and _fetch(pulumi, number):
        return _home() / name
    return None


def _home() -> Path:
    return cache.folder() / "plugins-home"


def _fetch(pulumi: Path, number: str) -> bool:
    env = {**os.environ, "PULUMI_HOME": str(_home()), "PULUMI_SKIP_UPDATE_CHECK": "1"}
    command = [pulumi, "plugin", "install", "resource", "kubernetes", number]
    try:
        with cache.locked("plugins"), heartbeat(f"fetching the Kubernetes provider {number}"):
            run_step(command, cache.folder(), env, INSTALL_TIMEOUT_SECONDS)
    except StepError as error:
        say(f"  the Kubernetes provider plugin cannot be fetched now: {str(error).splitlines()[0]}")
        return False
    return True
