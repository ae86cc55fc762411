"""This repository as it would be cloned if all in it were committed."""

import shutil
import subprocess
import sys
import venv
from pathlib import Path

from sandbox.paths import ROOT

_PIP = """import pathlib, sys
pathlib.Path(sys.prefix, "asked").write_text(" ".join(sys.argv[1:]))
"""


def clone_into(folder: Path) -> None:
    """Copies the files that git knows or would take, without `.git`."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)


def borrow_packages(clone: Path) -> None:
    """Makes a virtualenv that borrows what is installed here, and whose pip notes its arguments.

    `make setup` then asks no package index: what it would have installed is in `.venv/asked`.
    """
    venv.create(clone / ".venv", with_pip=False, symlinks=True)
    (packages,) = (clone / ".venv").glob("lib/python3*/site-packages")
    borrowed = [one for one in sys.path if one.endswith("site-packages")]
    own = [str(clone / "gke"), str(clone / "components")]
    (packages / "borrowed.pth").write_text("\n".join([*own, *borrowed]) + "\n")
    (packages / "pip.py").write_text(_PIP)
