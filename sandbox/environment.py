"""The folder and the environment in which an engine meets the emulated cloud, and nothing else.

The engine gets a home, a backend and a passphrase of the sandbox's own, no Google credentials and
no cluster of the user's. The emulator is an installed plugin of that home, so nothing outside the
sandbox can come to use it.
"""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from sandbox.engine import Engine
from sandbox.paths import ROOT, VENV, VENV_PYTHON

PASSPHRASE = "sandbox"
FOR_PREVIEW = {"PULUMI_SKIP_CHECKPOINTS": "true"}
"""For previews alone: otherwise the engine puts the whole state together anew for each resource,
and then throws it away. An update must write it each time, for what comes after a crash."""
_DROPPED_PREFIXES = ("PULUMI_", "GOOGLE_", "CLOUDSDK_", "GCLOUD_", "GCP_")
_DROPPED = ("PYTHONPATH", "PYTHONHOME", "USE_GKE_GCLOUD_AUTH_PLUGIN")


@dataclass(frozen=True)
class Sandbox:
    """One emulated cloud and what belongs to it, in a folder."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def backend(self) -> Path:
        return self.folder / "backend"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def cloud_state(self) -> Path:
        return self.folder / "cloud.json"

    @property
    def request_log(self) -> Path:
        return self.folder / "cloud.log.jsonl"

    def prepare(self, engine: Engine) -> None:
        """Makes the folders and puts the plugins into the home; harmless when repeated."""
        self.backend.mkdir(parents=True, exist_ok=True)
        emulator = self._plugin("gcp", version("pulumi-gcp"))
        emulator.unlink(missing_ok=True)
        emulator.write_text(_emulator_script())
        emulator.chmod(0o755)
        if engine.kubernetes_plugin is not None:
            plugin = self._plugin("kubernetes", version("pulumi-kubernetes"))
            plugin.unlink(missing_ok=True)
            plugin.symlink_to(engine.kubernetes_plugin.resolve())

    def environment(self, engine: Engine, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment of an engine's process: the given one, less what leads outside."""
        kept = {
            name: value
            for name, value in (os.environ if base is None else base).items()
            if not name.startswith(_DROPPED_PREFIXES) and name not in _DROPPED
        }
        return kept | self.settings(engine, kept.get("PATH", os.defpath))

    def settings(self, engine: Engine, path: str) -> dict[str, str]:
        """What the sandbox sets."""
        values = {
            "PATH": _prepend([str(engine.bin_dir), str(VENV / "bin")], path),
            "PULUMI_HOME": str(self.home),
            "PULUMI_BACKEND_URL": f"file://{self.backend}",
            "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
            "PULUMI_SKIP_UPDATE_CHECK": "1",
            "SPOTPROOF_SANDBOX_DIR": str(self.folder),
            "GOOGLE_APPLICATION_CREDENTIALS": str(self.folder / "no-credentials"),
            "KUBECONFIG": str(self.folder / "no-cluster"),
        }
        if engine.origin == "build":
            # Its plugins are all there; a download could only fail, and slowly.
            values["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] = "true"
        return values

    def exports(self, engine: Engine) -> str:
        """Shell lines after which a plain `pulumi` runs in this sandbox."""
        inherited = [name for name in os.environ if name.startswith(_DROPPED_PREFIXES)]
        settings = self.settings(engine, os.environ.get("PATH", os.defpath))
        lines = [f"unset {name}" for name in sorted(inherited) if name not in settings]
        lines += [f"export {name}={shlex.quote(value)}" for name, value in settings.items()]
        return "\n".join([*lines, f"cd {shlex.quote(str(self.project))}"])

    def _plugin(self, name: str, number: str) -> Path:
        path = self.home / "plugins" / f"resource-{name}-v{number}" / f"pulumi-resource-{name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


def _prepend(folders: list[str], path: str) -> str:
    rest = [one for one in path.split(os.pathsep) if one not in folders]
    return os.pathsep.join([*folders, *rest])


def _emulator_script() -> str:
    root, python = shlex.quote(str(ROOT)), shlex.quote(str(VENV_PYTHON))
    return f'#!/bin/sh\nPYTHONPATH={root} exec {python} -m sandbox.cloud.serve "$@"\n'
