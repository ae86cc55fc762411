"""Bad programs fail in preview on the real engine with the right policy named; mended, they pass.

Each folder in `bad/` holds a program, its mended twin and what to expect of the bad one.
"""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.engine.support import Run, emulated_project

PROGRAMS = sorted(path.parent for path in (Path(__file__).parent / "bad").glob("*/expect.yaml"))
PACKS = ("region_match", "spot_isolation")
_VIOLATION = re.compile(r"^\s*- \[(\w+)\].*?\s([a-z0-9-]+)  \(", re.MULTILINE)


def _preview(tmp_path: Path, program: Path) -> Run:
    project = emulated_project(
        tmp_path,
        program.read_text(encoding="utf-8"),
        config={"gcp:project": "acme-ml"},
        packs=PACKS,
        # A provider that renders manifests accepts no kubeconfig, not even one from here.
        env={"KUBECONFIG": ""},
    )
    return project.preview()


def _violations(run: Run) -> set[tuple[str, str]]:
    """Level and policy of every violation that a person sees."""
    return set(_VIOLATION.findall(run.stdout))


@pytest.mark.parametrize("folder", PROGRAMS, ids=lambda folder: folder.name)
def test_bad_program_fails_in_preview(folder: Path, tmp_path: Path) -> None:
    expected: dict[str, Any] = yaml.safe_load((folder / "expect.yaml").read_text(encoding="utf-8"))

    run = _preview(tmp_path, folder / "bad.py")

    assert not run.ok
    assert _violations(run) == {("mandatory", name) for name in expected["policies"]}, run.text
    for words in expected["says"]:
        assert words in run.stdout, run.text
    assert "not-for-messages" not in run.text
    assert "Traceback" not in run.text


@pytest.mark.parametrize("folder", PROGRAMS, ids=lambda folder: folder.name)
def test_mended_program_passes_without_a_remark(folder: Path, tmp_path: Path) -> None:
    run = _preview(tmp_path, folder / "good.py").check()

    assert _violations(run) == set()
    assert run.stdout.count("✅") == len(PACKS), run.text


def test_there_are_enough_programs_and_half_use_no_component_of_ours() -> None:
    plain = [each for each in PROGRAMS if "spotproof." not in (each / "bad.py").read_text()]

    assert len(PROGRAMS) >= 14
    assert len(plain) * 2 >= len(PROGRAMS)
