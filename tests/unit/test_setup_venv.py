"""The virtualenvs: what cannot be set up says why and what to do."""

import pytest

from sandbox import setup_venv


def test_a_machine_without_pytorch_is_told_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(setup_venv, "SYSTEM_PYTHON", "/nowhere/python3")
    lent = setup_venv.Virtualenv(
        folder=setup_venv.ROOT / "runtime" / ".venv-nowhere",
        requirements="runtime/requirements-torch.txt",
        inputs=(),
        target="setup-torch",
        lent=("no_such_module",),
    )
    monkeypatch.setitem(setup_venv.BY_NAME, "torch", lent)
    assert setup_venv.main(["torch"]) == 1
    said = capsys.readouterr().err
    assert "no Python with no_such_module" in said
    assert "apt-get install --no-install-recommends python3-torch" in said


def test_an_unknown_virtualenv_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert setup_venv.main(["runtme"]) == 2
    assert "`runtime` or `torch`" in capsys.readouterr().err
