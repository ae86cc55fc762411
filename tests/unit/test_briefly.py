"""Programs that end soon are run in less time, and see no difference."""

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.paths import BRIEFLY

SHOWN = """
import atexit, sys
atexit.register(print, "said at the end")
print(sys.argv, sys.path[0], __name__, __file__)
sys.exit("stopped" if "stop" in sys.argv else 3)
"""


@pytest.mark.parametrize("last", ["go", "stop"])
@pytest.mark.parametrize("is_module", [False, True], ids=["script", "module"])
def test_a_program_sees_and_ends_as_under_python_alone(
    tmp_path: Path, is_module: bool, last: str
) -> None:
    script = tmp_path / "inner" / "shown.py"
    script.parent.mkdir()
    script.write_text(SHOWN)
    named = ["-m", "inner.shown"] if is_module else [script]

    alone, briefly = (
        subprocess.run(
            [sys.executable, *how, *named, "--flag", last],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        for how in ([], [BRIEFLY])
    )

    assert "said at the end" in alone.stdout
    assert (briefly.returncode, briefly.stdout, briefly.stderr) == (
        alone.returncode,
        alone.stdout,
        alone.stderr,
    )


def test_a_program_without_objects_of_a_cluster_does_not_wait_for_their_classes() -> None:
    loaded = "import sys; from spotproof.workloads import spot_job; print(*sys.modules)"

    shown = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True)

    names = set(shown.stdout.split())
    assert "spotproof.workloads.made" in names
    assert not names & {f"pulumi_kubernetes.{each}.v1" for each in ("core", "apps", "batch")}
