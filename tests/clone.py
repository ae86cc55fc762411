"""This repository as it would be cloned if all in it were committed."""

import shutil
import subprocess
from pathlib import Path

from sandbox.paths import ROOT


def clone_into(folder: Path) -> None:
    """Copies the files that git knows or would take, without `.git`."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
