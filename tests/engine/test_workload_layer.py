"""Objects inside an emulated cluster: rendered by the real program, whatever a stack file says."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox import stacks
from sandbox.emulated import EmulatedStack
from sandbox.engine import Engine
from sandbox.environment import Sandbox
from sandbox.paths import ROOT

STACK: dict[str, Any] = {
    "gcp:project": "spotproof-test",
    "spotproof:mode": "autopilot",
    "spotproof:region": "us-central1",
    "spotproof:clusterName": "train",
    "spotproof:deletionProtection": False,
    "workloads": "apply",
    "spotproof:workloadsFolder": "rendered/train",
    "spotproof:checkpoints": {"forceDestroy": True},
    "spotproof:identities": {
        "trainer": {
            "serviceAccount": "training/trainer",
            "checkpoints": True,
            "googleServiceAccount": "trainer-account",
        }
    },
    "spotproof:systemPlacementGuard": {"systemNamespaces": ["platform"]},
    "spotproof:spotJobs": {
        "run": {
            "namespace": "training",
            "image": "us-docker.pkg.dev/ours/images/trainer:1",
            "command": ["python", "-m", "trainer"],
            "deadlineSeconds": 1000,
        }
    },
}


@pytest.fixture
def stack(tmp_path: Path, engine: Engine) -> EmulatedStack:
    """A project of our program with one stack, in a sandbox."""
    root = tmp_path / "root"
    (root / "stacks").mkdir(parents=True)
    (root / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text())
    for name in ("infra", ".venv"):
        (root / name).symlink_to(ROOT / name)
    _write(root, STACK)
    return EmulatedStack(Sandbox(tmp_path / "sandbox"), "x", engine, root)


def _write(root: Path, config: dict[str, Any]) -> None:
    (root / "stacks" / "Pulumi.x.yaml").write_text(yaml.safe_dump({"config": config}))


def _do(stack: EmulatedStack, action: str, *extra: str) -> None:
    stack.prepare()
    flags = ("--skip-preview", *extra)
    done = stack.capture(*stack.command(action, *flags)[1:])
    assert done.returncode == 0, done.stdout


def _rendered(folder: Path) -> dict[str, dict[str, Any]]:
    every = [yaml.safe_load(path.read_text()) for path in sorted(folder.rglob("*.yaml"))]
    return {f"{one['kind']} {one['metadata']['name']}": one for one in every}


def test_objects_are_rendered_follow_the_stack_file_and_go(
    stack: EmulatedStack, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stack.sandbox.folder / "rendered"
    _do(stack, "up")
    assert "rendered here" in "".join(capsys.readouterr())
    rendered = _rendered(folder)
    policies = {f"system-placement-guard-{scope}" for scope in ("own", "gke", "critical")}
    assert set(rendered) == {
        *("Namespace training", "ServiceAccount trainer", "JobSet run"),
        *(f"ValidatingAdmissionPolicy {name}" for name in policies),
        *(f"ValidatingAdmissionPolicyBinding {name}" for name in policies),
    }
    account = rendered["ServiceAccount trainer"]["metadata"]
    assert "trainer-account@" in account["annotations"]["iam.gke.io/gcp-service-account"]
    pods = yaml.safe_dump(rendered["JobSet run"])
    assert "serviceAccountName: trainer" in pods
    assert "value: gs://" in pods
    assert "/run\n" in pods
    assert not (ROOT / "rendered").exists()

    _do(stack, "up", "--expect-no-changes")
    _do(stack, "refresh", "--expect-no-changes")

    changed = yaml.safe_load(yaml.safe_dump(STACK).replace("trainer:1", "trainer:2"))
    _write(stack.root, changed)
    _do(stack, "up")
    assert "trainer:2" in yaml.safe_dump(_rendered(folder)["JobSet run"])

    guard = {"spotproof:systemPlacementGuard": {"enabled": False}}
    _write(stack.root, {**changed, **guard, "workloads": "none"})
    _do(stack, "up")
    assert _rendered(folder) == {}
    assert not [one for one in stack.resources() if "kubernetes" in one["type"]]
    _do(stack, "destroy")


def test_the_users_stack_file_still_says_apply(stack: EmulatedStack) -> None:
    stack.prepare()
    file = stack.root / "stacks" / "Pulumi.x.yaml"
    assert stacks.value(file, "spotproof:workloads") == "apply"
