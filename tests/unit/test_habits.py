"""What contributors are told is what CI does, and the files for it are right."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from sandbox.paths import ROOT, VENV
from tests.clone import clone_into
from tests.unit.ci_files import schema_problems

GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FORMS = ROOT / ".github" / "ISSUE_TEMPLATE"
HOOKS = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
LINT = ("ruff", "ruff-format")


def test_the_guide_names_what_ci_runs() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    told = re.search(r"^```sh\n(.+?)^```$", GUIDE, flags=re.M | re.S)

    assert told
    assert told[1].splitlines() == re.findall(r"^make .+$", script, flags=re.M)


def test_the_guide_names_each_target_of_the_workflow() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    targets = {
        name
        for words in re.findall(r"run: make((?: [a-z-]+)+)", workflow)
        for name in words.split()
    }

    assert targets
    for name in targets:
        assert re.search(rf"make(?: [a-z-]+)*? {name}\b", GUIDE), name


def test_the_guide_names_only_what_is_there() -> None:
    paths = re.findall(r"`([a-z.][\w.-]*/[\w./-]*)`", GUIDE)

    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_forms_and_template_name_only_targets_that_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for file in [*FORMS.iterdir(), ROOT / ".github" / "PULL_REQUEST_TEMPLATE.md"]:
        for target in re.findall(r"`make ([a-z-]+)", file.read_text(encoding="utf-8")):
            assert re.search(rf"^(?:[a-z-]+ )*{target}(?: [a-z-]+)*:", makefile, flags=re.M), target


def test_issue_forms_keep_to_githubs_schema(tmp_path: Path) -> None:
    forms = sorted(set(FORMS.glob("*.yml")) - {FORMS / "config.yml"})
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(forms[0].read_text(encoding="utf-8").replace("type: textarea", "type: text"))

    assert schema_problems("github-issue-forms", *forms) == ""
    assert schema_problems("github-issue-config", FORMS / "config.yml") == ""
    assert "wrong.yml" in schema_problems("github-issue-forms", wrong)


def test_hooks_are_tools_of_the_virtualenv_and_fetch_nothing() -> None:
    asked = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8")
    packages = {"codespell_lib": "codespell", "pre_commit_hooks": "pre-commit-hooks"}
    for repository in HOOKS["repos"]:
        assert repository["repo"] == "local"
        for hook in repository["hooks"]:
            tool = re.match(r"\.venv/bin/python -m (\w+)", hook["entry"])
            assert tool, hook["id"]
            assert f"\n{packages.get(tool[1], tool[1])}>=" in asked, hook["id"]
    assert "\npre-commit>=" in asked


def test_hooks_pass_on_every_file_and_refuse_what_they_are_for(tmp_path: Path) -> None:
    """In a copy, since they mend what they find; formatting is what `make lint` judges."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone, so nobody can tell which files are its own")
    clone_into(tmp_path)
    (tmp_path / ".venv").symlink_to(VENV)
    for command in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, capture_output=True)

    passed = _run_hooks(tmp_path, "--all-files")
    assert passed.returncode == 0, passed.stdout

    bad = {
        "no private key": ("key.txt", "-----BEGIN RSA " + "PRIVATE KEY-----\n"),
        "spelling": ("page.md", "The message is recieved.\n"),
        "files end with one newline": ("end.md", "no newline"),
        "no white space at ends of lines": ("blank.md", "blank \n"),
        "YAML can be read": ("a.yaml", "a: [\n"),
    }
    for name, text in bad.values():
        (tmp_path / name).write_text(text)
    refused = _run_hooks(tmp_path, "--files", *(name for name, _ in bad.values()))
    for hook in bad:
        assert re.search(rf"^{hook}\.+Failed$", refused.stdout, flags=re.M), refused.stdout


def _run_hooks(folder: Path, *which: str) -> "subprocess.CompletedProcess[str]":
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env = kept | {"PRE_COMMIT_HOME": str(folder / ".git" / "cache"), "SKIP": ",".join(LINT)}
    command = [sys.executable, "-m", "pre_commit", "run", "--color", "never", *which]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
