"""The command of a drill: its exit codes, and errors that say what to do."""

import re

import pytest

from sandbox.cluster.binaries import BinariesError
from sandbox.cluster.control_plane import ControlPlaneError
from sandbox.drill import __main__ as command
from sandbox.drill.report import Outcome, Promise, Report
from sandbox.emulated import EmulatedError
from sandbox.engine import EngineError
from sandbox.locks import BusyError

PROMISE = Promise("spot-job-on-spot", "The Spot job runs on a Spot node")


def drilled(monkeypatch: pytest.MonkeyPatch, kept: "bool | None") -> None:
    report = Report("drill", [Outcome(PROMISE, kept, "seen", 1.0)])
    monkeypatch.setattr(command, "drill", lambda *given: report)


@pytest.mark.parametrize(("kept", "code"), [(True, 0), (False, 1), (None, 1)])
def test_the_exit_code_says_whether_all_promises_were_kept(monkeypatch, capsys, kept, code):
    drilled(monkeypatch, kept)

    assert command.main([]) == code

    assert "1 promises: " in capsys.readouterr().out


@pytest.mark.parametrize(
    "error",
    [
        BinariesError("no control plane can be had: install Go"),
        BusyError("another drill is running (process 7)"),
        ControlPlaneError("etcd ended with 1"),
        EmulatedError("the stack cannot be brought up"),
        EngineError("no Pulumi engine can be had"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_is_missing_is_one_error(monkeypatch, capsys, error):
    def fail(*given):
        raise error

    monkeypatch.setattr(command, "drill", fail)

    assert command.main([]) == 1

    assert capsys.readouterr().err == f"error: {error}\n"


def test_an_interrupt_is_code_130(monkeypatch, capsys):
    def interrupt(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "drill", interrupt)

    assert command.main([]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_a_report_that_cannot_be_written_is_an_error(monkeypatch, capsys, tmp_path):
    drilled(monkeypatch, True)

    assert command.main(["--json", str(tmp_path / "no" / "report.json")]) == 1

    assert "No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--kubeconfig", "x"], "--kubeconfig goes with --cluster mine only"),
        (["--context", "x"], "--context goes with --cluster mine only"),
        (["--watch-eviction", "x"], "--watch-eviction goes with --cluster mine only"),
        (["--cluster", "mine", "--stack", "dev"], "--stack goes with a drill on this machine only"),
        (["--cluster", "mine", "--keep"], "--keep goes with a drill on this machine only"),
        (["--timeout-seconds", "0"], "'0' is not a number of seconds above 0"),
        (["--timeout-seconds", "nan"], "'nan' is not a number of seconds above 0"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_arguments_that_do_not_go_together_are_refused(capsys, arguments, error):
    with pytest.raises(SystemExit) as stopped:
        command.main(arguments)

    assert stopped.value.code == 2
    assert error in capsys.readouterr().err


def test_a_kubeconfig_of_the_environment_is_not_used_unasked(monkeypatch):
    drilled(monkeypatch, True)
    monkeypatch.setenv("KUBECONFIG", "/nowhere/that-would-fail")

    assert command.main([]) == 0


@pytest.mark.parametrize(
    "content",
    [None, "", "just words", "{}", "a: [", "\0", "clusters: 7"],
    ids=["absent", "empty", "words", "no contexts", "no YAML", "binary", "wrong types"],
)
def test_a_kubeconfig_that_is_none_is_one_error(capsys, tmp_path, content):
    file = tmp_path / "kubeconfig"
    if content is not None:
        file.write_text(content)

    assert command.main(["--cluster", "mine", "--kubeconfig", str(file)]) == 1

    said = capsys.readouterr().err
    assert re.match(rf"error: {re.escape(str(file))}", said)
    assert "get-credentials" in said
    assert len(said.splitlines()) == 1


def test_a_cluster_that_does_not_answer_is_one_error(capsys, tmp_path):
    file = tmp_path / "kubeconfig"
    file.write_text(
        "{current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],"
        " clusters: [{name: c, cluster: {server: 'https://127.0.0.1:9'}}],"
        " users: [{name: u, user: {token: not-shown}}]}"
    )

    assert command.main(["--cluster", "mine", "--kubeconfig", str(file)]) == 1

    said = capsys.readouterr().err
    assert said.startswith("error: cluster c does not answer")
    assert "not-shown" not in said
