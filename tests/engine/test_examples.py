"""Other people's programs: each has a backend of its own and a cluster that it does not own."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cloud import plain
from tests.engine.handmade import NODES, PROJECT, REGION, make_cluster, make_network
from tests.engine.support import EmulatedProject, emulated_project

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SETTINGS = {
    "clusterName": "base",
    "clusterLocation": REGION,
    "nodeServiceAccount": NODES,
}
PACKS = ["region_match", "spot_isolation"]


def _example(name: str, tmp_path: Path, config: dict[str, str], **more: Any) -> EmulatedProject:
    project = emulated_project(tmp_path, EXAMPLES / name, config, packs=PACKS, **more)
    make_cluster(project.sandbox.folder)
    return project


@pytest.fixture(params=["existing-cluster", "existing-cluster-yaml"])
def example(request: pytest.FixtureRequest, tmp_path: Path) -> EmulatedProject:
    name = request.param
    config = {"gcp:project": PROJECT, **{f"{name}:{k}": v for k, v in SETTINGS.items()}}
    if not name.endswith("-yaml"):
        return _example(name, tmp_path, config)
    config[f"{name}:project"] = PROJECT
    env = _lent(tmp_path / "lent")
    project = _example(name, tmp_path, config, runtime="yaml", env=env)
    plugin = _fetched_plugin(tmp_path / "fetched")
    program = project.folder / "Pulumi.yaml"
    content = yaml.safe_load(program.read_text())
    content["packages"]["spotproof"] = str(plugin)
    program.write_text(yaml.safe_dump(content, sort_keys=False))
    # Installs what the plugin needs, as `pulumi package add` and `pulumi install` do.
    schema = project.run("package", "get-schema", plugin).json()
    golden = json.loads((ROOT / "components" / "schema.json").read_text())
    assert schema == {**golden, "config": {}}, "what is served is not components/schema.json"
    return project


def _lent(into: Path) -> dict[str, str]:
    """For a plugin's own virtualenv: packages of others come from here, not from a registry."""
    into.mkdir()
    for folder in (Path(one) for one in sys.path if one.endswith("site-packages")):
        for entry in folder.iterdir():
            is_ours = entry.name.startswith(("spotproof", "__editable__"))
            if not is_ours and not (into / entry.name).exists():
                (into / entry.name).symlink_to(entry)
    # The second sets the flag --no-build-isolation, in spite of the 0.
    return {"PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PYTHONPATH": str(into)}


def _fetched_plugin(into: Path) -> Path:
    """The plugin in a copy of the repository, where nothing is installed yet."""
    ours = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    for name in ("gke", "components"):
        shutil.copytree(ROOT / name, into / name, ignore=ours)
    return into / "components"


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


BASE = f"""
import pulumi, spotproof
place = {{"project": "{PROJECT}", "region": "{REGION}"}}
cluster = spotproof.GkeCluster(
    "base",
    {{
        **place,
        "network_id": "projects/{PROJECT}/global/networks/net",
        "subnetwork_id": "projects/{PROJECT}/regions/{REGION}/subnetworks/sub",
        "pods_range_name": "their-pods",
        "services_range_name": "their-services",
        "deletion_protection": False,
    }},
)
system = spotproof.SystemNodePool(
    "system",
    {{
        "project": "{PROJECT}",
        "cluster": cluster.cluster_id,
        "cluster_location": "{REGION}",
        "node_service_account": cluster.node_service_account,
    }},
)
checkpoints = spotproof.CheckpointBucket(
    "base-checkpoints",
    {{"project": "{PROJECT}", "cluster_name": "base", "cluster_location": "{REGION}"}},
)
pulumi.export("clusterName", cluster.cluster_name)
pulumi.export("clusterLocation", cluster.location)
pulumi.export("nodeServiceAccount", cluster.node_service_account)
pulumi.export("checkpointBucket", checkpoints.url)
"""


def test_a_program_takes_a_cluster_and_bucket_from_the_outputs_of_another_stack(
    tmp_path: Path,
) -> None:
    base = emulated_project(tmp_path / "base", BASE, {"gcp:project": PROJECT})
    make_network(base.sandbox.folder)
    base.up().check()
    name = "from-stack-reference"
    config = {"gcp:project": PROJECT, f"{name}:baseStack": "organization/emulated/test"}
    team = emulated_project(tmp_path, EXAMPLES / name, config, packs=PACKS, sandbox=base.sandbox)

    team.preview().check()
    team.up().check()

    team.up("--expect-no-changes").check()
    pool = team.resource(plain.NODE_POOL)["outputs"]
    assert (pool["cluster"], pool["location"]) == ("base", REGION)
    assert pool["nodeConfig"]["serviceAccount"] == base.outputs()["nodeServiceAccount"]
    members = [one for one in team.resources() if one["type"] == plain.BUCKET_MEMBER]
    assert {one["inputs"]["bucket"] for one in members} == {f"{PROJECT}-base-checkpoints"}
    team.destroy().check()
    base.up("--expect-no-changes").check()


def test_a_location_that_is_an_output_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    program = {
        "packages": {"spotproof": str(ROOT / "components")},
        "resources": {
            "base": {
                "type": "pulumi:pulumi:StackReference",
                "properties": {"name": "organization/base/test"},
            },
            "checkpoints": {
                "type": "spotproof:CheckpointBucket",
                "properties": {
                    "project": PROJECT,
                    "clusterName": "base",
                    "clusterLocation": '${base.outputs["clusterLocation"]}',
                },
            },
        },
    }
    export = f'import pulumi\npulumi.export("clusterLocation", "{REGION}")'
    base = emulated_project(tmp_path / "base", export, pulumi_yaml={"name": "base"})
    base.up().check()
    team = emulated_project(tmp_path, yaml.safe_dump(program), runtime="yaml", sandbox=base.sandbox)

    preview = team.preview()

    assert not preview.ok
    assert "property clusterLocation" in preview.text
    assert "this shapes the plan, so it is known before the update" in preview.text


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


def test_the_reference_workloads_are_rendered_and_no_pack_minds(tmp_path: Path) -> None:
    settings = {
        "images": "europe-docker.pkg.dev/acme-ml/images",
        "checkpoints": "gs://acme-ml-checkpoints",
        "subscription": "projects/acme-ml/subscriptions/texts",
        "renderTo": str(tmp_path / "rendered"),
    }
    project = emulated_project(
        tmp_path,
        EXAMPLES / "reference-workloads",
        {f"reference-workloads:{key}": value for key, value in settings.items()},
        packs=[*PACKS, "interruption_readiness"],
        env={"KUBECONFIG": ""},
    )
    done = project.up().check()
    assert "[mandatory]" not in done.text
    assert "[advisory]" not in done.text
    kinds = {
        one["kind"]
        for path in (tmp_path / "rendered").rglob("*.yaml")
        for one in yaml.safe_load_all(path.read_text())
    }
    assert {"JobSet", "Job", "Deployment", "ScaledObject"} <= kinds
