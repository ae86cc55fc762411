"""Reads a container file and does on this machine what it would do to an image, but for `pip`."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORKLOADS = ROOT / "runtime" / "workloads"


@dataclass(frozen=True)
class Image:
    """What a container file says.

    Attributes:
        lines: instruction and its words, in order.
    """

    lines: tuple[tuple[str, str], ...]

    def all(self, instruction: str) -> list[str]:
        return [words for found, words in self.lines if found == instruction]

    def last(self, instruction: str) -> str:
        return self.all(instruction)[-1]

    @property
    def entry_point(self) -> list[str]:
        """The words of ENTRYPOINT; an error when they are not in the form of a list."""
        return json.loads(self.last("ENTRYPOINT"))


def read_image(workload: str) -> Image:
    text = (WORKLOADS / workload / "Containerfile").read_text().replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines()]
    split = [line.split(None, 1) for line in lines if line and not line.startswith("#")]
    return Image(tuple((instruction.upper(), words) for instruction, words in split))


def copy_into(image: Image, root: Path) -> Path:
    """Copies what the container file copies, below `root`; returns its working directory."""
    for words in image.all("COPY"):
        source, target = words.split()
        target_path = root / target.lstrip("/")
        target_path.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / source).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / source, target_path, ignore=ignored)
        else:
            shutil.copy(ROOT / source, target_path)
    return root / image.last("WORKDIR").lstrip("/")


def start(
    image: Image,
    root: Path,
    *,
    command: Sequence[str] = (),
    arguments: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    errors: Path | None = None,
    group: bool = False,
) -> "subprocess.Popen[str]":
    """Starts what a pod would start: a process of its own, in the directory of the image.

    Args:
        image: whose entry point it is.
        root: where `copy_into` has put the image's files.
        command: of the pod, in place of the image's entry point.
        arguments: of the pod.
        env: variables of the pod.
        errors: file that gets the standard error.
        group: whether it leads a process group of its own.
    """
    words = [*(command or image.entry_point), *arguments]
    if words[0] == "python":
        words[0] = sys.executable
    of_image = dict(pair.split("=", 1) for line in image.all("ENV") for pair in shlex.split(line))
    paths = [str(root / "src" / name) for name in ("gke", "runtime")]
    variables = {
        **{key: os.environ[key] for key in ("PATH", "HOME", "TMPDIR") if key in os.environ},
        "PYTHONPATH": os.pathsep.join(paths),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        **of_image,
        **(env or {}),
    }
    with open(errors or os.devnull, "a") as stderr:
        return subprocess.Popen(
            words,
            cwd=root / image.last("WORKDIR").lstrip("/"),
            env=variables,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            start_new_session=group,
        )
