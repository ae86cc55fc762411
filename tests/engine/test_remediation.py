"""What the engine does with a pack's mend at the level `remediate`."""

import json
from pathlib import Path

from sandbox.paths import policy_pack
from tests.engine.support import emulated_project

PROGRAM = """
import pulumi, pulumi_gcp as gcp
account = gcp.serviceaccount.Account("nodes", account_id="acme-nodes")
train = gcp.container.Cluster(
    "train", name="train", location="us-central1", initial_node_count=1, deletion_protection=False,
)
pool = gcp.container.NodePool(
    "batch",
    cluster=train.id,
    location="us-central1",
    initial_node_count=1,
    node_config={
        "spot": True,
        "machine_type": "e2-standard-4",
        "service_account": account.email,
        "taints": [{"key": "acme.io/team", "value": "a", "effect": "PREFER_NO_SCHEDULE"}],
    },
)
"""
SPOT = {"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NO_SCHEDULE"}
LEVEL = {"spot-pool-taint": {"enforcementLevel": "remediate"}}


def test_missing_taint_is_added_in_preview_and_update_though_another_value_is_unknown(
    tmp_path: Path,
) -> None:
    project = emulated_project(tmp_path, PROGRAM, config={"gcp:project": "acme-ml"})
    file = tmp_path / "policy-config.json"
    file.write_text(json.dumps(LEVEL))
    pack = ("--policy-pack", policy_pack("spot_isolation"), "--policy-pack-config", file)

    preview = project.preview(*pack, "--diff")
    preview.check()
    assert "spot-pool-taint" in preview.text
    assert SPOT["key"] in preview.text

    project.up(*pack).check()
    config = project.resource("gcp:container/nodePool:NodePool", "batch")["inputs"]["nodeConfig"]
    assert [taint["key"] for taint in config["taints"]] == ["acme.io/team", SPOT["key"]]
    assert config["serviceAccount"].startswith("acme-nodes@")
    project.preview(*pack, "--expect-no-changes").check()


BUCKETS = """
import pulumi, pulumi_gcp as gcp
account = gcp.serviceaccount.Account("runs", account_id="acme-runs")
gcp.storage.Bucket(
    "ckpt",
    name="acme-ckpt",
    location="us-central1",
    labels={"spotproof-role": "checkpoints"},
    website=gcp.storage.BucketWebsiteArgs(main_page_suffix=account.email),
)
gcp.storage.Bucket("data", name="acme-data", location="us-central1")
"""
NO_SOFT_DELETE = {"checkpoint-bucket-soft-delete": {"enforcementLevel": "remediate"}}


def test_soft_delete_of_a_checkpoint_bucket_alone_is_switched_off(tmp_path: Path) -> None:
    project = emulated_project(tmp_path, BUCKETS, config={"gcp:project": "acme-ml"})
    file = tmp_path / "policy-config.json"
    file.write_text(json.dumps(NO_SOFT_DELETE))
    pack = ("--policy-pack", policy_pack("interruption_readiness"), "--policy-pack-config", file)

    preview = project.preview(*pack, "--diff")
    preview.check()
    assert "checkpoint-bucket-soft-delete" in preview.text

    project.up(*pack).check()
    bucket = project.resource("gcp:storage/bucket:Bucket", "ckpt")["inputs"]
    assert bucket["softDeletePolicy"]["retentionDurationSeconds"] == 0
    assert bucket["website"]["mainPageSuffix"].startswith("acme-runs@")
    other = project.resource("gcp:storage/bucket:Bucket", "data")["inputs"]
    assert "softDeletePolicy" not in other
    project.preview(*pack, "--expect-no-changes").check()
