"""What `python -m sandbox` runs, and what it keeps away from. Runs no real engine."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import settings
from sandbox import stacks
from sandbox.engine import Engine
from sandbox.environment import Sandbox
from sandbox.mirror import mirror
from sandbox.paths import ROOT

RECORDING_PULUMI = """#!/bin/sh
[ "$1" = version ] && { echo v3.280.0; exit 0; }
[ "$1" = plugin ] && exit 1
echo "args: $*"
echo "cwd: $(pwd)"
env
exit 7
"""


@pytest.fixture
def official(tmp_path: Path) -> Path:
    """An official CLI, as far as the launcher can see."""
    path = tmp_path / "official" / "pulumi"
    path.parent.mkdir()
    path.write_text(RECORDING_PULUMI)
    path.chmod(0o755)
    return path


def _sandbox(
    tmp_path: Path, *args: str, root: Path = ROOT, **env: str
) -> "subprocess.CompletedProcess[str]":
    base = {name: value for name, value in os.environ.items() if not name.startswith("SPOTPROOF")}
    base |= {"HOME": str(tmp_path / "home"), "SPOTPROOF_ENGINE_CACHE": str(tmp_path / "cache")}
    return subprocess.run(
        [sys.executable, "-m", "sandbox", *args],
        cwd=root,
        env=base | env,
        capture_output=True,
        text=True,
        timeout=60,
    )


def _path_with(official: Path) -> str:
    return f"{official.parent}:{os.environ['PATH']}"


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (
            "up",
            "pulumi up -s prod --policy-pack policies/region_match"
            " --policy-pack policies/spot_isolation",
        ),
        (
            "preview",
            "pulumi preview -s prod --policy-pack policies/region_match"
            " --policy-pack policies/spot_isolation",
        ),
        ("refresh", "pulumi refresh -s prod"),
        ("destroy", "pulumi destroy -s prod"),
    ],
)
def test_a_real_stack_gets_the_plain_command_and_its_exit_code(
    tmp_path, official, action, expected
):
    run = _sandbox(tmp_path, action, "--stack", "prod", PATH=_path_with(official))

    assert f"+ {expected}\n" in run.stderr
    assert f"args: {expected.removeprefix('pulumi ')}\n" in run.stdout
    assert f"cwd: {ROOT}\n" in run.stdout
    assert run.returncode == 7


def test_a_real_stack_keeps_the_users_backend_home_and_credentials(tmp_path, official):
    users = {
        "PULUMI_BACKEND_URL": "gs://state",
        "PULUMI_HOME": "/users/pulumi",
        "GOOGLE_APPLICATION_CREDENTIALS": "/users/key.json",
        "PATH": _path_with(official),
    }

    run = _sandbox(tmp_path, "up", "--stack", "prod", **users)

    for name, value in users.items():
        assert f"{name}={value}\n" in run.stdout
    assert "SPOTPROOF_SANDBOX_DIR" not in run.stdout
    assert "PULUMI_CONFIG_PASSPHRASE=" not in run.stdout


def test_a_real_stack_is_confirmed_by_the_person_unless_told_otherwise(tmp_path, official):
    asked = _sandbox(tmp_path, "up", "--stack", "prod", PATH=_path_with(official))
    told = _sandbox(tmp_path, "up", "--stack", "prod", PATH=_path_with(official), YES="1")

    assert "--yes" not in asked.stdout
    assert "--yes" in told.stdout


def test_further_arguments_reach_pulumi(tmp_path, official):
    run = _sandbox(tmp_path, "up", "--stack", "dev", "--diff", PATH=_path_with(official))

    assert "--policy-pack policies/spot_isolation --diff\n" in run.stdout


@pytest.mark.parametrize(
    "further",
    [
        ["--stack", "prod"],
        ["--stack=prod"],
        ["-s", "prod"],
        ["-sprod"],
        ["-s=prod"],
        ["-ys", "prod"],
    ],
)
def test_further_arguments_name_no_second_stack(tmp_path, official, further):
    run = _sandbox(tmp_path, "destroy", "--stack", "dev", *further, PATH=_path_with(official))

    assert run.returncode == 2
    assert "STACK=" in run.stderr
    assert "args:" not in run.stdout


def test_a_real_stack_may_be_named_with_its_organization(tmp_path, official):
    run = _sandbox(tmp_path, "refresh", "--stack", "acme/prod", PATH=_path_with(official))

    assert "args: refresh -s acme/prod\n" in run.stdout


@pytest.mark.parametrize("stack", ["acme/sandbox", "organization/spotproof/sandbox"])
@pytest.mark.parametrize("command", ["up", "destroy"])
def test_the_emulated_stack_is_never_taken_for_a_real_one(tmp_path, official, command, stack):
    run = _sandbox(tmp_path, command, "--stack", stack, PATH=_path_with(official))

    assert run.returncode == 1
    assert "is emulated" in run.stderr
    assert "args:" not in run.stdout


@pytest.mark.parametrize("command", ["rehearse", "check", "env"])
def test_a_path_is_no_stack(tmp_path, command):
    run = _sandbox(tmp_path, command, "--stack", "a/../../x/dev")

    assert run.returncode == 1
    assert "error: stack 'a/../../x/dev'" in run.stderr


def test_a_real_stack_without_an_official_cli_is_refused_at_once(tmp_path):
    run = _sandbox(tmp_path, "up", "--stack", "prod", SPOTPROOF_ENGINE="path", PATH="/nowhere")

    assert run.returncode == 1
    assert "no Google Cloud plugin" in run.stderr
    assert "https://www.pulumi.com/docs/install/" in run.stderr
    assert "make rehearse STACK=prod" in run.stderr
    assert "building" not in run.stderr


def test_a_shell_bound_to_the_sandbox_runs_no_real_stack(tmp_path, official):
    bound = {"PATH": _path_with(official), "SPOTPROOF_SANDBOX_DIR": "/somewhere"}

    run = _sandbox(tmp_path, "up", "--stack", "prod", **bound)

    assert run.returncode == 1
    assert "another shell" in run.stderr
    assert "args:" not in run.stdout


@pytest.mark.parametrize("command", ["up", "preview", "destroy", "rehearse", "check", "env"])
def test_an_unknown_stack_lists_those_there_are(tmp_path, command):
    run = _sandbox(tmp_path, command, "--stack", "production")

    assert run.returncode == 1
    assert "stacks/Pulumi.production.yaml" in run.stderr
    assert f"Stacks there are: {', '.join(stacks.names())}." in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize(
    ("command", "content", "message"),
    [
        ("check", "config:\n  spotproof:labels: &a {b: *a}\n", ", line 2: "),
        ("rehearse", "- config\n", ", line 1: "),
        ("rehearse", "config:\n  spotproof:regoin: us-central1\n", "regoin"),
        ("up", "config:\n  spotproof:regoin: us-central1\n", "regoin"),
        ("preview", "config:\n  spotproof:regoin: us-central1\n", "regoin"),
        ("destroy", "config:\n  gcp:project: [\n", ", line 3: "),
    ],
)
def test_wrong_settings_are_one_error_before_any_engine_is_made(
    tmp_path, command, content, message
):
    clone = _clone(tmp_path)
    (clone / "stacks" / "Pulumi.sandbox.yaml").write_text(content)
    no_engine = {"SPOTPROOF_ENGINE": "path", "PATH": "/nowhere"}

    run = _sandbox(tmp_path, command, root=clone, **no_engine)

    assert run.returncode == 1
    assert run.stderr.startswith("error: stacks/Pulumi.sandbox.yaml")
    assert message in run.stderr
    assert "Traceback" not in run.stderr
    assert run.stdout == ""


def _clone(tmp_path: Path) -> Path:
    clone = tmp_path / "clone"
    unwanted = shutil.ignore_patterns("__pycache__")
    for folder in ("sandbox", "infra", "stacks"):
        shutil.copytree(ROOT / folder, clone / folder, ignore=unwanted)
    for file in ("Pulumi.yaml", "Makefile", "requirements-dev.txt"):
        shutil.copy(ROOT / file, clone)
    return clone


def test_setup_installs_nothing_into_the_virtualenv_of_another_clone(tmp_path):
    clone = _clone(tmp_path)
    other = tmp_path / "other" / ".venv"
    python = other / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/calls\n')
    python.chmod(0o755)
    (clone / ".venv").symlink_to(other)

    run = subprocess.run(
        [sys.executable, "-m", "sandbox.setup_venv"], cwd=clone, capture_output=True, text=True
    )

    assert run.returncode == 1
    assert f"error: .venv is a link to {other}" in run.stderr
    assert "run again" in run.stderr
    assert not (tmp_path / "calls").exists()


MAKE_STACK = "python -m sandbox destroy --stack "


def _make(*args: str, **env: str) -> "subprocess.CompletedProcess[str]":
    """What make would run."""
    names = ("STACK", "ARGS", "YES", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    base = {name: value for name, value in os.environ.items() if name not in names}
    command = ["make", "--dry-run", *args]
    return subprocess.run(command, cwd=ROOT, env=base | env, capture_output=True, text=True)


@pytest.mark.parametrize("options", [[], ["--environment-overrides"]])
def test_make_takes_no_stack_and_no_arguments_from_the_environment(options):
    run = _make("destroy", *options, STACK="prod", ARGS="--target x")

    assert run.stdout.splitlines()[-1].endswith(f"{MAKE_STACK}'sandbox' ")
    assert run.stderr.count("\n") == 1
    assert "STACK ARGS: ignored" in run.stderr


def test_make_takes_stack_and_arguments_from_its_command_line():
    run = _make("destroy", "STACK=dev", "ARGS=--diff", STACK="prod", ARGS="--target x")

    assert run.stdout.splitlines()[-1].endswith(f"{MAKE_STACK}'dev' --diff")
    assert run.stderr == ""


def test_a_question_is_answered_on_the_command_line_alone(tmp_path):
    clone = _clone(tmp_path)
    shown = 'include Makefile\nshown:\n\t@echo "YES=$$YES"\n'
    (clone / "shown.mk").write_text(shown)
    make = ["make", "-s", "-f", "shown.mk", "shown"]
    environment = {**os.environ, "YES": "1"}

    exported = subprocess.run(make, cwd=clone, env=environment, capture_output=True, text=True)
    typed = subprocess.run([*make, "YES=1"], cwd=clone, capture_output=True, text=True)

    assert (exported.stdout, typed.stdout) == ("YES=\n", "YES=1\n")


@pytest.mark.parametrize("stack", stacks.names())
def test_every_stack_of_the_project_is_in_order(stack, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)

    assert settings.main([f"stacks/Pulumi.{stack}.yaml"]) == 0, capsys.readouterr().err


def test_check_accepts_a_stack_that_is_in_order(tmp_path):
    run = _sandbox(tmp_path, "check", "--stack", "showcase")

    assert run.returncode == 0, run.stderr


def test_a_sandbox_drops_what_leads_outside(tmp_path):
    engine = Engine(Path("/engine/pulumi"), "v3.280.0", "build", "")
    outside = {
        "PATH": "/usr/bin",
        "HOME": "/users",
        "PULUMI_ACCESS_TOKEN": "t",
        "PULUMI_CONFIG_PASSPHRASE_FILE": "/users/passphrase",
        "PULUMI_BACKEND_URL": "gs://state",
        "GOOGLE_APPLICATION_CREDENTIALS": "/users/key.json",
        "GOOGLE_CLOUD_PROJECT": "p",
        "CLOUDSDK_CONFIG": "/users/gcloud",
        "GCLOUD_PROJECT": "p",
        "KUBECONFIG": "/users/kube",
        "PYTHONPATH": "/users/lib",
    }
    folder = tmp_path / "sandbox"

    inside = Sandbox(folder).environment(engine, outside)

    assert {name for name in outside if inside.get(name) == outside[name]} == {"HOME"}
    assert inside["PULUMI_BACKEND_URL"] == f"file://{folder}/backend"
    assert inside["PULUMI_HOME"] == f"{folder}/home"
    assert not Path(inside["GOOGLE_APPLICATION_CREDENTIALS"]).exists()
    assert not Path(inside["KUBECONFIG"]).exists()
    assert inside["PATH"].startswith("/engine:")
    assert inside["PATH"].endswith("/usr/bin")


def _project(tmp_path: Path, stack_file: str) -> Path:
    root = tmp_path / "root"
    (root / "stacks").mkdir(parents=True)
    (root / "infra").mkdir()
    (root / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text())
    (root / "stacks" / "Pulumi.prod.yaml").write_text(stack_file)
    return root


def test_a_mirrored_stack_file_has_no_secret_and_no_key_of_encryption(tmp_path):
    original = """\
