"""Which engine is used: one on PATH, else the SDK's installer, else a build with Go."""

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from sandbox import cache
from sandbox.engine import build, install, versions
from sandbox.engine.assemble import assemble, assembled
from sandbox.engine.plugins import kubernetes_plugin
from sandbox.progress import say

Origin = Literal["path", "install", "build"]
ORIGINS: tuple[Origin, ...] = ("path", "install", "build")


class EngineError(Exception):
    """No engine can be had; the text says each way tried, why it failed, and what to do."""


@dataclass(frozen=True)
class Engine:
    """An engine that can be run.

    Attributes:
        pulumi: the executable.
        version: what it prints, such as `v3.274.1`.
        origin: `path` (the user's own), `install` or `build`.
        reason: why this one, for people.
        kubernetes_plugin: the provider plugin that sandboxes use, if there is one.
    """

    pulumi: Path
    version: str
    origin: Origin
    reason: str
    kubernetes_plugin: Path | None = None

    @property
    def bin_dir(self) -> Path:
        return self.pulumi.parent

    def describe(self) -> str:
        how = {"path": "on PATH", "install": "installed by the SDK", "build": "built with Go"}
        return f"engine: pulumi {self.version}, {how[self.origin]} ({self.pulumi}): {self.reason}"


def lookup() -> Engine:
    """The engine that is there already. Installs and builds nothing.

    Raises:
        EngineError: there is none yet.
    """
    return _find(_Attempts(), make=False)


def ensure(official: bool = False) -> Engine:
    """The engine, installed or built where need be. Says which one it is, and shows progress.

    Args:
        official: nothing built with Go will do, because the real cloud's plugin is needed.

    Raises:
        EngineError: no way works.
    """
    engine = _find(_Attempts(official), make=True)
    say(engine.describe())
    return engine


class _Attempts:
    """The ways allowed by `SPOTPROOF_ENGINE`, and how each failed."""

    def __init__(self, official: bool = False) -> None:
        forced = os.environ.get("SPOTPROOF_ENGINE", "")
        if forced and forced not in ORIGINS:
            raise EngineError(
                f"SPOTPROOF_ENGINE is {forced!r}: it may be {', '.join(ORIGINS)} or unset"
            )
        self._forced = forced
        self.official = official
        self._failures: dict[Origin, str] = {}
        if official:
            self.failed("build", "an engine built with Go has no Google Cloud plugin")

    def allows(self, origin: Origin) -> bool:
        return self._forced in ("", origin) and not (self.official and origin == "build")

    def failed(self, origin: Origin, why: str) -> None:
        self._failures[origin] = why

    def reason(self, chosen: Origin) -> str:
        if self._forced:
            return f"SPOTPROOF_ENGINE={self._forced}"
        others = {way: why for way, why in self._failures.items() if way != chosen}
        return "; ".join(why.splitlines()[0] for why in others.values())

    def error(self, requirement: str, make: bool) -> EngineError:
        tried = "\n".join(f"  - {origin}: {why}" for origin, why in self._failures.items())
        todo = "Install the Pulumi CLI (https://www.pulumi.com/docs/install/) and put it on PATH"
        go = ", or install Go 1.26 or newer (https://go.dev/doc/install), then run `make engine`"
        todo += "." if self.official else f"{go}."
        forced = " Or unset SPOTPROOF_ENGINE, which forbids the other ways." if self._forced else ""
        return EngineError(
            f"no Pulumi engine {requirement} can be had. Tried:\n{tried}\n"
            + ((todo + forced) if make else "Run `make engine`, which installs or builds one.")
        )


def _find(attempts: _Attempts, make: bool) -> Engine:
    requirement = versions.required()
    engine = (
        _on_path(attempts, requirement)
        or _already_installed(attempts, requirement)
        or _already_built(attempts, requirement)
    )
    if engine is None and make:
        engine = _install(attempts, requirement) or _build(attempts, requirement)
    if engine is None:
        raise attempts.error(requirement, make)
    if engine.kubernetes_plugin is None:
        fetch = make and not attempts.official  # the real stack's own home will have it
        engine = replace(engine, kubernetes_plugin=kubernetes_plugin(engine.pulumi, fetch))
    return engine


def _on_path(attempts: _Attempts, requirement: str) -> Engine | None:
    if not attempts.allows("path"):
        return None
    # Our own folders may be on PATH (`make env`); what lies there is not the user's CLI.
    ours = (assembled(), cache.folder())
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    theirs = [one for one in folders if one and not any(_within(one, our) for our in ours)]
    found = shutil.which("pulumi", path=os.pathsep.join(theirs))
    if found is None:
        attempts.failed("path", "no `pulumi` on PATH")
        return None
    return _accept(attempts, "path", Path(found), requirement)


def _within(folder: str, our: Path) -> bool:
    return Path(folder).resolve().is_relative_to(our.resolve())


def _already_installed(attempts: _Attempts, requirement: str) -> Engine | None:
    pulumi = install.installed() if attempts.allows("install") else None
    return _accept(attempts, "install", pulumi, requirement) if pulumi else None


def _already_built(attempts: _Attempts, requirement: str) -> Engine | None:
    found = build.built() if attempts.allows("build") else None
    if found is None:
        if attempts.allows("build"):
            attempts.failed("build", "not built yet")
        return None
    return _accept_built(attempts, found, requirement)


def _install(attempts: _Attempts, requirement: str) -> Engine | None:
    if not attempts.allows("install"):
        return None
    try:
        return _accept(attempts, "install", install.install(), requirement)
    except install.InstallError as error:
        say(f"  the SDK's installer cannot be used here ({error})")
        attempts.failed("install", f"the SDK's installer failed ({error})")
        return None


def _build(attempts: _Attempts, requirement: str) -> Engine | None:
    if not attempts.allows("build"):
        return None
    try:
        made = build.build()
    except build.BuildError as error:
        attempts.failed("build", str(error))
        return None
    return _accept_built(attempts, made, requirement)


def _accept_built(attempts: _Attempts, found: build.Built, requirement: str) -> Engine | None:
    pulumi = assemble(found, assembled()) / "pulumi"
    kubernetes = found.folder / "pulumi-resource-kubernetes"
    return _accept(attempts, "build", pulumi, requirement, kubernetes)


def _accept(
    attempts: _Attempts,
    origin: Origin,
    pulumi: Path,
    requirement: str,
    kubernetes_plugin: Path | None = None,
) -> Engine | None:
    try:
        version = versions.of(pulumi)
        if versions.satisfies(version, requirement):
            reason = attempts.reason(origin) or f"it satisfies {requirement}"
            return Engine(pulumi, version, origin, reason, kubernetes_plugin)
        attempts.failed(origin, f"{pulumi} is {version}, and the project needs {requirement}")
    except (OSError, ValueError) as error:
        attempts.failed(origin, f"{pulumi} does not work: {error}")
    return None
