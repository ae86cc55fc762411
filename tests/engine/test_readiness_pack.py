"""The readiness pack in the real engine: our showcase without remark, a state of anybody's with."""

import json
import re
from pathlib import Path
from typing import Any

import yaml

from sandbox.paths import policy_pack
from tests.engine.support import emulated_project, run_pulumi

ROOT = Path(__file__).parents[2]
SECRET = "correct-horse-battery-staple"


def test_a_preview_of_the_showcase_gives_no_remark(tmp_path: Path) -> None:
    stack = ROOT / "stacks" / "Pulumi.showcase.yaml"
    config = yaml.safe_load(stack.read_text(encoding="utf-8"))["config"]
    project = emulated_project(
        tmp_path,
        ROOT / "infra",
        config,
        packs=["interruption_readiness"],
        pulumi_yaml={"name": "spotproof"},
    )

    preview = project.preview().check()

    assert "[advisory]" not in preview.text
    assert "can't run policy" not in preview.text


def _resource(type_: str, name: str, outputs: dict[str, Any]) -> dict[str, Any]:
    return {
        "urn": f"urn:pulumi:test::anybody::{type_}::{name}",
        "custom": True,
        "id": name,
        "type": type_,
        "inputs": outputs,
        "outputs": outputs,
        "propertyDependencies": {key: None for key in outputs},
    }


def test_a_state_shows_what_is_not_ready_and_no_value_of_it(sandbox_dir: Path, tmp_path) -> None:
    job = {
        "spec": {
            "backoffLimit": 0,
            "template": {
                "spec": {
                    "nodeSelector": {"cloud.google.com/gke-nodepool": "cheap"},
                    "terminationGracePeriodSeconds": 300,
                    "restartPolicy": "OnFailure",
                    "containers": [
                        {
                            "name": "train",
                            "image": "train",
                            "command": ["sh", "-c", f"python x.py --token {SECRET}"],
                            "resources": {"limits": {"nvidia.com/gpu": "1"}},
                            "env": [{"name": "SPOTPROOF_SAVE_ESTIMATE_SECONDS", "value": SECRET}],
                        }
                    ],
                }
            },
        }
    }
    flex = {"flexStart": True, "machineType": "g2-standard-4"}
    resources = [
        _resource("gcp:container/cluster:Cluster", "train", {"location": "us-east4"}),
        _resource(
            "gcp:container/nodePool:NodePool",
            "cheap",
            {"name": "cheap", "nodeConfig": {"spot": True}},
        ),
        _resource("gcp:container/nodePool:NodePool", "flex", {"name": "flex", "nodeConfig": flex}),
        _resource(
            "gcp:storage/bucket:Bucket",
            "ckpt",
            {"name": "ckpt", "labels": {"spotproof-role": "checkpoints"}},
        ),
        _resource(
            "gcp:pubsub/subscription:Subscription",
            "work",
            {"topic": "work", "messageRetentionDuration": "1200s"},
        ),
        _resource("kubernetes:batch/v1:Job", "trainer", job),
    ]
    manifest = {"time": "2026-11-29T00:00:00Z", "magic": "", "version": "v3.274.1"}
    path = tmp_path / "state.json"
    deployment = {"manifest": manifest, "resources": resources}
    path.write_text(json.dumps({"version": 3, "deployment": deployment}))

    pack = policy_pack("interruption_readiness")
    run = run_pulumi(
        tmp_path, ["policy", "analyze", "--policy-pack", pack, "--file", path], sandbox_dir
    )

    assert run.ok, run.text
    assert SECRET not in run.text
    assert sorted(re.findall(r"\[advisory\].*?  (\S+)  \(", run.stdout)) == [
        "checkpoint-bucket-lifecycle",
        "checkpoint-bucket-soft-delete",
        "flex-start-pool-auto-repair",
        "pod-grace-within-budget",
        "queue-dead-letter",
        "queue-message-retention",
        "queue-subscription-expires",
        "save-estimate-within-budget",
        "spot-job-checkpoint-location",
        "spot-job-deadline",
        "spot-job-failure-policy",
        "spot-job-restart-policy",
        "spot-job-retry-limit",
        "spot-program-gets-stop-signal",
    ]
