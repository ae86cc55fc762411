"""The engine, the YAML language host and the Kubernetes provider plugin, built with Go."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from sandbox.go_build import Binary, BuildError, Companion, Programs, module_folder

MODULES = Path(__file__).parent / "build"
RUNNER = "pulumi-language-python-exec"

_SDK = "github.com/pulumi/pulumi/sdk/v3"
_KUBERNETES = "github.com/pulumi/pulumi-kubernetes/provider/v4"

BINARIES = (
    Binary(
        name="pulumi",
        module="pulumi",
        package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
        version="v3.274.1",
        version_variable=f"{_SDK}/go/common/version.Version",
        minutes=5,
    ),
    Binary(
        name="pulumi-language-yaml",
        module="yaml",
        package="github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
        version="v1.25.0",
        version_variable="github.com/pulumi/pulumi-yaml/pkg/version.Version",
        minutes=1.5,
    ),
    Binary(
        name="pulumi-resource-kubernetes",
        module="kubernetes",
        package=".",
        version="4.34.2",
        version_variable="main.version",
        minutes=10,
        embedded_from=f"{_KUBERNETES} cmd/pulumi-resource-kubernetes",
    ),
)

__all__ = ["BINARIES", "MODULES", "RUNNER", "BuildError", "Built", "build", "built"]


@dataclass(frozen=True)
class Built:
    """The folder of a complete build."""

    folder: Path

    @property
    def pulumi(self) -> Path:
        return self.folder / "pulumi"


def built() -> Built | None:
    """A complete build in the cache for these modules, with the Go that is here if there is one."""
    folder = _programs().built()
    return Built(folder) if folder else None


def build() -> Built:
    """Builds what is missing in the cache; a second process waits for the first.

    Raises:
        BuildError: no Go toolchain, or a step failed.
    """
    return Built(_programs().build())


def _programs() -> Programs:
    return Programs(MODULES, BINARIES, (Companion(RUNNER, _copy_runner),))


def _copy_runner(go: str, folder: Path) -> None:
    """The program runner's script comes with the Go module of the SDK."""
    origin = module_folder(go, MODULES / "pulumi", _SDK) / "python" / "cmd" / RUNNER
    staging = folder / f".{RUNNER}.{os.getpid()}"
    shutil.copyfile(origin, staging)
    os.replace(staging, folder / RUNNER)
