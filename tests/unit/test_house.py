"""The direction of imports, and habits that keep previews whole."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INFRA = {path.stem for path in (ROOT / "infra").glob("*.py")}
OURS = {"spotproof", "spotproof_gke", "spotproof_runtime", "sandbox", "tests"} | INFRA
ALLOWED = {
    "gke/spotproof_gke": {"spotproof_gke"},
    "components": {"spotproof", "spotproof_gke"},
    "infra": {"spotproof", "spotproof_gke"} | INFRA,
    "policies": {"spotproof_gke"},
    "runtime/spotproof_runtime": {"spotproof_gke", "spotproof_runtime"},
    "runtime/workloads": {"spotproof_gke", "spotproof_runtime"},
    "sandbox": {"sandbox", "spotproof_gke"},
}


def _files(folder: str) -> list[Path]:
    return [
        path
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not {"build", "venv", ".venv", ".venv-torch"} & set(path.parts)
    ]


def _imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


@pytest.mark.parametrize("folder", ALLOWED)
def test_imports_go_one_way(folder: str) -> None:
    for path in _files(folder):
        stray = (_imports(path) & OURS) - ALLOWED[folder]
        assert not stray, f"{path.relative_to(ROOT)} imports {', '.join(sorted(stray))}"


def test_facts_about_gke_need_nothing_but_yaml() -> None:
    for path in _files("gke/spotproof_gke"):
        if path.stem not in ("policy_adapter", "policy_server") and "adapter" not in path.parts:
            assert not {"pulumi", "pulumi_gcp", "pulumi_policy"} & _imports(path), path


@pytest.mark.parametrize("folder", ["gke", "components", "infra", "policies", "runtime", "stacks"])
def test_no_file_of_the_product_knows_about_the_sandbox(folder: str) -> None:
    for path in _files(folder):
        assert "sandbox" not in _imports(path), path


def test_no_resource_is_declared_inside_an_apply() -> None:
    constructors = re.compile(
        r"^(compute|container|storage|projects|serviceaccount|spotproof)\.[A-Z]"
    )
    for path in [*_files("components"), *_files("infra")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_apply = (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "apply"
            )
            if is_apply:
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Call):
                        assert not constructors.match(ast.unparse(inner.func)), path


@pytest.mark.parametrize("folder", ["gke", "components", "infra"])
def test_annotations_stay_objects_for_the_component_host(folder: str) -> None:
    for path in _files(folder):
        assert "from __future__ import annotations" not in path.read_text(encoding="utf-8"), path
