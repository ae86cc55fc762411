"""A pack runs away from this repository, and from a checkout of it, in a virtualenv of its own."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from sandbox.paths import ALL_POLICY_PACKS, ROOT
from tests.engine.policy_states import BROKEN, BROKEN_RULES, CLUSTER, write_state
from tests.engine.support import run_pulumi
from tools.publish_policies import main, packs, publish

MB = 1024 * 1024
INSTALL_SECONDS = 300
"""Ten times what it takes on a busy machine."""


def _pip(folder: Path, python: Path, *arguments: str) -> str:
    command = [python, "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=INSTALL_SECONDS
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _virtualenv(folder: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=INSTALL_SECONDS)
    return folder / "bin" / "python"


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of all packs. They share a virtualenv, since all have the same requirements."""
    into = tmp_path_factory.mktemp("elsewhere")
    first, *others = publish(into)
    python = _virtualenv(first / "venv")
    _pip(first, python, "install", "-q", "-r", "requirements.txt")
    for other in others:
        assert (other / "requirements.txt").read_text() == (first / "requirements.txt").read_text()
        (other / "venv").symlink_to(first / "venv")
    return into


@pytest.mark.parametrize("pack", ALL_POLICY_PACKS)
def test_a_published_folder_needs_nothing_of_this_repository(
    published: Path, sandbox_dir: Path, tmp_path: Path, pack: str
) -> None:
    folder = tmp_path / "anywhere" / pack
    shutil.copytree(published / pack, folder, symlinks=True)
    arguments = ["policy", "analyze", "--policy-pack", folder, "--file"]

    bad = run_pulumi(tmp_path, [*arguments, write_state(tmp_path / "bad", BROKEN)], sandbox_dir)
    good = run_pulumi(
        tmp_path, [*arguments, write_state(tmp_path / "good", [CLUSTER])], sandbox_dir
    )

    assert BROKEN_RULES[pack] in bad.stdout
    assert bad.ok == (pack == "interruption_readiness"), bad.text
    assert good.ok, good.text
    assert str(ROOT) not in "".join(file.read_text() for file in folder.glob("*") if file.is_file())


def test_a_published_pack_brings_no_provider_and_is_small(published: Path) -> None:
    folder = published / "region_match"
    installed = _pip(folder, folder / "venv" / "bin" / "python", "list", "--format", "freeze")

    names = {line.partition("==")[0].lower().replace("_", "-") for line in installed.splitlines()}
    assert {"pulumi-policy", "pyyaml"} <= names
    assert not {"pulumi-gcp", "pulumi-kubernetes", "spotproof", "spotproof-gke"} & names
    assert _size((folder / "venv").resolve()) < 200 * MB


def test_a_pack_runs_from_a_checkout_in_a_virtualenv_of_its_own(
    sandbox_dir: Path, tmp_path: Path
) -> None:
    checkout = tmp_path / "checkout"
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("gke", "policies"):
        shutil.copytree(ROOT / name, checkout / name, ignore=ignored)
    pack = checkout / "policies" / "spot_isolation"
    python = _virtualenv(checkout / ".venv")
    _pip(pack, python, "install", "-q", "-r", "requirements.txt")

    state = write_state(tmp_path / "state.json", BROKEN)
    arguments = ["policy", "analyze", "--policy-pack", pack, "--file", state]
    run = run_pulumi(tmp_path, arguments, sandbox_dir)

    assert not run.ok
    assert "spot-pool-taint" in run.stdout
    assert "Traceback" not in run.text


def test_what_is_published_says_which_version_it_is_and_keeps_its_virtualenv_out(
    tmp_path: Path,
) -> None:
    folders = publish(tmp_path)

    assert [folder.name for folder in folders] == packs() == sorted(ALL_POLICY_PACKS)
    for folder in folders:
        project = yaml.safe_load((folder / "PulumiPolicy.yaml").read_text())
        source = yaml.safe_load((ROOT / "policies" / folder.name / "PulumiPolicy.yaml").read_text())
        # Pulumi Cloud makes the virtualenv inside the folder, and archives what git would.
        assert project["runtime"]["options"]["virtualenv"] == "venv"
        assert "/venv/" in (folder / ".gitignore").read_text().splitlines()
        assert project["version"] == source["version"]
        assert not list(folder.rglob("__pycache__"))
    assert {file.name for file in (tmp_path / "levels").iterdir()} >= {"dev.json", "prod.json"}


def test_publishing_again_replaces_and_leaves_what_is_somebody_elses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stale = publish(tmp_path)[0] / "spotproof_gke" / "stale.py"
    stale.write_text("")

    publish(tmp_path)

    assert not stale.exists()
    theirs = tmp_path / "other" / "region_match"
    theirs.mkdir(parents=True)
    (theirs / "thesis.txt").write_text("precious")
    assert main(["--into", str(tmp_path / "other")]) == 1
    assert "is no policy pack" in capsys.readouterr().err
    assert (theirs / "thesis.txt").read_text() == "precious"
