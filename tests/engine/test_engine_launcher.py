"""What `python -m sandbox` runs, and what it keeps away from. Runs no real engine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

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


def _sandbox(tmp_path: Path, *args: str, **env: str) -> "subprocess.CompletedProcess[str]":
    base = {name: value for name, value in os.environ.items() if not name.startswith("SPOTPROOF")}
    base |= {"HOME": str(tmp_path / "home"), "SPOTPROOF_ENGINE_CACHE": str(tmp_path / "cache")}
    return subprocess.run(
        [sys.executable, "-m", "sandbox", *args],
        cwd=ROOT,
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
    assert "dev, prod, sandbox, staging" in run.stderr
    assert "Traceback" not in run.stderr


def test_check_accepts_every_stack_of_the_project(tmp_path):
    for stack in stacks.names():
        run = _sandbox(tmp_path, "check", "--stack", stack)
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
