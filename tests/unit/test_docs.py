"""The documentation says what the code does, and its examples work."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

import settings
import stack_file
from sandbox import real, stacks
from sandbox.setup_venv import REQUIREMENTS
from sections import POOL_SECTIONS
from spotproof.reader import camel_case
from spotproof_gke.audit.judge import judge
from spotproof_gke.audit.reading import gather
from tests.docs.pages import blocks, pages, prose
from tests.unit.declared import declare
from tools import policy_docs, write_docs
from tools.component_docs import schema

ROOT = Path(__file__).resolve().parents[2]
PAGES = pages()
README = (ROOT / "README.md").read_text(encoding="utf-8")
TARGETS = (ROOT / "docs" / "make-targets.md").read_text(encoding="utf-8")
URL = "https://github.com/spotproof/spotproof/blob/main/"
RUNS_ELSEWHERE = "runtime/"
"""Pages whose programs need packages of another virtualenv; tests/runtime runs them."""


def _blocks(language: str) -> list[Any]:
    return [
        pytest.param(one.text, id=one.id)
        for one in blocks()
        if one.language == language and not one.page.startswith(RUNS_ELSEWHERE)
    ]


def _anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", prose(page), flags=re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_generated_pages_are_what_the_code_says() -> None:
    for path, text in write_docs.pages().items():
        written = path.read_text(encoding="utf-8") if path.exists() else ""
        assert written == text, f"{path.relative_to(ROOT)} is stale: run `make docs`"


def test_every_page_of_a_policy_belongs_to_one() -> None:
    written = {page.stem for page in (ROOT / "docs" / "policies").glob("*.md")}

    assert written == {rule.name for _, rule in policy_docs.rules()} | {"README"}


@pytest.mark.parametrize("pack", policy_docs.PACKS)
def test_every_policy_points_at_its_page(pack: str) -> None:
    for policy in policy_docs.policies(pack):
        assert policy.url.startswith(URL), policy.name
        assert (ROOT / policy.url.removeprefix(URL)).is_file(), policy.name


def test_a_missing_marker_in_the_readme_is_named() -> None:
    with pytest.raises(ValueError, match="'policies' 0 times"):
        write_docs.with_tables("no table here", {"policies": "| a |"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if link.startswith("https://"):
            continue
        target, _, anchor = link.partition("#")
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), link
        if anchor:
            assert anchor in _anchors(file), link


def _named_targets(pages: Iterable[Path]) -> set[str]:
    return {
        name
        for page in pages
        for words in re.findall(
            r"(?:`|^ *\$ |&& )make(?: -s)?((?: [a-z][a-z-]*)+)",
            page.read_text(encoding="utf-8"),
            flags=re.M,
        )
        for name in words.split()
    }


def test_every_make_target_that_is_named_exists_and_the_page_of_targets_names_all() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {
        name
        for line in re.findall(r"^([a-z][a-z -]*):.*## ", makefile, flags=re.M)
        for name in line.split()
    }
    assert _named_targets(PAGES) - targets == set()
    assert targets - _named_targets([ROOT / "docs" / "make-targets.md"]) - {"help"} == set()


@pytest.mark.parametrize("action", ["up", "preview", "refresh", "destroy"])
def test_the_page_of_targets_shows_the_command_that_a_target_runs(
    action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("YES", raising=False)
    command = shlex.join(real.command(action, "prod"))

    assert f"| `make {action} STACK=prod` | `{command}` |" in TARGETS


def test_the_page_of_targets_names_the_requirements_that_setup_installs() -> None:
    assert f"pip install -r {REQUIREMENTS}" in TARGETS


def test_the_readme_names_every_stack() -> None:
    for stack in stacks.names():
        assert stack in README


@pytest.mark.parametrize("block", _blocks("python"))
def test_python_examples_run(block: str) -> None:
    code = compile(block, "example", "exec")

    declared = declare(lambda: exec(code, {}))

    about_facts = "spotproof_gke" in block
    assert about_facts or any(one.type.startswith(("gcp:", "kubernetes:")) for one in declared)


@pytest.mark.parametrize("block", _blocks("yaml"))
def test_yaml_examples_are_right(block: str, tmp_path: Path) -> None:
    value = yaml.safe_load(block)
    file = tmp_path / "Pulumi.example.yaml"
    file.write_text(block)

    if "config" in value:
        values, secrets = stack_file.read(file)
        settings.load(values, "the example", secrets)
    elif "kind" in value:
        dump = tmp_path / "objects.json"
        dump.write_text(json.dumps(value))
        assert judge(gather([str(dump)])).findings == []
    else:
        assert set(value) == {"packages", "resources"}
        for one in value["resources"].values():
            shape = schema()["resources"][one["type"].replace(":", ":index:")]
            assert set(one["properties"]) <= set(shape["inputProperties"])
            assert set(shape["requiredInputs"]) <= set(one["properties"])


@pytest.mark.parametrize("block", _blocks("json"))
def test_json_examples_name_policies_that_exist(block: str) -> None:
    value = json.loads(block)
    known = {rule.name for _, rule in policy_docs.rules()}
    named = {
        name
        for exception in value.get("exceptions", {}).values()
        for match in exception["match"]
        for name in match["policies"]
    }
    set_up = value.get("policies", {}) if value.get("version") == 2 else value
    assert named | set(set_up) - {"version", "exceptions"} <= known


def test_the_readme_shows_the_error_of_a_wrong_stack_file(tmp_path: Path) -> None:
    text = (ROOT / "stacks" / "Pulumi.dev.yaml").read_text(encoding="utf-8")
    wrong = text.replace("northamerica-northeast2", "us-east9").replace("maxNodes: 4", "maxNode: 4")
    folder = tmp_path / "stacks"
    folder.mkdir()
    (folder / "Pulumi.dev.yaml").write_text(wrong)
    judge = [sys.executable, ROOT / "infra" / "settings.py", "stacks/Pulumi.dev.yaml"]

    done = subprocess.run(judge, cwd=tmp_path, capture_output=True, text=True)

    assert done.returncode == 1
    assert done.stderr in README


def test_outputs_of_the_program_are_those_of_the_readme() -> None:
    program = (ROOT / "infra" / "outputs.py").read_text(encoding="utf-8")
    exported = set(re.findall(r'pulumi\.export\(\s*"(\w+)"', program))
    exported |= {camel_case(section.key) for section in POOL_SECTIONS}
    section = README.partition("## Stack outputs")[2].partition("\n## ")[0]
    named = {
        name
        for line in re.findall(r"^\| (`.+?) \| ", section, flags=re.M)
        for name in re.findall(r"`(\w+)`", line)
    }
    assert named == exported


def test_decisions_are_dated_and_say_why() -> None:
    for page in (ROOT / "docs" / "decisions").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        date = re.fullmatch(r"(\d{4})(\d{2})(\d{2})-[a-z-]+\.md", page.name)
        assert date, page.name
        assert f"- Date: {'-'.join(date.groups())}" in text, page.name
        for part in ("- Status: ", "## Context", "## Decision"):
            assert part in text, f"{page.name}: {part}"


def test_the_index_leads_to_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in sorted((ROOT / "docs" / "how-to").glob("*.md")):
        assert f"](how-to/{page.name})" in index, page.name


def test_a_page_with_steps_says_how_to_see_that_they_worked_and_how_to_undo_them() -> None:
    for page in sorted((ROOT / "docs" / "how-to").glob("*.md")):
        titles = re.findall(r"^## (.+)$", prose(page), flags=re.M)
        if "Steps" in titles:
            assert {"See that it works", "See that it worked"} & set(titles), page.name
            assert "Undo" in titles, page.name
