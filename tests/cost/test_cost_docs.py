"""The page on costs: its examples print what it shows. `python -m tests.cost.test_cost_docs` writes
the outputs that they have now."""

import json
import os
import re
import stat
import sys
from pathlib import Path

import pytest

from tests.audit.test_audit_docs import transcript
from tests.cost.documents import BUCKET, NAT, cluster, pool, preview, row

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/how-to/estimate-cost.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```console\n(.*?)^```$", TEXT, flags=re.M | re.S)

_PREVIEW = preview(
    cluster(privateClusterConfig={"enablePrivateNodes": True}),
    pool(
        "system",
        "e2-standard-4",
        autoscaling={"totalMinNodeCount": 1, "totalMaxNodeCount": 3},
        upgradeSettings={"maxSurge": 1},
    ),
    pool(
        "spot-l4",
        "g2-standard-8",
        autoscaling={"totalMinNodeCount": 0, "totalMaxNodeCount": 8},
        config={"spot": True, "diskSizeGb": 200},
    ),
    row(BUCKET, "checkpoints", location="US-CENTRAL1", storageClass="STANDARD"),
    row(NAT, "nat", region="us-central1"),
    row("gcp:compute/network:Network", "network"),
)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment whose pulumi answers with the plan of the page."""
    return _environment(tmp_path)


def _environment(folder: Path) -> dict[str, str]:
    (folder / "plan").write_text(json.dumps(_PREVIEW))
    programs = {
        "pulumi": f'#!/bin/sh\ntest "$*" = "preview --json" && cat {folder}/plan\n',
        "spotproof": f'#!/bin/sh\nexec {sys.executable} -m spotproof_gke.cli "$@"\n',
    }
    binaries = folder / "bin"
    binaries.mkdir()
    for name, text in programs.items():
        (binaries / name).write_text(text)
        (binaries / name).chmod((binaries / name).stat().st_mode | stat.S_IXUSR)
    path = f"{binaries}{os.pathsep}/usr/bin{os.pathsep}/bin"
    return {"PATH": path, "PYTHONPATH": str(ROOT / "gke"), "LANG": "C.UTF-8"}


def _outputs(folder: Path, environment: dict[str, str]) -> list[str]:
    """Each block with the outputs that its commands have now; files of one stay for the next."""
    here = folder / "here"
    here.mkdir()
    return [transcript(block, here, environment) for block in BLOCKS]


def test_examples_print_what_the_page_shows(tmp_path: Path, environment: dict[str, str]) -> None:
    assert _outputs(tmp_path, environment) == BLOCKS


def test_page_shows_every_command() -> None:
    whole = "".join(BLOCKS)

    for command in ("spotproof gpus", "spotproof interval", "spotproof cost"):
        assert f"$ {command} " in whole


def main() -> None:
    """Write the outputs that the examples have now into the page."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        text = TEXT
        made = _outputs(Path(name), _environment(Path(name)))
        for block, now in zip(BLOCKS, made, strict=True):
            text = text.replace(block, now)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
