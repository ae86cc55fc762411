"""The official CLI, installed by the SDK's own installer into the engine cache."""

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from sandbox import cache
from sandbox.progress import heartbeat

CONNECT_SECONDS = 15


class InstallError(Exception):
    """The installer could not be had or failed; the text says why."""


def installed() -> Path | None:
    """The CLI that an earlier run installed."""
    pulumi = _target() / "bin" / "pulumi"
    return pulumi if pulumi.is_file() else None


def install() -> Path:
    """Installs the CLI of the SDK's version.

    Raises:
        InstallError: no network, or the installer failed. Nothing is left behind.
    """
    from pulumi.automation import PulumiCommand  # loads the SDK, which other commands do without

    with cache.locked("install"):
        if pulumi := installed():
            return pulumi
        staging = Path(tempfile.mkdtemp(dir=cache.folder(), prefix="cli-"))
        try:
            with heartbeat("installing the Pulumi CLI"), _connect_timeout():
                PulumiCommand.install(root=str(staging))
            os.replace(staging, _target())
        except Exception as error:  # the SDK lets through whatever its parts raise
            raise InstallError(_reason(error)) from error
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    return _target() / "bin" / "pulumi"


def _target() -> Path:
    return cache.folder() / f"cli-{version('pulumi')}"


def _reason(error: Exception) -> str:
    output = getattr(error, "output", None)
    if isinstance(output, bytes) and output.strip():
        return output.decode(errors="replace").strip().splitlines()[-1]
    return f"{type(error).__name__}: {error}"


@contextmanager
def _connect_timeout() -> Iterator[None]:
    """Where packets are dropped without an answer, the download must fail all the same."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(CONNECT_SECONDS)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)
