"""Other people's programs: each has a backend of its own and a cluster that it does not own."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cloud import plain
from tests.cloud.harness import Emulated
from tests.engine.support import EmulatedProject, emulated_project

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
PROJECT = "somebodys-project"
REGION = "northamerica-northeast2"
SETTINGS = {
    "clusterName": "base",
    "clusterLocation": REGION,
    "nodeServiceAccount": f"nodes-account@{PROJECT}.iam.gserviceaccount.com",
}
PACKS = ["region_match", "spot_isolation"]


def _somebodys_cluster(cloud_folder: Path) -> None:
    """Makes network, cluster, system pool and node account, as their owner would have."""
    cloud = Emulated(cloud_folder, project=PROJECT, region=REGION)
    cloud.create(plain.NETWORK, "net", {"name": "net", "autoCreateSubnetworks": False})
    cloud.create(
        plain.SUBNETWORK,
        "sub",
        {
            "name": "sub",
            "network": "net",
            "ipCidrRange": "10.0.0.0/20",
            "secondaryIpRanges": [
                {"rangeName": "pods", "ipCidrRange": "10.4.0.0/14"},
                {"rangeName": "svc", "ipCidrRange": "10.8.0.0/20"},
            ],
        },
    )
    cloud.create(plain.ACCOUNT, "nodes", {"accountId": "nodes-account"})
    cloud.create(
        "gcp:container/cluster:Cluster",
        "base",
        plain.cluster(
            name="base", workloadIdentityConfig={"workloadPool": f"{PROJECT}.svc.id.goog"}
        ),
    )
    cloud.create(plain.NODE_POOL, "system", plain.pool(name="system"))


def _example(name: str, tmp_path: Path, config: dict[str, str], **more: Any) -> EmulatedProject:
    project = emulated_project(tmp_path, EXAMPLES / name, config, packs=PACKS, **more)
    _somebodys_cluster(project.sandbox.folder)
    return project


@pytest.fixture(params=["existing-cluster", "existing-cluster-yaml"])
def example(request: pytest.FixtureRequest, tmp_path: Path) -> EmulatedProject:
    name = request.param
    config = {"gcp:project": PROJECT, **{f"{name}:{k}": v for k, v in SETTINGS.items()}}
    if not name.endswith("-yaml"):
        return _example(name, tmp_path, config)
    config[f"{name}:project"] = PROJECT
    project = _example(name, tmp_path, config, runtime="yaml")
    program = project.folder / "Pulumi.yaml"
    content = yaml.safe_load(program.read_text())
    content["packages"]["spotproof"] = str(ROOT / "components")
    program.write_text(yaml.safe_dump(content, sort_keys=False))
    return project


def test_a_program_adds_spot_gpus_to_a_cluster_that_it_does_not_own(
    example: EmulatedProject,
) -> None:
    example.preview().check()
    example.up().check()
    example.up("--expect-no-changes").check()
    example.refresh("--expect-no-changes").check()
    outputs = example.outputs()
    assert outputs["nodeSelector"]["cloud.google.com/gke-spot"] == "true"
    assert outputs["checkpoints"] == f"gs://{PROJECT}-team-checkpoints"
    pool = example.resource(plain.NODE_POOL)
    assert {t["key"] for t in pool["inputs"]["nodeConfig"]["taints"]} == {
        "cloud.google.com/gke-spot",
        "nvidia.com/gpu",
    }
    assert pool["outputs"]["location"] == REGION
    bucket = example.resource(plain.BUCKET)
    assert bucket["outputs"]["location"] == REGION.upper()
    example.destroy().check()
    left = example.cloud()
    assert len(left[plain.CLUSTER]) == len(left[plain.NODE_POOL]) == 1
    assert not left.get(plain.BUCKET)


BAD_POOL = {
    "project": PROJECT,
    "cluster": "base",
    "clusterLocation": REGION,
    "nodeServiceAccount": SETTINGS["nodeServiceAccount"],
    "machineType": "g2-standrd-8",
    "maxNodes": 0,
}


def test_a_refusal_speaks_the_callers_language_and_shows_no_traceback(tmp_path: Path) -> None:
    program = {
        "packages": {"spotproof": str(ROOT / "components")},
        "resources": {"pool": {"type": "spotproof:SpotGpuPool", "properties": BAD_POOL}},
    }
    project = emulated_project(tmp_path, yaml.safe_dump(program), runtime="yaml")
    preview = project.preview()
    assert not preview.ok
    assert "Traceback" not in preview.text
    assert "File " not in preview.text
    assert 'property machineType with value "g2-standrd-8"' in preview.text
    assert 'did you mean "g2-standard-8"?' in preview.text
    assert "property maxNodes with value 0" in preview.text
