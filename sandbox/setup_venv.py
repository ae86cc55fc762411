"""`python3 -m sandbox.setup_venv [runtime|torch]`: makes a virtualenv agree with requirements.

`.venv` is for everything but the runtime library, which has `runtime/.venv`: its Google libraries
and Pulumi's SDK want different versions of protobuf. `runtime/.venv-torch` sees the PyTorch of a
Python that has one: from a package registry it would be gigabytes.

Runs before anything is installed, so it needs the standard library alone. A stamp in the
virtualenv holds what was installed; when nothing has changed, nothing is done.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from sandbox.paths import ROOT, RUNTIME_VENV, TORCH_VENV, VENV
from sandbox.progress import StepError, heartbeat, run_step, say

REQUIREMENTS = "requirements-dev.txt"
CREATE_TIMEOUT_SECONDS = 300


@dataclass(frozen=True)
class Virtualenv:
    """A virtualenv, the requirements it holds, and the files that say what they are."""

    folder: Path
    requirements: str
    inputs: tuple[str, ...]
    target: str
    """The make target that sets it up."""

    lent: tuple[str, ...] = ()
    """Modules that come from the Python that it is made with."""

    @property
    def name(self) -> str:
        return str(self.folder.relative_to(ROOT))

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def stamp(self) -> Path:
        return self.folder / ".spotproof-installed"


MAIN = Virtualenv(
    folder=VENV,
    requirements=REQUIREMENTS,
    inputs=("requirements*.txt", "gke/pyproject.toml", "components/pyproject.toml"),
    target="setup",
)
RUNTIME = Virtualenv(
    folder=RUNTIME_VENV,
    requirements="runtime/requirements-dev.txt",
    inputs=("runtime/requirements-dev.txt", "gke/pyproject.toml", "runtime/pyproject.toml"),
    target="setup-runtime",
)
TORCH = Virtualenv(
    folder=TORCH_VENV,
    requirements="runtime/requirements-torch.txt",
    inputs=("runtime/requirements-torch.txt", "gke/pyproject.toml", "runtime/pyproject.toml"),
    target="setup-torch",
    lent=("torch", "numpy"),
)
BY_NAME = {"": MAIN, "runtime": RUNTIME, "torch": TORCH}
SYSTEM_PYTHON = "/usr/bin/python3"
"""The Python that Debian's and Ubuntu's packages are for."""


class SetupError(Exception):
    """The virtualenv cannot be made; the text says why and what to do."""


def setup(venv: Virtualenv) -> None:
    """Creates the virtualenv if need be, and installs what the requirements say.

    Raises:
        SetupError: the folder is somebody else's, it could not be created, or pip failed.
    """
    wanted = _wanted(venv)
    if venv.stamp.exists() and venv.stamp.read_text() == wanted and venv.python.exists():
        return
    _refuse_link_outside(venv)
    venv.stamp.unlink(missing_ok=True)
    if not _has_pip(venv):
        _create(venv)
    _install(venv)
    venv.stamp.write_text(wanted)


def _refuse_link_outside(venv: Virtualenv) -> None:
    if venv.folder.is_symlink() and ROOT not in venv.folder.resolve().parents:
        raise SetupError(
            f"{venv.name} is a link to {venv.folder.resolve()}, outside this clone: installing "
            f"would make the packages there point here. Remove the link (rm {venv.name}) and run "
            "again."
        )


def _wanted(venv: Virtualenv) -> str:
    digest = hashlib.sha256(str(ROOT).encode())  # editable installs hold the project's path
    for pattern in venv.inputs:
        for file in sorted(ROOT.glob(pattern)):
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _has_pip(venv: Virtualenv) -> bool:
    if not venv.python.exists():
        return False
    asked = subprocess.run([venv.python, "-m", "pip", "--version"], capture_output=True)
    return asked.returncode == 0


def _create(venv: Virtualenv) -> None:
    python = _lender(venv.lent) if venv.lent else sys.executable
    command = [python, "-m", "venv", "--clear", venv.folder]
    command += ["--system-site-packages"] if venv.lent else []
    try:
        with heartbeat(f"creating {venv.name} with Python {_version(python)}"):
            run_step(command, ROOT, os.environ, CREATE_TIMEOUT_SECONDS)
    except StepError as error:
        shutil.rmtree(venv.folder, ignore_errors=True)
        raise SetupError(
            f"the virtualenv cannot be created: {error}\nOn Debian and Ubuntu the package "
            "python3-venv is needed; another Python is chosen with `make setup PYTHON=…`."
        ) from None


def _lender(modules: tuple[str, ...]) -> str:
    """A Python that has these modules."""
    asked = f"import sys, {', '.join(modules)}; sys.exit(sys.version_info < (3, 10))"
    for python in (sys.executable, SYSTEM_PYTHON):
        if not shutil.which(python):
            continue
        if subprocess.run([python, "-c", asked], capture_output=True).returncode == 0:
            return python
    raise SetupError(
        f"no Python with {' and '.join(modules)} was found: neither {sys.executable} nor "
        f"{SYSTEM_PYTHON} (Python 3.10 or newer) has them. On Debian and Ubuntu: apt-get install "
        "--no-install-recommends python3-torch python3-numpy libopenblas0-pthread "
        "(160 MB, 2 min)."
    )


def _install(venv: Virtualenv) -> None:
    pip = [str(venv.python), "-m", "pip", "install", "--progress-bar", "off"]
    pip += ["--disable-pip-version-check", "-r", venv.requirements]
    hint = f"({venv.requirements}; 1 to 3 min the first time)"
    with heartbeat("installing Python packages", hint):
        done = subprocess.run(pip, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        lines = done.stdout.decode(errors="replace").strip().splitlines()
        errors = [line for line in lines if line.startswith("ERROR:")] or lines[-10:]
        # pip lists every version of a package when none fits; the end says what was wanted.
        shown = [line if len(line) < 200 else f"{line[:120]} … {line[-60:]}" for line in errors]
        raise SetupError(
            f"pip could not install {venv.requirements} into {venv.name} "
            f"(Python {_version(venv.python)}):\n"
            + "\n".join(shown)
            + f"\nWhen the package registry can be reached, `make {venv.target}` goes on where it "
            "stopped."
        )


def _version(python: str | Path) -> str:
    asked = subprocess.run([python, "--version"], capture_output=True, text=True)
    return asked.stdout.removeprefix("Python").strip()


def main(arguments: list[str]) -> int:
    venv = BY_NAME.get(" ".join(arguments))
    if venv is None:
        say(f"error: {' '.join(arguments)}: nothing is taken but `runtime` or `torch`")
        return 2
    try:
        setup(venv)
    except SetupError as error:
        say(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        say(f"interrupted: `make {venv.target}` goes on where it stopped")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
