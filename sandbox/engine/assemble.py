"""The folder of executables that goes first on PATH when the engine was built with Go.

Language hosts lie beside `pulumi`, where the engine takes them for its own. The one for Python is
bound to this project's virtualenv, so the folder belongs to the project, not to the shared cache.
"""

import os
import shlex
import shutil
import sys
from pathlib import Path

from sandbox.engine.build import RUNNER, Built
from sandbox.paths import GENERATED, ROOT, VENV_PYTHON

_LINKED = ("pulumi", "pulumi-language-yaml", RUNNER)


def assembled() -> Path:
    """Where the folder is."""
    return GENERATED / "bin"


def assemble(built: Built, folder: Path) -> Path:
    """Makes the folder agree with the build; costs nothing when it does already."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in _LINKED:
        _link(built.folder / name, folder / name)
    write_python_host(folder, folder / RUNNER)
    return folder


def write_python_host(folder: Path, runner: Path) -> None:
    """Puts our language host for Python into a folder; `runner` is the SDK's script."""
    _write_executable(folder / "pulumi-language-python", _python_host(runner))


def _link(source: Path, target: Path) -> None:
    if target.exists() and _same(source.stat(), target.stat()):
        return
    staging = target.with_name(f".{target.name}.{os.getpid()}")
    staging.unlink(missing_ok=True)
    try:
        # Not a symbolic link: the engine looks for its language hosts beside the file itself.
        os.link(source, staging)
    except OSError:
        shutil.copy2(source, staging)
    os.replace(staging, target)


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_size, one.st_mtime_ns) == (other.st_size, other.st_mtime_ns)


def _python_host(runner: Path) -> str:
    python = VENV_PYTHON if VENV_PYTHON.exists() else Path(sys.executable)
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
        f"from sandbox.engine.language_python import main; main({str(runner)!r}, sys.argv[1:])"
    )
    # Isolated: the working directory and PYTHON* variables are the user's program's affair.
    return f'#!/bin/sh\nexec {shlex.quote(str(python))} -I -c {shlex.quote(program)} "$@"\n'


def _write_executable(path: Path, text: str) -> None:
    if path.exists() and path.read_text() == text:
        return
    staging = path.with_name(f".{path.name}.{os.getpid()}")
    staging.write_text(text)
    staging.chmod(0o755)
    os.replace(staging, path)
