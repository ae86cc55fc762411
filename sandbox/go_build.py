"""Programs built with Go, from modules whose go.mod and go.sum fix every version.

A binary is renamed into the cache once it is whole, so an interrupted build goes on where it
stopped.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sandbox import cache
from sandbox.progress import StepError, heartbeat, run_step

STEP_TIMEOUT_SECONDS = 3600


class BuildError(Exception):
    """The build cannot be made; the text says which step failed and how."""


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


@dataclass(frozen=True)
class Companion:
    """A file that comes with a program: its name, and how it is made in a folder."""

    name: str
    make: Callable[[str, Path], None] = field(repr=False)


@dataclass(frozen=True)
class Programs:
    """Programs that are built together into one folder of the cache.

    Attributes:
        modules: Folder with one Go module for each `Binary.module`.
        binaries: The programs, in the order in which they are built.
        companions: Other files of the same folder.
    """

    modules: Path
    binaries: Sequence[Binary]
    companions: Sequence[Companion] = ()

    def built(self) -> Path | None:
        """Folder of a complete build in the cache, for the Go that is here if there is one."""
        if go := shutil.which("go"):
            try:
                folder = self._folder(go)
            except StepError:
                return None
            return folder if self._is_complete(folder) else None
        folders = (path / "bin" for path in cache.folder().glob(f"{self._sources()}-*"))
        return next(filter(self._is_complete, folders), None)

    def build(self) -> Path:
        """Builds what is missing in the cache; a second process waits for the first.

        Raises:
            BuildError: no Go toolchain, or a step failed.
        """
        go = shutil.which("go")
        if go is None:
            raise BuildError("no `go` on PATH")
        try:
            folder = self._folder(go)
            with cache.locked(folder.parent.name):
                folder.mkdir(parents=True, exist_ok=True)
                missing = [one for one in self.binaries if not (folder / one.name).is_file()]
                for number, binary in enumerate(missing, 1):
                    self._build(go, binary, folder, f"{number} of {len(missing)}")
                for companion in self.companions:
                    if not (folder / companion.name).is_file():
                        companion.make(go, folder)
        except StepError as error:
            raise BuildError(str(error)) from error
        return folder

    def _is_complete(self, folder: Path) -> bool:
        return all((folder / one.name).is_file() for one in (*self.binaries, *self.companions))

    def _build(self, go: str, binary: Binary, folder: Path, position: str) -> None:
        step = f"building {binary.name} {binary.version} with Go"
        detail = f"({position}; about {binary.minutes:g} min on 2 cores from empty caches)"
        flags = f"-s -w -X {binary.version_variable}={binary.version}"
        with (
            tempfile.TemporaryDirectory(dir=folder.parent, prefix="build-") as scratch,
            heartbeat(step, detail),
        ):
            source = Path(shutil.copytree(self.modules / binary.module, Path(scratch) / "source"))
            if binary.embedded_from:
                module, _, path = binary.embedded_from.partition(" ")
                _copy_embedded(module_folder(go, source, module) / path, source)
            output = Path(scratch) / binary.name
            arguments = ["-buildvcs=false", "-ldflags", flags, "-o", str(output), binary.package]
            run_go(go, source, "build", *arguments)
            os.replace(output, folder / binary.name)

    def _folder(self, go: str) -> Path:
        return cache.folder() / f"{self._sources()}-{self._toolchain(go)}" / "bin"

    def _sources(self) -> str:
        digest = hashlib.sha256(repr(tuple(self.binaries)).encode())
        for file in sorted(self.modules.glob("*/*")):
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
        return digest.hexdigest()[:12]

    def _toolchain(self, go: str) -> str:
        # Asked in a module's folder, because its go.mod may make Go fetch a newer toolchain.
        module = self.modules / self.binaries[0].module
        return "-".join(run_go(go, module, "env", "GOVERSION", "GOOS", "GOARCH").split())


def run_go(go: str, cwd: Path, *arguments: str) -> str:
    """Runs a command of Go in a module's folder and returns what it printed."""
    # A workspace file in a folder above must not mix its modules in.
    return run_step([go, *arguments], cwd, {**os.environ, "GOWORK": "off"}, STEP_TIMEOUT_SECONDS)


def module_folder(go: str, source: Path, module: str) -> Path:
    """Where the files of `module`, a dependency of the module in `source`, lie on this machine."""
    run_go(go, source, "mod", "download", module)
    return Path(run_go(go, source, "list", "-m", "-f", "{{.Dir}}", module).strip())


def _copy_embedded(origin: Path, source: Path) -> None:
    for file in origin.glob("*.json"):
        shutil.copyfile(file, source / file.name)
