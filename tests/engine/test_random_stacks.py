"""Random stack files through the real engine: one clear error, or a preview that the packs pass."""

from pathlib import Path

import pytest

import settings
import stack_file
from spotproof_gke.problems import ProblemsError
from tests.engine.support import emulated_project
from tests.random_stacks import stack

INFRA = Path(__file__).parents[2] / "infra"
SEEDS = range(15)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_engine_shows_one_clear_error_or_a_plan(seed: int, tmp_path: Path) -> None:
    config = {key: value for key, value in stack(seed).items() if value is not None}
    project = emulated_project(
        tmp_path,
        INFRA,
        config,
        packs=["region_match", "spot_isolation"],
        pulumi_yaml={"name": "spotproof"},
    )
    values, secrets = stack_file.read(project.folder / "Pulumi.test.yaml")
    preview = project.preview()
    assert "Traceback" not in preview.text
    try:
        settings.load(values, "stacks/Pulumi.test.yaml", secrets)
    except ProblemsError as error:
        assert not preview.ok
        shown = preview.text.partition("Diagnostics:")[2]
        flat = " ".join(shown.split())
        for problem in error.problems:
            assert " ".join(str(problem).split()) in flat
        assert shown.count("error:") == 1
    else:
        assert preview.ok, preview.text
