"""`python3 -m sandbox.setup_venv`: makes `.venv` agree with the requirements.

Runs before anything is installed, so it needs the standard library alone. A stamp in the
virtualenv holds what was installed; when nothing has changed, nothing is done.
"""

import hashlib
import os
import shutil
import subprocess
import sys

from sandbox.paths import ROOT, VENV, VENV_PYTHON
from sandbox.progress import StepError, heartbeat, run_step, say

REQUIREMENTS = "requirements-dev.txt"
INPUTS = ("requirements*.txt", "gke/pyproject.toml", "components/pyproject.toml")
STAMP = VENV / ".spotproof-installed"
CREATE_TIMEOUT_SECONDS = 300


class SetupError(Exception):
    """The virtualenv cannot be made; the text says why and what to do."""


def setup() -> None:
    """Creates the virtualenv if need be, and installs what the requirements say.

    Raises:
        SetupError: `.venv` is somebody else's, it could not be created, or pip failed.
    """
    wanted = _wanted()
    if STAMP.exists() and STAMP.read_text() == wanted and VENV_PYTHON.exists():
        return
    _refuse_link_outside()
    STAMP.unlink(missing_ok=True)
    if not _has_pip():
        _create()
    _install()
    STAMP.write_text(wanted)


def _refuse_link_outside() -> None:
    if VENV.is_symlink() and ROOT not in VENV.resolve().parents:
        raise SetupError(
            f".venv is a link to {VENV.resolve()}, outside this clone: installing would make the "
            "packages there point here. Remove the link (rm .venv) and run again."
        )


def _wanted() -> str:
    digest = hashlib.sha256(str(ROOT).encode())  # editable installs hold the project's path
    for pattern in INPUTS:
        for file in sorted(ROOT.glob(pattern)):
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _has_pip() -> bool:
    if not VENV_PYTHON.exists():
        return False
    asked = subprocess.run([VENV_PYTHON, "-m", "pip", "--version"], capture_output=True)
    return asked.returncode == 0


def _create() -> None:
    version = ".".join(map(str, sys.version_info[:3]))
    command = [sys.executable, "-m", "venv", "--clear", VENV]
    try:
        with heartbeat(f"creating .venv with Python {version}"):
            run_step(command, ROOT, os.environ, CREATE_TIMEOUT_SECONDS)
    except StepError as error:
        shutil.rmtree(VENV, ignore_errors=True)
        raise SetupError(
            f"the virtualenv cannot be created: {error}\nOn Debian and Ubuntu the package "
            "python3-venv is needed; another Python is chosen with `make setup PYTHON=…`."
        ) from None


def _install() -> None:
    pip = [str(VENV_PYTHON), "-m", "pip", "install", "--progress-bar", "off"]
    pip += ["--disable-pip-version-check", "-r", REQUIREMENTS]
    with heartbeat("installing Python packages", f"({REQUIREMENTS}; 1 to 3 min the first time)"):
        done = subprocess.run(pip, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        lines = done.stdout.decode(errors="replace").strip().splitlines()
        errors = [line for line in lines if line.startswith("ERROR:")] or lines[-10:]
        # pip lists every version of a package when none fits; the end says what was wanted.
        shown = [line if len(line) < 200 else f"{line[:120]} … {line[-60:]}" for line in errors]
        raise SetupError(
            f"pip could not install {REQUIREMENTS} into .venv (Python {_version()}):\n"
            + "\n".join(shown)
            + "\nWhen the package registry can be reached, `make setup` goes on where it stopped."
        )


def _version() -> str:
    asked = subprocess.run([VENV_PYTHON, "--version"], capture_output=True, text=True)
    return asked.stdout.removeprefix("Python").strip()


def main() -> int:
    try:
        setup()
    except SetupError as error:
        say(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        say("interrupted: `make setup` goes on where it stopped")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
