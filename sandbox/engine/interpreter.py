"""The Python that runs a program, as the options of its project file say."""

import importlib.metadata
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class OptionsError(ValueError):
    """The runtime options cannot be honoured; the text names the option and says what to do."""


class MissingVirtualenvError(OptionsError):
    """The virtualenv is not there, as in a project that `pulumi new` has just made."""


@dataclass(frozen=True)
class Interpreter:
    """A Python, and the virtualenv that it belongs to, if any."""

    python: Path
    virtualenv: Path | None

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """The environment as an activated virtualenv would have it."""
        env = dict(base)
        if self.virtualenv is not None:
            env["VIRTUAL_ENV"] = str(self.virtualenv)
            env["PATH"] = os.pathsep.join([str(self.python.parent), env.get("PATH", os.defpath)])
            env.pop("PYTHONHOME", None)
        return env

    def distributions(self) -> Iterator[importlib.metadata.Distribution]:
        """What is installed in the virtualenv."""
        if self.virtualenv is not None:
            packages = self.virtualenv.glob("lib/python3.*/site-packages")
            yield from importlib.metadata.distributions(path=[str(one) for one in packages])

    def plugins(self) -> Iterator[tuple[str, str]]:
        """Name and version of the provider plugins that installed SDK packages ask for."""
        if self.virtualenv is None:
            return
        for file in self.virtualenv.glob("lib/python3.*/site-packages/*/pulumi-plugin.json"):
            plugin = json.loads(file.read_text())
            if plugin.get("resource") and "name" in plugin and "version" in plugin:
                yield plugin["name"], plugin["version"]


def choose(options: Mapping[str, Any], root_directory: str) -> Interpreter:
    """The interpreter that `runtime.options` name; without `virtualenv`, `python3` on PATH.

    Raises:
        MissingVirtualenvError: the virtualenv is not there.
        OptionsError: an unsupported option.
    """
    _refuse_unsupported(options)
    folder = virtualenv(options, root_directory)
    if folder is None:
        return Interpreter(_python_on_path(), None)
    python = folder / "bin" / "python"
    if not python.exists():
        raise MissingVirtualenvError(
            f"runtime option 'virtualenv' is {str(options['virtualenv'])!r}, and there is no "
            f"Python at {python}: create the virtualenv (`make setup` makes the project's, "
            "`pulumi install` others)"
        )
    return Interpreter(python, folder)


def commands_to_fill(folder: Path, root_directory: str) -> Iterator[list[str | Path]]:
    """The commands, run in `root_directory`, that make a virtualenv and install into it what
    requirements.txt there lists.

    Raises:
        OptionsError: there is no Python to make it with.
    """
    yield [_python_on_path(), "-m", "venv", folder]
    if Path(root_directory, "requirements.txt").is_file():
        pip = [folder / "bin" / "python", "-m", "pip", "install", "--disable-pip-version-check"]
        yield [*pip, "--progress-bar", "off", "-r", "requirements.txt"]


def virtualenv(options: Mapping[str, Any], root_directory: str) -> Path | None:
    """The folder that `runtime.options.virtualenv` names, whether or not it is there."""
    named = options.get("virtualenv")
    if not named:
        return None
    return Path(os.path.normpath(Path(root_directory, os.path.expanduser(str(named)))))


def _python_on_path() -> Path:
    found = shutil.which("python3") or shutil.which("python")
    if found is None:
        raise OptionsError(
            "no `python3` on PATH, and the project file names no virtualenv that is there: "
            "set runtime option 'virtualenv' to the folder of one"
        )
    return Path(found)


def _refuse_unsupported(options: Mapping[str, Any]) -> None:
    toolchain = options.get("toolchain") or "pip"
    if toolchain != "pip":
        raise OptionsError(
            f"runtime option 'toolchain' is {toolchain!r}: the engine built with Go supports "
            "'pip' alone; install the official Pulumi CLI for others"
        )
    if typechecker := options.get("typechecker"):
        raise OptionsError(
            f"runtime option 'typechecker' is {typechecker!r}: the engine built with Go runs no "
            "type checker; remove the option or install the official Pulumi CLI"
        )
