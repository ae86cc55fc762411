"""What the components render is what the images of the reference workloads take."""

import ast
import importlib
import json
import re
import runpy
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml

from spotproof_gke import contract
from tests.unit.declared import Declared, declare

ROOT = Path(__file__).parents[2]
WORKLOADS = ROOT / "runtime" / "workloads"
CONFIG = {
    "images": "europe-docker.pkg.dev/acme-ml/images",
    "checkpoints": "gs://acme-ml-checkpoints",
    "subscription": "projects/acme-ml/subscriptions/texts",
    "renderTo": "rendered",
}
IMAGES = {"trainer": "trainer", "batch-inference": "batch_inference"}
"""Names of images, and the folders that they are built from."""


def _containers(declared: list[Declared]) -> list[dict[str, Any]]:
    """The containers of all pods that a program declares."""

    def inside(value: Any) -> list[dict[str, Any]]:
        if isinstance(value, dict):
            own = value.get("containers", [])
            return [*own, *(one for each in value.values() for one in inside(each))]
        return [one for each in value for one in inside(each)] if isinstance(value, list) else []

    return [one for each in declared for one in inside(each.props)]


@pytest.fixture(scope="module")
def containers() -> list[dict[str, Any]]:
    def program() -> None:
        # As the engine says it: the mocks name every project spotproof.
        pulumi.runtime.set_all_config({f"spotproof:{key}": value for key, value in CONFIG.items()})
        runpy.run_path(str(ROOT / "examples" / "reference-workloads" / "__main__.py"))

    return _containers(declare(program))


def _workload(container: dict[str, Any]) -> str:
    return IMAGES[re.split("[/:]", container["image"])[-2]]


def _entry_point(workload: str) -> list[str]:
    text = (WORKLOADS / workload / "Containerfile").read_text()
    (words,) = re.findall(r"^ENTRYPOINT (.*)$", text, flags=re.M)
    return json.loads(words)


def _judge(
    workload: str, command: list[str], arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command begins with the image's entry point, and the program takes the rest."""
    entry_point = _entry_point(workload)
    words = [*(command or entry_point), *arguments]
    assert words[: len(entry_point)] == entry_point
    monkeypatch.syspath_prepend(WORKLOADS)
    importlib.import_module(f"{workload}.settings").parse(words[len(entry_point) :])


def test_the_example_runs_each_reference_workload(containers: list[dict[str, Any]]) -> None:
    folders = {path.parent.name for path in WORKLOADS.glob("*/Containerfile")}
    assert {_workload(one) for one in containers} == folders == set(IMAGES.values())
    assert len(containers) == 3


def test_a_pod_of_the_example_starts_its_image_with_words_that_the_program_takes(
    containers: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for one in containers:
        _judge(_workload(one), one.get("command", []), one.get("args", []), monkeypatch)


def test_the_showcase_starts_the_images_with_words_that_the_programs_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = yaml.safe_load((ROOT / "stacks" / "Pulumi.showcase.yaml").read_text())["config"]
    judged = set()
    for section in ("spotJobs", "flexStartJobs", "queueWorkers"):
        for one in config[f"spotproof:{section}"].values():
            _judge(_workload(one), one["command"], [], monkeypatch)
            judged.add(_workload(one))
    assert judged == set(IMAGES.values())


def _read_by(*folders: Path) -> set[str]:
    """The variables of the contract that the code in these folders reads, by value."""
    names = {
        alias.name
        for folder in folders
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == "spotproof_gke.contract"
        for alias in node.names
    }
    return {getattr(contract, name) for name in names if name.endswith("_VARIABLE")}


def test_each_variable_of_a_pod_is_one_that_the_runtime_reads(
    containers: list[dict[str, Any]],
) -> None:
    rendered = {variable["name"] for one in containers for variable in one["env"]}
    known = _read_by(ROOT / "runtime" / "spotproof_runtime")
    assert rendered == known
