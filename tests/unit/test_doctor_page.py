"""docs/how-to/check-this-machine.md shows what the command prints, and every row it has."""

import os
import re
import sys
from pathlib import Path

import pytest

from tests.docs.transcripts import ROOT, blocks_of, rewrite, transcript
from tests.unit.test_doctor import BUCKET, Here, program, resource, write

PAGE = ROOT / "docs/how-to/check-this-machine.md"
BLOCKS = blocks_of(PAGE)


def arrange(here: Here) -> dict[str, str]:
    """A machine that lacks one thing, and a stack whose update was killed."""
    (here.bin / "gke-gcloud-auth-plugin").unlink()
    (here.project / "Pulumi.live.yaml").rename(here.project / "Pulumi.prod.yaml")
    here.monkeypatch.setenv("PULUMI_BACKEND_URL", "gs://acme-pulumi-state")
    half = {"type": "creating", "resource": resource("gcp:container/nodePool:NodePool", "l4")}
    deployment = {"resources": [BUCKET], "pending_operations": [half]}
    write(here.home / "state", {"version": 3, "deployment": deployment})
    answer = f'test "$1" = version && echo v3.280.0 || cat {here.home}/state'
    program(here.bin / "pulumi", answer)
    program(here.bin / "spotproof", f'exec {sys.executable} -m spotproof_gke.cli "$@"')
    kept = {key: os.environ[key] for key in ("HOME", "PULUMI_BACKEND_URL")}
    for tool in ("cat", "tail"):
        (here.bin / tool).symlink_to(f"/usr/bin/{tool}")
    return {**kept, "PATH": str(here.bin), "PYTHONPATH": str(ROOT / "gke"), "LANG": "C.UTF-8"}


def tidy(here: Here, text: str) -> str:
    """An output without what differs between machines."""
    text = re.sub(r"python: \S+ \(\S+\)", "python: 3.11.7 (/home/ada/venv/bin/python)", text)
    for folder, name in ((here.bin, "/usr/local/bin"), (here.home, "/home/ada")):
        text = text.replace(str(folder), name)
    return text.replace(str(here.project.resolve()), "/home/ada/shop")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    return Here(tmp_path, monkeypatch)


def test_the_examples_print_what_the_page_shows(here: Here) -> None:
    environment = arrange(here)

    for block in BLOCKS:
        shown = transcript(block, here.project, environment, lambda text: tidy(here, text))
        assert shown == block


def test_the_page_tells_of_every_row() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = {"python", "pulumi", "login", "lock", "state", "pending operation", "passphrase"}
    rows |= {"google credentials", "project", "virtualenv", "stack file", "last update"}
    rows |= {"unfinished start", "unfinished replacement", "protection", "kubectl", "gcloud"}

    assert not [row for row in rows if f"`{row}`" not in text]


def main() -> None:
    """Write the outputs that the examples have now into the page."""
    import tempfile

    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        made = Here(Path(name), patch)
        rewrite(PAGE, made.project, arrange(made), lambda text: tidy(made, text))


if __name__ == "__main__":
    main()
