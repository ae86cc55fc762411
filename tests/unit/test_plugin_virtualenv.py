"""What our language host does of `pulumi package add`: it makes a plugin's virtualenv."""

from pathlib import Path
from typing import Any

import pytest
from pulumi.runtime.proto import language_pb2

from sandbox.engine.children import Children
from sandbox.engine.language_python import PythonHost


class _Aborted(Exception):
    pass


class _Call:
    """As much of a gRPC call as the host uses."""

    def add_callback(self, _: object) -> bool:
        return True

    def abort(self, _: object, message: str) -> None:
        raise _Aborted(message)


def _host() -> PythonHost:
    return PythonHost("runner", "", Children())


def _installed(folder: Path, *, is_plugin: bool = True) -> str:
    request: Any = language_pb2.InstallDependenciesRequest(is_plugin=is_plugin)
    request.info.root_directory = str(folder / "plugin")
    request.info.options.update({"virtualenv": "../.venv"})
    answers = _host().InstallDependencies(request, _Call())
    return b"".join(one.stdout + one.stderr for one in answers).decode()


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    (tmp_path / "plugin").mkdir()
    return tmp_path


def test_a_virtualenv_that_could_not_be_filled_is_not_left_behind(plugin: Path) -> None:
    (plugin / "plugin" / "requirements.txt").write_text("./nowhere\n")
    with pytest.raises(_Aborted, match=r"pip install .* -r requirements\.txt` ended with 1"):
        _installed(plugin)
    assert not (plugin / ".venv").exists()


def test_a_virtualenv_that_is_there_stays_as_it_is(plugin: Path) -> None:
    python = plugin / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    (plugin / "plugin" / "requirements.txt").write_text("./nowhere\n")
    assert "Nothing is installed" in _installed(plugin)


def test_the_virtualenv_of_a_program_is_left_to_its_owner(plugin: Path) -> None:
    assert "Nothing is installed" in _installed(plugin, is_plugin=False)
    assert not (plugin / ".venv").exists()


def test_an_sdk_for_python_is_refused_with_what_to_do_instead() -> None:
    with pytest.raises(_Aborted, match="install the Python package itself"):
        _host().GeneratePackage(None, _Call())
