"""`pulumi new` makes a project out of this repository, and `make rehearse` is green in it."""

import filecmp
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

import settings
import stack_file
from sandbox import cache
from sandbox.environment import Sandbox
from sandbox.paths import ROOT
from tests.clone import borrow_packages, clone_into
from tests.engine.support import Run, engine, run_pulumi

NAME = "my-ai"
STACK = "team.ai_1"
ANSWERS = {
    "gcp:project": "acme-ai",
    "spotproof:region": "us-central1",
    "spotproof:clusterName": "ai",
}
ANSWERED = ("--config", "gcp:project=acme-ai")
PAGE = ROOT / "docs" / "how-to" / "start-from-template.md"


@dataclass(frozen=True)
class Made:
    """A project that `pulumi new` has made, with a stack."""

    folder: Path

    @property
    def stack_file(self) -> Path:
        return self.folder / "stacks" / f"Pulumi.{STACK}.yaml"

    def make(self, *targets: str, stack: str = STACK) -> "subprocess.CompletedProcess[str]":
        """What a person types in the project, on a machine that has the engine."""
        env = {**os.environ, "SPOTPROOF_ENGINE_CACHE": str(cache.folder())}
        command = ["make", *targets, f"STACK={stack}"]
        return subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template") / "spotproof"
    clone_into(folder)
    return folder


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Sandbox(tmp_path_factory.mktemp("sandbox"))
    made.prepare(engine())
    return made.folder


@pytest.fixture(scope="module")
def made(template: Path, sandbox: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    project = Made(tmp_path_factory.mktemp("empty"))
    flags = ["--name", NAME, "--stack", STACK, *ANSWERED]
    _new(project.folder, template, sandbox, *flags).check()
    borrow_packages(project.folder)
    return project


def test_the_prompts_and_their_defaults_make_right_settings(
    made: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    project = yaml.safe_load((made.folder / "Pulumi.yaml").read_text())

    assert project["name"] == NAME
    assert "template" not in project
    assert yaml.safe_load(made.stack_file.read_text())["config"] == ANSWERS
    assert settings.main([str(made.stack_file)]) == 0
    assert "cluster ai in us-central1" in capsys.readouterr().out


def test_a_project_is_the_repository_less_what_pulumi_new_writes(
    template: Path, made: Made
) -> None:
    """No file holds a placeholder that `pulumi new` would replace, or is one that it can't copy."""
    files = [str(one.relative_to(template)) for one in template.rglob("*") if one.is_file()]

    _, differ, missing = filecmp.cmpfiles(template, made.folder, files, shallow=False)

    assert differ == ["Pulumi.yaml"]
    assert missing == []
    assert os.access(made.folder / ".ci" / "run", os.X_OK)


def test_wrong_answers_to_the_prompts_are_named_all_at_once(made: Made) -> None:
    right = made.stack_file.read_text()
    wrong = {
        "gcp:project": "Acme",
        "spotproof:region": "us-centrall1",
        "spotproof:clusterName": "My AI",
    }
    made.stack_file.write_text(yaml.safe_dump({"config": wrong}))

    judged = made.make("check")

    made.stack_file.write_text(right)
    assert judged.returncode != 0
    for said in ("project = 'Acme'", 'did you mean "us-central1"?', "clusterName = 'My AI'"):
        assert said in judged.stderr
    assert "Traceback" not in judged.stderr


@pytest.mark.parametrize("stack", ["dev", "prod", "autopilot"])
def test_a_stack_that_is_there_takes_the_answers_and_keeps_the_rest(
    template: Path, sandbox: Path, tmp_path: Path, stack: str, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--name", f"other-{stack}", "--stack", stack, *ANSWERED]
    _new(tmp_path, template, sandbox, *flags).check()
    file = Path("stacks") / f"Pulumi.{stack}.yaml"

    assert settings.main([str(tmp_path / file)]) == 0, capsys.readouterr().err
    before, after = (stack_file.read(folder / file)[0] for folder in (template, tmp_path))
    assert after == before | ANSWERS


def test_a_project_alone_needs_neither_stack_nor_packages(
    template: Path, sandbox: Path, tmp_path: Path
) -> None:
    _new(tmp_path, template, sandbox, "--generate-only", "--name", "alone").check()

    stacks = filecmp.dircmp(template / "stacks", tmp_path / "stacks")
    assert not stacks.diff_files
    assert not stacks.right_only
    assert not (tmp_path / ".venv").exists()


def test_what_pulumi_installs_is_what_make_installs() -> None:
    """The engine's pip runs beside the program, ours in the project's folder."""
    beside, others = _requirements(ROOT / "infra")
    ours, wanted = _requirements(ROOT)
    brought = "".join((folder / "pyproject.toml").read_text() for folder in beside)

    assert beside == ours
    assert others == []
    assert [one for one in wanted if f'"{one}"' not in brought] == []


def test_a_new_project_is_rehearsed_without_what_develops_spotproof(
    made: Made, tmp_path: Path
) -> None:
    """The whole life under a name of its own: settings, program, packs and emulated cloud."""
    removal = re.search(r"^```sh\n(rm -rf .+?)^```$", PAGE.read_text(), flags=re.M | re.S)
    assert removal
    shutil.copytree(made.folder, tmp_path, dirs_exist_ok=True, ignore=lambda *_: [".venv"])
    project = Made(tmp_path)
    borrow_packages(project.folder)
    subprocess.run(["sh", "-e", "-c", removal[1]], cwd=project.folder, check=True)
    assert not (project.folder / "tests").exists()

    ended = project.make("rehearse")

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"rehearsal of {STACK}: passed" in ended.stdout
    asked = (project.folder / ".venv" / "asked").read_text()
    assert asked.endswith("-r requirements-dev.txt")


def _new(folder: Path, template: Path, sandbox: Path, *flags: str) -> Run:
    return run_pulumi(folder, ["new", template, "--yes", *flags], sandbox)


def _requirements(folder: Path) -> tuple[set[Path], list[str]]:
    """The folders that a requirements.txt installs, as pip finds them there, and all else."""
    lines = (folder / "requirements.txt").read_text().splitlines()
    asked = [line for line in lines if line and not line.startswith("#")]
    folders = {(folder / one[3:]).resolve() for one in asked if one.startswith("-e ")}
    return folders, [one for one in asked if not one.startswith("-e ")]
