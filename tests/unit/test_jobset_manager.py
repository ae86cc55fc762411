"""Where the JobSet manager of the test control plane comes from."""

import json
from pathlib import Path

import pytest

from sandbox.cluster import binaries, jobset


def _files(folder: Path, *names: str) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).write_text("")
    return folder


@pytest.mark.parametrize("variable", ["KUBEBUILDER_ASSETS", "PATH"])
def test_a_manager_that_is_there_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    folder = _files(tmp_path / "bin", jobset.NAME, jobset.CRD, jobset.WEBHOOKS)
    monkeypatch.setenv(variable, str(folder))
    found = jobset.lookup()
    assert found
    assert found.program == folder / jobset.NAME


def test_a_program_of_the_same_name_without_its_kind_is_not_the_manager(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(_files(tmp_path / "bin", jobset.NAME)))
    found = jobset.lookup()
    assert not found or found.folder != tmp_path / "bin"


def test_without_a_manager_and_without_go_it_is_said_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("KUBEBUILDER_ASSETS", "")
    monkeypatch.setattr(jobset.Programs, "built", lambda self: None)
    with pytest.raises(binaries.BinariesError, match=r"no `go` on PATH.*Install Go"):
        jobset.ensure()


def test_a_new_manager_does_not_make_the_control_plane_be_built_anew() -> None:
    own = {path for path in jobset.PROGRAMS.modules.rglob("*")}
    assert own
    assert not own & set(binaries.PROGRAMS.modules.rglob("*"))


def test_the_manager_listens_on_loopback_alone(tmp_path: Path) -> None:
    said = json.loads(jobset.configuration(tmp_path / "own", tmp_path / "certs", 7, 8))
    assert (said["webhook"]["host"], said["webhook"]["port"]) == ("127.0.0.1", 7)
    assert said["health"]["healthProbeBindAddress"] == "127.0.0.1:8"
    assert said["metrics"]["bindAddress"] == "0"
    assert (tmp_path / "own").stat().st_mode & 0o077 == 0
