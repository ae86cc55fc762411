"""What a person who writes a Python program may expect of our own language host."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sandbox.paths import VENV
from tests.engine.own_host import project_on_own_host
from tests.engine.support import EmulatedProject, engine

SLEEPING_PROGRAM = """
import os, pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path("pids").write_text(f"{os.getppid()} {os.getpid()} {child.pid}")
time.sleep(600)
"""


def test_the_program_sees_its_configuration_and_its_secrets(tmp_path):
    program = """
import pulumi
config = pulumi.Config()
pulumi.export("region", config.require("region"))
pulumi.export("token", config.require_secret("token"))
pulumi.export("names", [pulumi.get_project(), pulumi.get_stack()])
"""
    project = project_on_own_host(tmp_path, program, {"emulated:region": "europe-west4"})
    project.set_config("token", "hidden", secret=True)

    shown = project.up().check().text

    assert "hidden" not in shown
    assert project.outputs() == {
        "region": "europe-west4",
        "token": "hidden",
        "names": ["emulated", "test"],
    }


def test_a_second_run_changes_nothing(tmp_path):
    project = project_on_own_host(tmp_path, "import pulumi\npulumi.export('x', 1)")
    project.up().check()

    assert "1 unchanged" in project.up("--expect-no-changes").check().text


def test_a_program_error_is_shown_once_with_the_users_lines_alone(tmp_path):
    project = project_on_own_host(tmp_path, "def f():\n    raise ValueError('too far')\n\nf()\n")

    run = project.preview()

    assert not run.ok
    diagnostics = run.text.partition("Diagnostics:")[2]
    assert diagnostics.count("ValueError: too far") == 1
    assert diagnostics.count("error:") == 1
    assert "__main__.py" in diagnostics
    for noise in ("language_python.py", "pulumi-language-python-exec", "runpy", "non-zero"):
        assert noise not in diagnostics


def test_an_error_that_the_program_logged_is_not_followed_by_another(tmp_path):
    program = "import pulumi, sys\npulumi.log.error('region is wrong')\nsys.exit(32)\n"

    diagnostics = project_on_own_host(tmp_path, program).preview().text.partition("Diagnostics:")[2]

    assert diagnostics.count("error:") == 1
    assert "region is wrong" in diagnostics


def test_an_exit_code_without_a_message_is_named(tmp_path):
    run = project_on_own_host(tmp_path, "import sys\nsys.exit(3)\n").preview()

    assert not run.ok
    assert "exit code: 3" in run.text


def test_a_missing_main_program_is_said_by_name(tmp_path):
    project = project_on_own_host(tmp_path, "")
    (project.folder / "__main__.py").unlink()

    run = project.preview()

    assert not run.ok
    assert "unable to find main python program `__main__.py`" in run.text


def test_the_virtualenv_option_is_relative_to_the_project(tmp_path):
    program = "import pulumi, sys\npulumi.export('prefix', sys.prefix)\n"
    project = project_on_own_host(tmp_path, program, virtualenv="env")
    (project.folder / "env").symlink_to(VENV)

    project.up().check()

    assert project.outputs()["prefix"] == str(project.folder / "env")


def test_a_missing_virtualenv_is_named_with_the_way_out(tmp_path):
    project = project_on_own_host(tmp_path, "", virtualenv="nowhere")

    run = project.preview()

    assert not run.ok
    assert str(project.folder / "nowhere" / "bin" / "python") in run.text
    assert "make setup" in run.text
    assert "Traceback" not in run.text


def test_another_toolchain_is_refused_with_the_way_out(tmp_path):
    options = {"runtime": {"name": "python", "options": {"toolchain": "poetry"}}}
    project = project_on_own_host(tmp_path, "")
    text = f"name: emulated\nruntime: {options['runtime']}\n"
    (project.folder / "Pulumi.yaml").write_text(text)

    run = project.preview()

    assert not run.ok
    assert "'toolchain' is 'poetry'" in run.text
    assert "official Pulumi CLI" in run.text


def test_output_comes_while_the_program_still_runs(tmp_path):
    program = "import time\nprint('begun')\ntime.sleep(600)\n"
    project = project_on_own_host(tmp_path, program)
    process = _start(project, "preview", "--stack", "test")
    try:
        assert any("begun" in line for line in _lines(process, seconds=60))
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_cancelled_run_leaves_neither_host_nor_program_nor_its_child(tmp_path, number):
    project = project_on_own_host(tmp_path, SLEEPING_PROGRAM)
    process = _start(project, "preview", "--stack", "test")
    pids = _pids(project.folder / "pids")

    process.send_signal(number)
    output, _ = process.communicate(timeout=60)

    assert _all_gone(pids, seconds=15), output
    assert process.returncode != 0
    assert "Traceback" not in output


def test_about_names_the_python_and_what_is_installed(tmp_path):
    about = project_on_own_host(tmp_path, "").run("about", "--json").json()

    runtime = about["runtime"]
    assert runtime["language"] == "python"
    assert runtime["executable"] == str(VENV / "bin" / "python")
    assert runtime["version"] == ".".join(map(str, sys.version_info[:3]))
    assert "pulumi_gcp" in {one["name"].replace("-", "_") for one in about["dependencies"]}


def test_install_says_that_it_installs_nothing(tmp_path):
    assert "Nothing is installed" in project_on_own_host(tmp_path, "").run("install").text


def _start(project: EmulatedProject, *args: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [engine().pulumi, "--non-interactive", "--color", "never", *args],
        cwd=project.folder,
        env=project.sandbox.environment(engine()) | dict(project.env),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    )


def _lines(process: "subprocess.Popen[str]", seconds: float):
    assert process.stdout is not None
    deadline = time.monotonic() + seconds
    for line in process.stdout:
        yield line
        if time.monotonic() > deadline:
            return


def _pids(file: Path, seconds: float = 60) -> list[int]:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if file.exists() and len(file.read_text().split()) == 3:
            return [int(one) for one in file.read_text().split()]
        time.sleep(0.05)
    raise AssertionError(f"the program did not start within {seconds} s")


def _all_gone(pids: list[int], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while any(_is_running(pid) for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _is_running(pid: int) -> bool:
    """Whether the process does anything; a zombie that nobody reaped does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat")
        return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
