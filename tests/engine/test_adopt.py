"""docs/how-to/adopt-existing.md: its commands work, and its warnings are true."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.cloud import plain
from tests.engine import handmade
from tests.engine.support import EmulatedProject, emulated_project
from tests.unit.declared import declare, only

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "adopt-existing.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "examples" / "adopt-existing"
ASKS = {"import", "up", "destroy", "state"}
"""Commands that ask a person for a yes."""


def _commands() -> list[list[str]]:
    lines = [
        line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.S) for line in block.splitlines()
    ]
    assert all(line.startswith("pulumi ") for line in lines)
    return [shlex.split(line)[1:] for line in lines]


def _project(tmp_path: Path, pool: dict[str, Any], bucket: dict[str, Any]) -> EmulatedProject:
    project = emulated_project(tmp_path, EXAMPLE)
    cloud = handmade.make_cluster(project.sandbox.folder)
    cloud.create(plain.NODE_POOL, "by hand", pool)
    cloud.create(plain.BUCKET, "by hand", bucket)
    cloud.store.flush()
    return project


def _run(project: EmulatedProject, command: list[str]):
    return project.run(*command, *(["--yes"] if command[0] in ASKS else []))


def _owned(project: EmulatedProject) -> dict[str, Any]:
    cloud = project.cloud()
    return {token: cloud[token] for token in (plain.NODE_POOL, plain.BUCKET)}


def _taints(owned: dict[str, Any]) -> list[list[dict[str, str]]]:
    return [pool["nodeConfig"].get("effectiveTaints") for pool in owned[plain.NODE_POOL].values()]


def _labels(owned: dict[str, Any]) -> dict[str, str]:
    (found,) = owned[plain.BUCKET].values()
    return found["effectiveLabels"]


def test_every_command_of_the_page_does_what_the_page_says(tmp_path: Path) -> None:
    project = _project(tmp_path, handmade.spot_pool(), handmade.bucket())
    before = _owned(project)
    done = [(command, _run(project, command)) for command in _commands()[:2]]
    (_, imported), (_, preview) = done
    imported.check()
    assert _owned(project) == before
    assert "2 to update" in preview.check().stdout
    assert "taints" in preview.stdout
    assert "replace" not in preview.stdout

    up, unchanged, destroy, let_go = _commands()[2:]
    _run(project, up).check()
    _run(project, unchanged).check()
    project.refresh("--expect-no-changes").check()
    project.up("--expect-no-changes").check()
    taken = _owned(project)
    assert _taints(taken) == _taints(before)
    assert _labels(taken).items() >= {"team": "vision", "spotproof-role": "checkpoints"}.items()
    assert {t: set(each) for t, each in taken.items()} == {t: set(e) for t, e in before.items()}

    assert "protected" in _run(project, destroy).text
    assert _owned(project) == taken
    _run(project, let_go).check()
    assert project.resources() == []
    assert _owned(project) == taken


@pytest.mark.parametrize(
    ("pool", "bucket", "shown"),
    [
        pytest.param(
            handmade.spot_pool(shieldedInstanceConfig=None),
            handmade.bucket(),
            "enableSecureBoot",
            id="pool without secure boot",
        ),
        pytest.param(
            handmade.spot_pool(),
            handmade.bucket(hierarchicalNamespace=None),
            "hierarchicalNamespace",
            id="bucket with a flat namespace",
        ),
    ],
)
def test_what_cannot_be_taken_over_fails_the_preview_and_stays(
    tmp_path: Path, pool: dict[str, Any], bucket: dict[str, Any], shown: str
) -> None:
    project = _project(tmp_path, pool, bucket)
    before = _owned(project)
    imported, preview, up = _commands()[:3]
    _run(project, imported).check()

    refused = _run(project, preview)

    assert not refused.ok
    assert shown in refused.text
    assert "protected" in refused.text or "marked for protection" in refused.text
    assert not _run(project, up).ok
    assert set(_owned(project)[plain.NODE_POOL]) == set(before[plain.NODE_POOL])
    assert set(_owned(project)[plain.BUCKET]) == set(before[plain.BUCKET])


def _rows(kind: str) -> list[str]:
    table = PAGE.partition(f"| property of the {kind} |")[2].partition("\n\n")[0]
    return re.findall(r"^\| `([\w.]+)` \|", table, re.M)


DIFFERENT_POOL: dict[str, dict[str, Any]] = {
    "name": {"name": "another"},
    "nodeConfig.spot": handmade.spot_pool(spot=None),
    "nodeConfig.guestAccelerators": handmade.spot_pool(guestAccelerators=[plain.L4]),
    "nodeConfig.serviceAccount": handmade.spot_pool(serviceAccount=None),
    "nodeConfig.oauthScopes": handmade.spot_pool(oauthScopes=None),
    "nodeConfig.shieldedInstanceConfig": handmade.spot_pool(shieldedInstanceConfig=None),
    "nodeConfig.metadata": handmade.spot_pool(metadata={"team": "vision"}),
    "nodeConfig.reservationAffinity": handmade.spot_pool(
        reservationAffinity={"consumeReservationType": "NO_RESERVATION"}
    ),
    "nodeConfig.maxRunDuration": handmade.spot_pool(maxRunDuration="86400s"),
    "placementPolicy": {"placementPolicy": {"type": "COMPACT"}},
}
DIFFERENT_BUCKET: dict[str, dict[str, Any]] = {
    "name": {"name": "another-bucket"},
    "location": {"location": "US-CENTRAL1"},
    "hierarchicalNamespace": {"hierarchicalNamespace": None},
    "project": {"project": "another-project"},
}


def _wanted(token: str) -> dict[str, Any]:
    program = compile((EXAMPLE / "__main__.py").read_text(), "example", "exec")
    return only(declare(lambda: exec(program, {})), token).props


def _replaced(tmp_path: Path, token: str, given: dict[str, Any]) -> list[str]:
    cloud = handmade.make_cluster(tmp_path)
    made = cloud.create(token, "by hand", given)
    adopted = cloud.adopt(token, "child", made.id)
    assert adopted is not None
    return cloud.plan(adopted, _wanted(token)).replace_keys


@pytest.mark.parametrize("row", _rows("pool"))
def test_a_pool_that_differs_in_a_row_of_the_table_would_be_replaced(
    row: str, tmp_path: Path
) -> None:
    given = {**handmade.spot_pool(), **DIFFERENT_POOL[row]}

    assert _replaced(tmp_path, plain.NODE_POOL, given) == [row.partition(".")[0]]


@pytest.mark.parametrize("row", _rows("bucket"))
def test_a_bucket_that_differs_in_a_row_of_the_table_would_be_replaced(
    row: str, tmp_path: Path
) -> None:
    given = handmade.bucket(**DIFFERENT_BUCKET[row])

    assert _replaced(tmp_path, plain.BUCKET, given) == [row]


def test_what_matches_the_tables_is_not_replaced(tmp_path: Path) -> None:
    assert _rows("pool") == list(DIFFERENT_POOL)
    assert _rows("bucket") == list(DIFFERENT_BUCKET)
    (tmp_path / "cloud").mkdir()
    assert _replaced(tmp_path / "cloud", plain.NODE_POOL, handmade.spot_pool()) == []
    assert _replaced(tmp_path, plain.BUCKET, handmade.bucket()) == []
