"""What a TypeScript program needs from npm, fetched once for all programs that ask for the same."""

import hashlib
import json
import os
import shutil
from pathlib import Path

from sandbox import cache
from sandbox.progress import StepError, heartbeat, run_step

INSTALL_TIMEOUT_SECONDS = 600
_FLAGS = ("--ignore-scripts", "--no-audit", "--no-fund", "--omit=optional", "--no-package-lock")


class NodeError(Exception):
    """Node.js or its packages cannot be had; the text says what to do."""


def modules(package_json: Path) -> Path:
    """The `node_modules` for the dependencies of a package.json, those in folders left out.

    Raises:
        NodeError: Node.js is not there, or npm failed.
    """
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise NodeError(
            "no `node` or no `npm` on PATH: install Node.js 20 or newer (on Debian and Ubuntu: "
            "apt-get install nodejs npm)"
        )
    wanted = _wanted(json.loads(package_json.read_text(encoding="utf-8")))
    text = json.dumps(wanted, indent=2, sort_keys=True)
    folder = cache.folder() / f"node-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    with cache.locked(folder.name):
        if not folder.is_dir():
            _install(npm, text, folder)
    return folder / "node_modules"


def _wanted(package: dict[str, dict[str, str]]) -> dict[str, object]:
    found = {**package.get("dependencies", {}), **package.get("devDependencies", {})}
    fetched = {name: version for name, version in found.items() if not version.startswith("file:")}
    return {"private": True, "dependencies": fetched}


def _install(npm: str, package: str, folder: Path) -> None:
    staging = folder.with_name(f"{folder.name}.{os.getpid()}")
    staging.mkdir()
    (staging / "package.json").write_text(package, encoding="utf-8")
    try:
        with heartbeat("fetching packages from npm", "(110 MB, 10 s to 1 min)"):
            run_step([npm, "install", *_FLAGS], staging, os.environ, INSTALL_TIMEOUT_SECONDS)
        os.replace(staging, folder)
    except StepError as error:
        raise NodeError(str(error)) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def link(into: Path, fetched: Path, folders: dict[str, Path]) -> None:
    """Makes a `node_modules` of links to fetched packages and to packages in folders.

    Args:
        into: The `node_modules` to make.
        fetched: What `modules` gave.
        folders: A package's folder by its name.
    """
    into.mkdir()
    for one in fetched.iterdir():
        if not one.name.startswith(".package-lock"):
            (into / one.name).symlink_to(one)
    for name, folder in folders.items():
        (into / name).symlink_to(folder)
