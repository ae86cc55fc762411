"""Each Python package is built, installs alone and says what it is."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import spotproof
from tests.unit.built_packages import (
    PACKAGES,
    ROOT,
    Built,
    build,
    install,
    missing_when_loaded,
)

OPTIONAL = {"typer", "rich", "click", "pulumi", "pulumi_policy"}
"""What `spotproof_gke` may miss until its extras are asked for."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Built]:
    return {name: build(name, tmp_path_factory.mktemp(name)) for name in PACKAGES}


@pytest.mark.parametrize("project", PACKAGES)
def test_a_wheel_holds_every_file_of_its_package_and_nothing_else(
    built: dict[str, Built], project: str
) -> None:
    package = ROOT / project / PACKAGES[project]
    expected = {
        str(file.relative_to(ROOT / project))
        for file in package.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    files = built[project].files
    assert {name for name in files if ".dist-info/" not in name} == expected
    assert f"{PACKAGES[project]}/py.typed" in expected
    assert not [name for name in files if "test" in Path(name).name]


@pytest.mark.parametrize("project", PACKAGES)
def test_a_wheel_is_the_same_whether_made_from_the_sdist_or_the_repository(
    built: dict[str, Built], project: str
) -> None:
    assert built[project].files == built[project].direct_files


def test_the_sdist_of_the_components_is_a_whole_plugin(built: dict[str, Built]) -> None:
    plugin = {"PulumiPlugin.yaml", "__main__.py", "requirements.txt", "schema.json", "icon.svg"}
    assert plugin <= built["components"].source_names


@pytest.mark.parametrize("project", PACKAGES)
def test_the_metadata_say_all_that_a_package_index_shows(
    built: dict[str, Built], project: str
) -> None:
    metadata = built[project].metadata
    for key in ("Summary", "Author", "Keywords", "Requires-Python"):
        assert metadata[key], key
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["License-File"] == "LICENSE"
    urls = {one.partition(",")[0] for one in metadata.get_all("Project-URL") or ()}
    assert urls == {"Homepage", "Documentation", "Changelog", "Issues"}
    assert "Typing :: Typed" in (metadata.get_all("Classifier") or ())
    readme = (ROOT / project / "README.md").read_text(encoding="utf-8")
    assert str(metadata.get_payload()).strip() == readme.strip()


@pytest.mark.parametrize(
    ("package", "heavy"),
    [
        ("spotproof_gke", {"yaml", "typer", "rich", "pulumi"}),
        ("spotproof", {"pulumi", "pulumi_gcp", "pulumi_kubernetes"}),
    ],
)
def test_a_package_loads_others_only_when_they_are_used(package: str, heavy: set[str]) -> None:
    program = f"import {package}, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert package in done.stdout.split(), done.stderr
    assert not heavy & set(done.stdout.split())


def test_each_public_name_of_the_components_is_there() -> None:
    assert sorted(spotproof._MODULES) == spotproof.__all__
    for name in spotproof.__all__:
        assert getattr(spotproof, name).__name__ == name


@pytest.mark.parametrize("project", PACKAGES)
def test_each_package_carries_the_licence_of_the_repository(project: str) -> None:
    assert (ROOT / project / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_facts_load_with_a_yaml_reader_alone(built: dict[str, Built], tmp_path: Path) -> None:
    install(tmp_path / "bare", [built["gke"]])
    missing = missing_when_loaded(tmp_path / "bare", "spotproof_gke")
    assert set(missing.values()) <= OPTIONAL, missing
    install(tmp_path / "full", [built["gke"]], extras=["cli", "policy"])
    assert missing_when_loaded(tmp_path / "full", "spotproof_gke") == {}


@pytest.fixture(scope="module")
def site(built: dict[str, Built], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the components, what they require, and nothing else."""
    folder = tmp_path_factory.mktemp("installed") / "site"
    install(folder, [built["gke"], built["components"]], extras=["cli", "policy"])
    return folder


def test_the_components_load_with_what_they_require(site: Path) -> None:
    assert missing_when_loaded(site, "spotproof") == {}


@pytest.mark.parametrize("package", ["spotproof_gke", "spotproof"])
def test_a_type_checker_knows_the_type_of_every_public_name(site: Path, package: str) -> None:
    python = site.parent / "venv"
    if not python.exists():
        venv.create(python, with_pip=False)
        (where,) = python.glob("lib/python3.*/site-packages")
        (where / "site.pth").write_text(f"{site}\n")
    path = os.pathsep.join([str(python / "bin"), os.environ["PATH"]])
    command = [sys.executable, "-m", "pyright", "--verifytypes", package, "--ignoreexternal"]
    done = subprocess.run(
        command, cwd=site, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    wrong = [line for line in done.stdout.splitlines() if " error: " in line]
    assert "completeness score: 100%" in done.stdout, "\n".join([*wrong, done.stderr])


def test_the_command_is_installed_with_the_facts(built: dict[str, Built]) -> None:
    (text,) = (v for k, v in built["gke"].files.items() if k.endswith("entry_points.txt"))
    assert "spotproof = spotproof_gke" in text.decode()


def test_no_link_is_in_the_repository_that_a_fetched_plugin_would_lose() -> None:
    for project in PACKAGES:
        for file in (ROOT / project).rglob("*"):
            if not {".venv", ".venv-torch", "venv"} & set(file.parts):
                assert not file.is_symlink(), file
