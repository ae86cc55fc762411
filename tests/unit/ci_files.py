"""The workflows for a user's own repository, and ours, as data."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "ci" / "github"
WORKFLOWS = sorted((EXAMPLE / ".github" / "workflows").glob("*.yml"))
OURS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def load(file: Path) -> dict[str, Any]:
    """A workflow; its key `on` stays a text, as GitHub reads it."""
    return yaml.load(file.read_text(encoding="utf-8"), yaml.BaseLoader)


def jobs(file: Path) -> dict[str, dict[str, Any]]:
    """The jobs of a workflow by name."""
    return load(file)["jobs"]


def steps(file: Path) -> Iterator[dict[str, Any]]:
    """The steps of all jobs of a workflow."""
    for job in jobs(file).values():
        yield from job.get("steps", [])


def script(file: Path, name: str) -> str:
    """What the step of a name runs."""
    return next(step["run"] for step in steps(file) if step.get("name") == name)


def schema_problems(schema: str, *files: Path) -> str:
    """What a schema of GitHub's finds, out of the copy in check-jsonschema."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    done = subprocess.run([*command, *files], capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout + done.stderr
