"""What the engine does with the packs beyond a failing preview."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sandbox.paths import policy_pack
from tests.engine.support import emulated_project, run_pulumi

SECRET = "correct-horse-battery-staple"


def _resource(type_: str, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    urn = f"urn:pulumi:test::anybody::{type_}::{name}"
    return {
        "urn": urn,
        "custom": True,
        "id": name,
        "type": type_,
        "inputs": inputs,
        "outputs": inputs,
        "propertyDependencies": {key: None for key in inputs},
    }


def _state(folder: Path, pool: dict[str, Any], bucket_location: str) -> Path:
    """A state file as `pulumi stack export` writes it, of a program that is not ours."""
    job = {
        "spec": {
            "template": {
                "spec": {
                    "containers": [
                        {
                            "name": "main",
                            "args": ["--out", "gs://acme-runs/1", f"--token={SECRET}"],
                            "env": [{"name": "TOKEN", "value": SECRET}],
                        }
                    ]
                }
            }
        }
    }
    resources = [
        _resource(
            "gcp:container/cluster:Cluster", "train", {"name": "train", "location": "us-east4"}
        ),
        _resource("gcp:container/nodePool:NodePool", "batch", {"cluster": "train", **pool}),
        _resource(
            "gcp:storage/bucket:Bucket", "runs", {"name": "acme-runs", "location": bucket_location}
        ),
        _resource("kubernetes:batch/v1:Job", "trainer", job),
    ]
    path = folder / "state.json"
    manifest = {"time": "2026-11-29T00:00:00Z", "magic": "", "version": "v3.274.1"}
    deployment = {"manifest": manifest, "resources": resources}
    path.write_text(json.dumps({"version": 3, "deployment": deployment}))
    return path


def _analyze(sandbox_dir: Path, pack: str, state: Path):
    arguments = ["policy", "analyze", "--policy-pack", policy_pack(pack), "--file", state]
    return run_pulumi(state.parent, arguments, sandbox_dir)


@pytest.mark.parametrize(
    ("pack", "policy"),
    [
        ("region_match", "checkpoint-bucket-in-cluster-region"),
        ("spot_isolation", "spot-pool-taint"),
    ],
)
def test_state_file_of_anybody_can_be_judged_without_a_login(
    sandbox_dir: Path, tmp_path: Path, pack: str, policy: str
) -> None:
    bad = _analyze(sandbox_dir, pack, _state(tmp_path, {"nodeConfig": {"spot": True}}, "US"))

    assert not bad.ok
    assert re.findall(r"\[mandatory\].*?  (\S+)  \(", bad.stdout) == [policy], bad.text
    assert SECRET not in bad.text

    good = _analyze(sandbox_dir, pack, _state(tmp_path, {"nodeCount": 1}, "US-EAST4"))

    assert good.ok, good.text


def test_what_is_unknown_at_preview_is_a_remark_and_hides_nothing(tmp_path: Path) -> None:
    program = """
from pulumi_gcp import container, storage

cluster = container.Cluster("train", name="train", location="us-central1", initial_node_count=1)
later = cluster.self_link.apply(lambda _: "us-central1")
labels = {"spotproof-cluster": "train"}
storage.Bucket("first", location=later, labels=labels)
"""
    project = emulated_project(
        tmp_path, program, config={"gcp:project": "acme-ml"}, packs=["region_match"]
    )

    run = project.preview().check()

    assert "[advisory]" in run.stdout
    assert "checkpoint-bucket-in-cluster-region-unknown" in run.stdout
    assert "cannot be known before the update: first: the bucket's location" in run.stdout
    assert "can't run policy" not in run.text

    project.write(program + 'storage.Bucket("second", location="EU", labels=labels)\n')
    run = project.preview()

    assert not run.ok
    assert "second: location EU is a multi-region" in run.stdout
    assert "cannot be known before the update: first" in run.stdout


POOL = """
from pulumi_gcp import container

cluster = container.Cluster("train", location="us-central1", initial_node_count=1)
container.NodePool(
    "batch",
    cluster=cluster.id,
    location="us-central1",
    node_count=1,
    node_config={
        "spot": True,
        "taints": [{"key": "acme.io/evictable", "value": "x", "effect": "NO_SCHEDULE"}],
    },
)
"""


def _preview_with_config(tmp_path: Path, config: dict[str, Any]):
    project = emulated_project(tmp_path, POOL, config={"gcp:project": "acme-ml"})
    file = tmp_path / "policy-config.json"
    file.write_text(json.dumps(config))
    pack = policy_pack("spot_isolation")
    return project.preview("--policy-pack", pack, "--policy-pack-config", file)


def test_taint_key_of_the_users_own_is_accepted_by_configuration(tmp_path: Path) -> None:
    keys = {"acceptedTaintKeys": ["acme.io/evictable"]}

    _preview_with_config(tmp_path, {"spot-pool-taint": keys}).check()


def test_wrong_configuration_is_refused_before_anything_is_judged(tmp_path: Path) -> None:
    run = _preview_with_config(tmp_path, {"spot-pool-taint": {"acceptedTaintKeys": "acme.io/x"}})

    assert not run.ok
    assert "acceptedTaintKeys" in run.text
    assert "Traceback" not in run.text


def test_exception_with_a_reason_lets_one_violation_through(tmp_path: Path) -> None:
    pool = "urn:pulumi:test::emulated::gcp:container/nodePool:NodePool::batch"
    exception = {
        "reason": "moves to its own cluster in December",
        "match": [{"policies": ["spot-pool-taint"], "targets": [pool]}],
    }

    _preview_with_config(tmp_path, {"version": 2, "exceptions": {"OPS-1": exception}}).check()


def test_packs_say_nothing_new_after_update_and_refresh(tmp_path: Path) -> None:
    program = """
from pulumi_gcp import container, storage

cluster = container.Cluster(
    "train",
    location="us-central1",
    remove_default_node_pool=True,
    initial_node_count=1,
    deletion_protection=False,
)
pool = {"cluster": cluster.id, "location": "us-central1"}
container.NodePool("system", **pool, node_count=1)
container.NodePool(
    "batch",
    **pool,
    initial_node_count=0,
    autoscaling={"min_node_count": 0, "max_node_count": 4},
    node_config={
        "spot": True,
        "taints": [
            {"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NO_SCHEDULE"}
        ],
    },
)
storage.Bucket("ckpt", location="us-central1", labels={"spotproof-cluster": cluster.name})
"""
    project = emulated_project(
        tmp_path,
        program,
        config={"gcp:project": "acme-ml"},
        packs=["region_match", "spot_isolation"],
    )

    runs = [project.up(), project.refresh(), project.preview()]

    for run in runs:
        assert "[mandatory]" not in run.check().stdout
        assert "[advisory]" not in run.stdout
