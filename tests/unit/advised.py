"""What is pasted is judged as `make check` judges a stack file."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
import yaml

import settings
import stack_file
from tests.cloud.harness import Emulated
from tests.unit.declared import Declared, declare
from tests.unit.test_random_stacks import PROGRAM, as_engine


def judged(text: str, folder: Path) -> settings.Settings:
    """The settings in a stack file of this text.

    Raises:
        ProblemsError: Something is wrong with them.
    """
    path = folder / "Pulumi.pasted.yaml"
    path.write_text(text, encoding="utf-8")
    values, secrets = stack_file.read(path)
    return settings.load(values, str(path), secrets)


def declared(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Declared]:
    """What the program declares for a stack file of this text, accepted by the emulated cloud."""
    config = yaml.safe_load(text)["config"]
    cloud = Emulated(folder, project=config["gcp:project"], region="")

    def make(token: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        if token.startswith("kubernetes:"):
            return f"{name}-id", inputs
        recorded = cloud.create(token, name, inputs)
        return recorded.id, recorded.outputs

    monkeypatch.setenv("PULUMI_CONFIG", json.dumps(as_engine(config)))
    return declare(lambda: runpy.run_path(str(PROGRAM), run_name="__main__"), answer=make)
