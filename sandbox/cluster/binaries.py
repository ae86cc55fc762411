"""The programs of a control plane: found on this machine, or built with Go.

The API server, the scheduler and the controller manager come from one folder, because they have to
be of one version; etcd and kwok may come from elsewhere.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox.go_build import Binary, BuildError, Programs
from sandbox.progress import say

OLDEST_KUBERNETES = (1, 31)
"""The first version whose Job failure policy is stable.
Source: kubernetes.io/docs/concepts/workloads/controllers/job/, read on 2026-11-30."""

KUBERNETES = ("kube-apiserver", "kube-scheduler", "kube-controller-manager")
OTHERS = ("etcd", "kwok")

_VERSION = "v1.36.3"
_VARIABLE = "k8s.io/component-base/version.gitVersion"

PROGRAMS = Programs(
    Path(__file__).parent / "build",
    (
        *(
            Binary(name, "kubernetes", f"k8s.io/kubernetes/cmd/{name}", _VERSION, _VARIABLE, each)
            for name, each in zip(KUBERNETES, (3, 0.5, 1), strict=True)
        ),
        Binary(
            name="etcd",
            module="etcd",
            package="go.etcd.io/etcd/server/v3",
            version="v3.7.3",
            version_variable="go.etcd.io/etcd/api/v3/version.GitSHA",
            minutes=0.5,
        ),
        Binary(
            name="kwok",
            module="kwok",
            package="sigs.k8s.io/kwok/cmd/kwok",
            version="v0.8.0",
            version_variable="sigs.k8s.io/kwok/pkg/consts.Version",
            minutes=1,
        ),
    ),
)


class BinariesError(Exception):
    """The programs cannot be had; the text says each way tried and what to do."""


@dataclass(frozen=True)
class Binaries:
    """Where the programs are.

    Attributes:
        paths: The executable of each program, by name.
        origin: Where they come from, for people.
    """

    paths: dict[str, Path]
    origin: str


def ensure() -> Binaries:
    """The programs: of `KUBEBUILDER_ASSETS`, else of PATH, else built. Says which.

    Raises:
        BinariesError: no way works.
    """
    found = lookup() or _build()
    say(f"control plane: {found.origin}")
    return found


def lookup() -> Binaries | None:
    """The programs that are there already. Builds nothing."""
    built = PROGRAMS.built()
    home = next(_homes(), None) or built
    if home is None:
        return None
    paths = {name: home / name for name in KUBERNETES}
    for name in OTHERS:
        candidates = [folder / name for folder in (home, *_folders(), *([built] if built else []))]
        path = next((each for each in candidates if _is_executable(each)), None)
        if path is None:
            return None
        paths[name] = path
    return Binaries(paths, f"built with Go ({home})" if home == built else f"found in {home}")


def _homes() -> Iterator[Path]:
    """Folders that hold all of Kubernetes in a version that will do."""
    for folder in _folders():
        if all(_is_executable(folder / name) for name in KUBERNETES) and _is_new_enough(folder):
            yield folder


def _folders() -> list[Path]:
    assets = os.environ.get("KUBEBUILDER_ASSETS", "")
    named = [assets, *os.environ.get("PATH", os.defpath).split(os.pathsep)]
    return [Path(folder) for folder in named if folder]


def _is_executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _is_new_enough(folder: Path) -> bool:
    version, *others = (_version_of(folder / name) for name in KUBERNETES)
    return version is not None and version >= OLDEST_KUBERNETES and set(others) == {version}


def _version_of(program: Path) -> tuple[int, int] | None:
    try:
        answer = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r"v(\d+)\.(\d+)\.", answer.stdout)
    return (int(match[1]), int(match[2])) if match else None


def _build() -> Binaries:
    try:
        PROGRAMS.build()
    except BuildError as error:
        oldest = ".".join(map(str, OLDEST_KUBERNETES))
        raise BinariesError(
            f"no control plane can be had: {', '.join(KUBERNETES)} of one version, {oldest} or "
            f"newer, and {' and '.join(OTHERS)} are neither in KUBEBUILDER_ASSETS nor on PATH, and "
            f"cannot be built ({error}). Install Go 1.26 or newer (https://go.dev/doc/install), "
            "or set KUBEBUILDER_ASSETS to a folder that holds them."
        ) from error
    found = lookup()
    assert found, "a complete build is found"
    return found