secretsprovider: gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/k
encryptedkey: CiQA
encryptionsalt: v1:abc
environment: [shared]
config:
  gcp:project: p
  spotproof:token: {secure: AAAB}
  spotproof:nested: {plain: 1, inner: [{secure: AAAC}]}
"""
    root = _project(tmp_path, original)
    sandbox = Sandbox(tmp_path / "sandbox")

    replaced = mirror(sandbox, "prod", root)

    copied = (sandbox.project / "stacks" / "Pulumi.prod.yaml").read_text()
    assert yaml.safe_load(copied) == {
        "config": {
            "gcp:project": "p",
            "spotproof:token": "placeholder",
            "spotproof:nested": {"plain": 1, "inner": ["placeholder"]},
        }
    }
    assert replaced == ["spotproof:token", "spotproof:nested.inner[0]"]
    assert (root / "stacks" / "Pulumi.prod.yaml").read_text() == original


def test_the_sandbox_keeps_its_own_salt_when_the_settings_change(tmp_path):
    root = _project(tmp_path, "config: {gcp:project: p}\n")
    sandbox = Sandbox(tmp_path / "sandbox")
    mirror(sandbox, "prod", root)
    copied = sandbox.project / "stacks" / "Pulumi.prod.yaml"
    copied.write_text("encryptionsalt: v1:own\n" + copied.read_text())
    (root / "stacks" / "Pulumi.prod.yaml").write_text("config: {gcp:project: q}\n")

    mirror(sandbox, "prod", root)

    assert yaml.safe_load(copied.read_text()) == {
        "config": {"gcp:project": "q"},
        "encryptionsalt": "v1:own",
    }
