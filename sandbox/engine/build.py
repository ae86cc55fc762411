"""The engine, the YAML language host and the Kubernetes provider plugin, built with Go.

`build/<name>` holds a Go module for each; its go.mod and go.sum fix every version. A binary is
renamed into the cache once it is whole, so an interrupted build goes on where it stopped.
"""

import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sandbox.engine import cache
from sandbox.progress import StepError, heartbeat, run_step

MODULES = Path(__file__).parent / "build"
STEP_TIMEOUT_SECONDS = 3600
RUNNER = "pulumi-language-python-exec"

_SDK = "github.com/pulumi/pulumi/sdk/v3"
_KUBERNETES = "github.com/pulumi/pulumi-kubernetes/provider/v4"


@dataclass(frozen=True)
class Binary:
    """One Go program: its module folder, package, linker flags, and time from empty caches."""

    name: str
    module: str
    package: str
    version: str
    version_variable: str
    minutes: float
    embedded_from: str | None = None


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


class BuildError(Exception):
    """The build cannot be made; the text says which step failed and how."""


@dataclass(frozen=True)
class Built:
    """The folder of a complete build."""

    folder: Path

    @property
    def pulumi(self) -> Path:
        return self.folder / "pulumi"

    def is_complete(self) -> bool:
        return all((self.folder / name).is_file() for name in _files())


def _files() -> list[str]:
    return [binary.name for binary in BINARIES] + [RUNNER]


def built() -> Built | None:
    """A complete build in the cache for these modules, with the Go that is here if there is one."""
    if go := shutil.which("go"):
        try:
            found = Built(_folder(_toolchain(go)))
        except StepError:
            return None
        return found if found.is_complete() else None
    candidates = (Built(path / "bin") for path in cache.folder().glob(f"{_sources()}-*"))
    return next((one for one in candidates if one.is_complete()), None)


def build() -> Built:
    """Builds what is missing in the cache; a second process waits for the first.

    Raises:
        BuildError: no Go toolchain, or a step failed.
    """
    go = shutil.which("go")
    if go is None:
        raise BuildError("no `go` on PATH")
    try:
        result = Built(_folder(_toolchain(go)))
        with cache.locked(result.folder.parent.name):
            result.folder.mkdir(parents=True, exist_ok=True)
            missing = [one for one in BINARIES if not (result.folder / one.name).is_file()]
            for number, binary in enumerate(missing, 1):
                _build(go, binary, result.folder, f"{number} of {len(missing)}")
            if not (result.folder / RUNNER).is_file():
                _copy_runner(go, result.folder)
    except StepError as error:
        raise BuildError(str(error)) from error
    return result


def _build(go: str, binary: Binary, folder: Path, position: str) -> None:
    step = f"building {binary.name} {binary.version} with Go"
    detail = f"({position}; about {binary.minutes:g} min on 2 cores from empty caches)"
    flags = f"-s -w -X {binary.version_variable}={binary.version}"
    with (
        tempfile.TemporaryDirectory(dir=folder.parent, prefix="build-") as scratch,
        heartbeat(step, detail),
    ):
        source = Path(shutil.copytree(MODULES / binary.module, Path(scratch) / "source"))
        if binary.embedded_from:
            module, _, path = binary.embedded_from.partition(" ")
            _copy_embedded(_module_folder(go, source, module) / path, source)
        output = Path(scratch) / binary.name
        _go(
            go,
            source,
            "build",
            "-buildvcs=false",
            "-ldflags",
            flags,
            "-o",
            str(output),
            binary.package,
        )
        os.replace(output, folder / binary.name)


def _copy_embedded(origin: Path, source: Path) -> None:
    for file in origin.glob("*.json"):
        shutil.copyfile(file, source / file.name)


def _copy_runner(go: str, folder: Path) -> None:
    """The program runner's script comes with the Go module of the SDK."""
    origin = _module_folder(go, MODULES / "pulumi", _SDK) / "python" / "cmd" / RUNNER
    staging = folder / f".{RUNNER}.{os.getpid()}"
    shutil.copyfile(origin, staging)
    os.replace(staging, folder / RUNNER)


def _module_folder(go: str, source: Path, module: str) -> Path:
    _go(go, source, "mod", "download", module)
    return Path(_go(go, source, "list", "-m", "-f", "{{.Dir}}", module).strip())


def _go(go: str, cwd: Path, *arguments: str) -> str:
    # A workspace file in a folder above must not mix its modules in.
    return run_step([go, *arguments], cwd, {**os.environ, "GOWORK": "off"}, STEP_TIMEOUT_SECONDS)


def _folder(toolchain: str) -> Path:
    return cache.folder() / f"{_sources()}-{toolchain}" / "bin"


def _sources() -> str:
    digest = hashlib.sha256(repr(BINARIES).encode())
    for file in sorted(MODULES.glob("*/*")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


def _toolchain(go: str) -> str:
    # Asked in a module's folder, because its go.mod may make Go fetch a newer toolchain.
    return "-".join(_go(go, MODULES / "pulumi", "env", "GOVERSION", "GOOS", "GOARCH").split())
