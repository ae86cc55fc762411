"""State files as `pulumi stack export` writes them, of programs that are not ours."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SECRET = "correct-horse-battery-staple"


def urn(type_: str, name: str) -> str:
    return f"urn:pulumi:test::anybody::{type_}::{name}"


def resource(type_: str, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    """A resource whose outputs are its inputs."""
    return {
        "urn": urn(type_, name),
        "custom": True,
        "id": name,
        "type": type_,
        "inputs": inputs,
        "outputs": inputs,
        "propertyDependencies": {key: None for key in inputs},
    }


CLUSTER = resource(
    "gcp:container/cluster:Cluster", "train", {"name": "train", "location": "us-east4"}
)
BARE_SPOT_POOL = resource(
    "gcp:container/nodePool:NodePool",
    "batch",
    {"cluster": "train", "nodeConfig": {"spot": True}},
)
FAR_BUCKET = resource(
    "gcp:storage/bucket:Bucket",
    "runs",
    {"name": "acme-runs", "location": "US", "labels": {"spotproof-cluster": "train"}},
)
HASTY_JOB = resource(
    "kubernetes:batch/v1:Job",
    "trainer",
    {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "trainer", "namespace": "training"},
        "spec": {
            "backoffLimit": 0,
            "template": {
                "spec": {
                    "nodeSelector": {"cloud.google.com/gke-spot": "true"},
                    "containers": [
                        {
                            "name": "main",
                            "image": "registry.example/train:1",
                            "args": [f"--token={SECRET}"],
                            "env": [{"name": "TOKEN", "value": SECRET}],
                        }
                    ],
                }
            },
        },
    },
)
BROKEN = (CLUSTER, BARE_SPOT_POOL, FAR_BUCKET, HASTY_JOB)
"""Breaks a rule of each pack."""
BROKEN_RULES = {
    "region_match": "checkpoint-bucket-in-cluster-region",
    "spot_isolation": "spot-pool-taint",
    "interruption_readiness": "spot-job-retry-limit",
}
"""A rule of each pack that `BROKEN` breaks."""


def write_state(file: Path, resources: Sequence[dict[str, Any]]) -> Path:
    """Writes an exported state; returns its path."""
    manifest = {"time": "2026-11-29T00:00:00Z", "magic": "", "version": "v3.274.1"}
    deployment = {"manifest": manifest, "resources": list(resources)}
    file.write_text(json.dumps({"version": 3, "deployment": deployment}))
    return file
