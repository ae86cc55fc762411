"""Faults and drift behind the real engine: what a person sees, and that the next run finishes."""

import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.cloud import drift
from sandbox.cloud.store import Store
from tests.engine.support import STACK, EmulatedProject, emulated_project

BUCKET = "gcp:storage/bucket:Bucket"
NODE_POOL = "gcp:container/nodePool:NodePool"
CONFIG = {"gcp:project": "acme", "gcp:region": "europe-west4"}
PROGRAM = """
import pulumi_gcp as gcp
cluster = gcp.container.Cluster(
    "cluster", name="base", location="europe-west4", initial_node_count=1,
    remove_default_node_pool=True, deletion_protection=False,
)
gcp.container.NodePool(
    "pool", name="workers", cluster=cluster.id, node_count=2,
    node_config={
        "machine_type": "e2-standard-4", "spot": True,
        "taints": [
            {"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NO_SCHEDULE"},
        ],
    },
)
gcp.storage.Bucket("bucket", name="acme-data", location="europe-west4")
"""
ONE_BUCKET = """
import pulumi_gcp as gcp
gcp.storage.Bucket("bucket", name="acme-data", location="europe-west4")
"""


def order(project: EmulatedProject, *rules: dict[str, Any]) -> None:
    path = project.sandbox.folder / "faults.yaml"
    path.write_text(yaml.safe_dump({"faults": list(rules)}))


def cloud(project: EmulatedProject) -> Store:
    """The cloud, as another process finds it."""
    return Store(project.sandbox.folder)


def pending(project: EmulatedProject) -> list[dict[str, Any]]:
    exported = project.run("stack", "export", "--stack", STACK).json()
    return exported["deployment"].get("pending_operations") or []


def test_failed_creates_say_what_to_do_and_drift_is_mended(tmp_path: Path) -> None:
    project = emulated_project(tmp_path, PROGRAM, CONFIG)
    order(
        project,
        {"kind": "permission-denied", "type": "Bucket", "operation": "create"},
        {"kind": "stock-out", "type": "NodePool", "operation": "create"},
    )
    failed = project.up("--continue-on-error")
    assert not failed.ok
    for words in (
        "gcp:container:NodePool (pool):",
        "[ZONE_RESOURCE_POOL_EXHAUSTED]",
        "zones/europe-west4-a' does not have enough resources available",
        "Try a different zone, or try again later",
        "gcp:storage:Bucket (bucket):",
        "googleapi: Error 403: caller@acme.iam.gserviceaccount.com does not have "
        "storage.buckets.create access to the Google Cloud project",
        "such as roles/storage.admin",
    ):
        assert words in failed.text, failed.text
    assert project.resource(NODE_POOL)["initErrors"], "the pool is there, and recorded as unready"

    finished = project.up().check()
    assert "1 created" in finished.text
    assert "1 updated" in finished.text
    project.refresh("--expect-no-changes").check()
    _drift_is_seen_and_mended(project)


def _drift_is_seen_and_mended(project: EmulatedProject) -> None:
    store = cloud(project)
    drift.taint(store, "workers", "cloud.google.com/gke-spot=false:NoExecute")
    drift.resize(store, "workers", 5)
    drift.delete(store, "Bucket", "acme-data")
    refreshed = project.refresh("--diff").check()
    for words in ("1 updated", "1 deleted", "nodeCount", "NO_EXECUTE"):
        assert words in refreshed.text, refreshed.text
    mended = project.up().check()
    assert "1 created" in mended.text
    assert "1 updated" in mended.text
    project.refresh("--expect-no-changes").check()
    pool = project.resource(NODE_POOL)["outputs"]
    assert pool["nodeCount"] == 2
    assert [taint["effect"] for taint in pool["nodeConfig"]["taints"]] == ["NO_SCHEDULE"]


def test_an_engine_that_is_killed_leaves_a_pending_operation(tmp_path: Path) -> None:
    project = emulated_project(tmp_path, ONE_BUCKET, CONFIG)
    order(project, {"kind": "kill-engine", "type": "Bucket", "operation": "create"})
    assert not project.up().ok
    wait_for_request(project, "create")
    (operation,) = pending(project)
    assert (operation["type"], operation["resource"]["type"]) == ("creating", BUCKET)
    assert [thing["id"] for thing in cloud(project).everything()] == ["acme-data"]
    locked = project.up()
    assert "the stack is currently locked" in locked.text


def wait_for_request(project: EmulatedProject, method: str) -> None:
    """The provider lives on without its engine, and finishes what it has begun."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if any(each["method"] == method and "after" in each for each in project.requests()):
            return
        time.sleep(0.05)
    pytest.fail(f"no {method} was finished")


def test_a_provider_that_crashes_leaves_the_cloud_before_or_after(tmp_path: Path) -> None:
    project = emulated_project(tmp_path, ONE_BUCKET, CONFIG)
    for kind, there in (("crash-before", 0), ("crash-after", 1)):
        order(project, {"kind": kind, "type": "Bucket", "operation": "create"})
        crashed = project.up()
        assert not crashed.ok
        assert "gcp:storage:Bucket (bucket):" in crashed.text
        assert "exited prematurely" in crashed.text
        assert len(cloud(project).everything()) == there
        # The engine lives: it forgets the operation, and what was made is nobody's.
        assert pending(project) == []
    orphan = project.up()
    assert "googleapi: Error 409" in orphan.text
    drift.delete(cloud(project), "Bucket", "acme-data")
    project.up().check()
