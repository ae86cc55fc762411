"""What the engine does with the configuration of the pack region_match."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sandbox.paths import policy_pack
from tests.engine.support import emulated_project, run_pulumi

PACK = policy_pack("region_match")
RULE = "checkpoint-bucket-in-cluster-region"


def _state(folder: Path, *resources: tuple[str, str, dict[str, Any]]) -> Path:
    state = [
        {
            "urn": f"urn:pulumi:test::anybody::{type_}::{name}",
            "custom": True,
            "id": name,
            "type": type_,
            "inputs": props,
            "outputs": props,
            "propertyDependencies": {key: None for key in props},
        }
        for type_, name, props in resources
    ]
    manifest = {"time": "2026-11-30T00:00:00Z", "magic": "", "version": "v3.274.1"}
    path = folder / "state.json"
    path.write_text(
        json.dumps({"version": 3, "deployment": {"manifest": manifest, "resources": state}})
    )
    return path


def _analyze(sandbox_dir: Path, state: Path, config: Path):
    arguments = ["policy", "analyze", "--policy-pack", PACK, "--policy-pack-config", config]
    return run_pulumi(state.parent, [*arguments, "--file", state], sandbox_dir)


def test_example_configuration_tells_where_the_clusters_of_other_stacks_are(
    sandbox_dir: Path, tmp_path: Path
) -> None:
    bucket = {"name": "acme-datasets", "location": "US-EAST1"}
    state = _state(tmp_path, ("gcp:storage/bucket:Bucket", "data", bucket))

    run = _analyze(sandbox_dir, state, PACK / "config.example.json")

    assert not run.ok
    assert re.findall(r"\[mandatory\].*?  (\S+)  \(", run.stdout) == [RULE]
    assert "acme-datasets serves train-eu" in run.stdout


@pytest.mark.parametrize(
    ("key", "value", "place"),
    [
        ("allowedDualRegions", ["US"], "allowedDualRegions.0"),
        ("clusters", {"train": "iowa"}, "clusters.train"),
        ("buckets", {"acme-data": ["train"]}, "buckets.acme-data"),
    ],
)
def test_configuration_that_could_match_nothing_is_refused_with_its_place(
    sandbox_dir: Path, tmp_path: Path, key: str, value: Any, place: str
) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps({RULE: {key: value}}))

    topic = ("gcp:pubsub/topic:Topic", "work", {"name": "work"})

    run = _analyze(sandbox_dir, _state(tmp_path, topic), config)

    assert not run.ok
    assert RULE in run.text
    assert place in run.text


def test_subnetwork_of_another_region_fails_the_preview(tmp_path: Path) -> None:
    program = """
from pulumi_gcp import compute, container

network = compute.Network("net", auto_create_subnetworks=False)
nodes = compute.Subnetwork(
    "nodes", network=network.id, ip_cidr_range="10.0.0.0/20", region="us-east1"
)
container.Cluster(
    "train",
    location="us-central1-a",
    network=network.id,
    subnetwork=nodes.id,
    initial_node_count=1,
)
"""
    project = emulated_project(
        tmp_path, program, config={"gcp:project": "acme-ml"}, packs=["region_match"]
    )

    run = project.preview()

    assert not run.ok
    assert "lies in us-east1, while the cluster runs in us-central1" in run.stdout
