"""The Python packages as they are built for somebody else: sdist, wheel, and what pip would do."""

import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email import message_from_bytes
from email.message import Message
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PACKAGES = {"gke": "spotproof_gke", "components": "spotproof", "runtime": "spotproof_runtime"}
"""Each project folder, and the one package that it holds."""

_NOT_COPIED = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist", ".venv*", "venv")
_BUILD = """
import os, sys, tarfile
from setuptools import build_meta
made = sys.argv[1]
sdist = build_meta.build_sdist(made)
build_meta.build_wheel(os.path.join(made, "direct"))
with tarfile.open(os.path.join(made, sdist)) as archive:
    archive.extractall(made)
os.chdir(os.path.join(made, sdist.removesuffix(".tar.gz")))
build_meta.build_wheel(made)
"""


@dataclass(frozen=True)
class Built:
    """A source distribution, and wheels made from it and from the project's folder."""

    sdist: Path
    wheel: Path
    direct: Path

    @property
    def files(self) -> dict[str, bytes]:
        """What the wheel installs and says, by path; without the list of its own hashes."""
        return _files(self.wheel)

    @property
    def direct_files(self) -> dict[str, bytes]:
        return _files(self.direct)

    @property
    def source_names(self) -> set[str]:
        with tarfile.open(self.sdist) as archive:
            return {one.partition("/")[2] for one in archive.getnames()}

    @property
    def metadata(self) -> Message:
        (text,) = (v for k, v in self.files.items() if k.endswith(".dist-info/METADATA"))
        return message_from_bytes(text)


def build(project: str, scratch: Path) -> Built:
    """Builds a project folder by the hooks that pip and `python -m build` call."""
    source, made = scratch / "source", scratch / "made"
    shutil.copytree(ROOT / project, source, ignore=_NOT_COPIED)
    (made / "direct").mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, "-c", _BUILD, made], cwd=source, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (sdist,) = made.glob("*.tar.gz")
    (wheel,) = made.glob("*.whl")
    (direct,) = (made / "direct").glob("*.whl")
    return Built(sdist, wheel, direct)


def _files(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        names = [one for one in archive.namelist() if not one.endswith(("/RECORD", "/WHEEL"))]
        return {name: archive.read(name) for name in names}


def install(into: Path, wheels: Iterable[Built], *, extras: Iterable[str] = ()) -> None:
    """Puts wheels into a folder, with links to what they require of others and nothing else.

    Fails where a requirement is not met by what is installed here.
    """
    into.mkdir()
    ours: dict[str, Message] = {}
    for one in wheels:
        with zipfile.ZipFile(one.wheel) as archive:
            archive.extractall(into)
        ours[canonicalize_name(one.metadata["Name"])] = one.metadata
    todo = [
        Requirement(text) for one in ours.values() for text in one.get_all("Requires-Dist") or ()
    ]
    linked: set[str] = set()
    while todo:
        wanted = todo.pop()
        name = canonicalize_name(wanted.name)
        if wanted.marker and not any(wanted.marker.evaluate({"extra": e}) for e in ("", *extras)):
            continue
        if name in ours:
            assert wanted.specifier.contains(ours[name]["Version"]), wanted
        elif name not in linked:
            linked.add(name)
            todo += _link(into, distribution(wanted.name), wanted)


def _link(into: Path, installed: Distribution, wanted: Requirement) -> list[Requirement]:
    assert wanted.specifier.contains(installed.version), f"{wanted}, not {installed.version}"
    tops = {file.parts[0] for file in installed.files or () if file.parts[0] not in ("..", "/")}
    for top in tops - {"__pycache__"}:
        source, target = Path(str(installed.locate_file(top))), into / top
        if not target.exists():
            target.symlink_to(source)
    found = [Requirement(one) for one in installed.requires or ()]
    return [one for one in found if not one.marker or one.marker.evaluate({"extra": ""})]


_LOAD = """
import importlib, json, pkgutil, sys
sys.path[:0] = [sys.argv[1]]
package = importlib.import_module(sys.argv[2])
missing = {}
for found in pkgutil.walk_packages(package.__path__, package.__name__ + ".", lambda name: None):
    try:
        importlib.import_module(found.name)
    except ModuleNotFoundError as error:
        missing[found.name] = error.name
print(json.dumps(missing))
"""


def missing_when_loaded(folder: Path, package: str) -> Mapping[str, str]:
    """For each module of a package that cannot be loaded from a folder, what it misses."""
    command = [sys.executable, "-I", "-S", "-c", _LOAD, folder, package]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
